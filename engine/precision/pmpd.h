// Progressive mixed-precision decoding with a static schedule, FlexQuant's baseline: behind so many tokens of
// an answer all linear layers go to the next tier. Its learned schedules are not here.
#pragma once

#include <memory>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// For two tiers and more; all units begin in the highest.
//   ErrorKind::invalid  a single tier, or a schedule that does not rise or has not a number for each tier
//                       below the highest
Result<std::unique_ptr<Policy>> make_pmpd(const PolicyWorld& world, const PmpdSettings& settings);

}  // namespace fovea::precision
