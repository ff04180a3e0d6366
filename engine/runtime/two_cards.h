// One model on two cards: the first layers on the one, the others and the output on the other. Where it is
// cut and what either has is planned as for one card, which takes part of the layers: nothing that moves ever
// crosses, so that each has its own budget, tiers, policy and experts that the processor computes.
#pragma once

#include "engine/runtime/load_plan.h"

namespace fovea::runtime {

// plan_load() for a machine with two cards; the subject knows what it is on the first one. Cut where, with
// everything at its highest precision, either would be as full as the other, as far as whole layers allow it,
// and both hold at least the lowest. The plan is the other card's, and tells of the first one's in
// first_card; main memory, units and times are both's.
Result<PlannedLoad> plan_two_cards(const Subject& subject, const LoadOptions& options,
                                   const Machine& machine);

}  // namespace fovea::runtime
