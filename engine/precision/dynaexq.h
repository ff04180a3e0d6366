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

// A promotion and its demotion use a spare block of each tier while they are in flight, so that the spare
// blocks are how many may change in one pass: one for each 256 units at least (of 6,144 experts 24, under one
// per cent of their bytes), and as many as may be in flight where a budget leaves room.
constexpr std::int64_t max_spare_blocks(const DynaExqSettings& settings) {
  return settings.in_flight > 1 ? settings.in_flight / 2 : 1;
}
constexpr std::int64_t min_spare_blocks(const DynaExqSettings& settings, std::int64_t units) {
  const std::int64_t most = max_spare_blocks(settings), wanted = units / 256 > 2 ? units / 256 : 2;
  return wanted < most ? wanted : most;
}

// For two tiers. world.uses, where there is a profile, ranks the units that begin in the high tier and is
// what hotness starts from; without one the first of each layer begin there, until the warm-up has ranked
// them.
//   ErrorKind::invalid  another number of tiers, or a setting out of its range, by name
//   ErrorKind::memory   n_hot units of each layer, or all the others, exceed the capacities
// Units on the host count in the hotness and have no tier.
Result<std::unique_ptr<Policy>> make_dynaexq(const PolicyWorld& world, const DynaExqSettings& settings);

}  // namespace fovea::precision
