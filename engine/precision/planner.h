// From shapes, a budget and tiers to a plan that cannot exceed the budget. Pure arithmetic; nothing is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/api/precision.h"
#include "engine/core/result.h"

namespace fovea::precision {

// Units that have the same sizes.
struct UnitGroup {
  std::int64_t layers = 0;
  std::int64_t units = 0;  // in each layer
  std::int64_t parameters = 0;
  std::vector<std::int64_t> bytes;  // [tiers] of a version's block, high to low
};

struct PlanInputs {
  std::vector<std::string> tier_names;  // high to low
  std::vector<UnitGroup> groups;
  std::int64_t dense_bytes = 0;  // resident always
  std::int64_t kv_bytes = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t transfer_bytes = 0;
  std::int64_t safety_bytes = 0;
  std::int64_t budget_bytes = 0;  // 0: what the highest tier needs
  bool may_use_disk = false;      // units below the lowest tier may live on disk alone
};

// The arena's cut: how many slabs, and how many blocks each tier may fill at once. Spare blocks included, so
// that a promotion need not wait for the demotion that makes its room.
struct ArenaPlan {
  std::int64_t slab_bytes = 0;
  std::int64_t slabs = 0;
  std::vector<std::int64_t> block_bytes;  // the pools' sizes, distinct, ascending
};

struct PrecisionPlan {
  Plan plan;  // what the user sees
  ArenaPlan arena;
  std::vector<std::int64_t> capacity;  // [tiers], units
  std::int64_t high_per_layer = 0;
};

// ErrorKind::memory, with the number of bytes that would do, when not even the lowest tier fits and the disk
// may not be used; use plan_precision_anyway for a plan that says `fits = false` instead.
Result<PrecisionPlan> plan_precision(const PlanInputs& inputs, PolicyKind policy);
PrecisionPlan plan_precision_anyway(const PlanInputs& inputs, PolicyKind policy);

}  // namespace fovea::precision
