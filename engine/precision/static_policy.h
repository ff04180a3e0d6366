// Fixed tiers: the baselines. Nothing changes while the model runs; hotness is still kept, for the panel.
#pragma once

#include <memory>
#include <vector>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// `tiers` [units]; no_tier: on disk alone. ErrorKind::memory when a tier has more units than places.
Result<std::unique_ptr<Policy>> make_static(const PolicyWorld& world, std::vector<std::uint8_t> tiers);

}  // namespace fovea::precision
