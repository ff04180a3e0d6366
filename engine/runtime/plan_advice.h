// What to change when a plan does not fit: each proposal alone, with its numbers.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/load_plan.h"

namespace fovea::runtime {

// The device's memory is too small: proposals to list, "--kv q8 saves 12 MiB and fits" …
std::vector<Phrase> advise_on_budget(const Subject& subject, const LoadOptions& options,
                                     const Machine& machine, const Fitted& fitted);
// … and the sentence of an error, with the most useful of them.
Phrase advise_in_short(const Subject& subject, const LoadOptions& options, const Machine& machine,
                       const Fitted& fitted);
// Main memory is, for what lies beside a card.
Phrase advise_on_main_memory(const Subject& subject, const LoadOptions& options, const Machine& machine,
                             const Plan& plan);

}  // namespace fovea::runtime
