// DynaExq (arXiv 2511.15015): the hottest experts of each layer are in the high tier, all others in the low
// one. §3.2 and Eq. 2 give the hotness, Algorithm 1 the choice, §3.5 the threshold and the warm-up; interval,
// hysteresis and limits come with later versions of the paper. DynaExqSettings says where each value is from.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// Tiers that it moves experts between.
inline constexpr std::int64_t dynaexq_tiers = 2;

// For two tiers. world.uses, where there is a profile, ranks the units that begin in the high tier and is
// what hotness starts from; without one the first of each layer begin there, until the warm-up has ranked
// them.
//   ErrorKind::invalid  another number of tiers, or a setting out of its range, by name
//   ErrorKind::memory   n_hot units of each layer, or all the others, exceed the capacities
// Units on the host count in the hotness and have no tier.
Result<std::unique_ptr<Policy>> make_dynaexq(const PolicyWorld& world, const DynaExqSettings& settings);

}  // namespace fovea::precision
