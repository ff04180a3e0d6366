// Fovea's own policy: from the best fixed mix of the calibration on, units of all layers and tiers change
// places where what the coming tokens are expected to use makes that worth it.
#pragma once

#include <memory>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// `first` [units]: the tiers to begin with, whose numbers stay (plan_static's); within the capacities. Units
// on the host count in what is expected and have no tier.
//   ErrorKind::invalid  a setting out of its range, by name
//   ErrorKind::memory   `first` exceeds the capacities
Result<std::unique_ptr<Policy>> make_fovea(const PolicyWorld& world, const FoveaSettings& settings,
                                           std::vector<std::uint8_t> first);

}  // namespace fovea::precision
