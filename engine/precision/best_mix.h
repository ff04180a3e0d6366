// The best fixed tiers of a given size: each unit takes one tier, the sum of what the tiers cost in quality
// is to be least while their bytes stay within a budget (a multiple-choice knapsack).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

struct MixProblem {
  std::int64_t tiers = 0;               // high to low
  std::span<const std::int64_t> bytes;  // [units, tiers]
  std::span<const double> loss;         // [units, tiers]: what a unit at a tier costs
  std::int64_t budget_bytes = 0;
};

struct TierMix {
  std::vector<std::uint8_t> tiers;  // [units]
  std::int64_t bytes = 0;
  double loss = 0;
  double bound = 0;  // no mix of these bytes loses less (the linear relaxation)
};

// Walks the lower convex hull of each unit's (bytes, loss), the best gain per byte first (Sinha and Zoltners'
// relaxation), and then fills what is left with whatever still fits. Exact when all steps have the same
// bytes; else its loss exceeds the least by less than one step. O(n log n) for n units and tiers.
// ErrorKind::memory, with the bytes that would do, when the lowest tier of every unit is too much.
Result<TierMix> best_mix(const MixProblem& problem);

// The same for fixed numbers of units in each tier: the units whose use costs most stand highest. [units]
std::vector<std::uint8_t> best_fill(const PolicyWorld& world, std::span<const double> loss);

// [units, tiers]: the world's damage where it was measured, else 4^−bits, since each bit halves the error and
// quarters its power.
std::vector<double> damage_of_use(const PolicyWorld& world);
// [units, tiers]: use × (damage + what its time is worth): what decides. `uses` [units]: any measure of use.
std::vector<double> expected_loss(const PolicyWorld& world, std::span<const double> uses);
// As the calibration used them; all alike where there was none.
std::vector<double> expected_loss(const PolicyWorld& world);

}  // namespace fovea::precision
