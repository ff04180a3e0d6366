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
  std::int64_t units = 0;           // in each layer
  std::int64_t parameters = 0;      // of one unit
  std::vector<std::int64_t> bytes;  // [tiers] of a version's block, high to low
  std::vector<double> bits = {};    // [tiers] per weight, to show; empty: from the bytes
  std::int64_t absent = 0;          // of each layer's units: not on the device (offloaded)
};

// [groups, tiers]: how many units of each group are at each tier.
using TierCounts = std::vector<std::vector<std::int64_t>>;

struct PlanInputs {
  std::vector<std::string> tier_names;  // high to low
  std::vector<UnitGroup> groups;
  std::int64_t dense_bytes = 0;  // resident always
  std::int64_t kv_bytes = 0;
  std::int64_t window_bytes = 0;
  std::int64_t state_bytes = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t safety_bytes = 0;
  double safety_share = 0;            // of the budget, on top of safety_bytes …
  std::int64_t max_safety_bytes = 0;  // … but not more than this in all
  std::int64_t budget_bytes = 0;      // 0: what the highest tier needs
  bool time_counts = false;           // fixed tiers may stand low for their speed although there is room
  bool may_use_disk = false;          // units below the lowest tier may live on disk alone
  bool host_computes_absent = false;  // absent units are computed where they are: no on-demand cache
  bool changes_places = false;        // … and may change places with the others
  std::int64_t units_elsewhere = 0;   // of the absent ones, another card's
  Plan::HostParts host = {};          // main memory beside the budget
  // dynaexq: what is too little for a whole n_hot gives some layers one place more. Two tiers, layers alike.
  bool uneven_layers = false;
  std::int64_t pass_units = 0;        // of one layer, that one pass can choose; 0: all
  std::int64_t spare_blocks = 1;      // of each pool, where units may swap: at least …
  std::int64_t max_spare_blocks = 0;  // … and up to so many of what the mix leaves free; 0: no more
  TierCounts counts = {};             // static_tiers: a map that is chosen already; empty: the planner's
};

// The arena's cut: how many slabs, and how many blocks each tier may fill at once. Spare blocks included, so
// that a promotion need not wait for the demotion that makes its room.
struct ArenaPlan {
  std::int64_t slab_bytes = 0;
  std::int64_t slabs = 0;
  std::vector<std::int64_t> block_bytes;  // the pools' sizes, distinct, ascending
  bool any_mix = false;  // slabs are pages, and pools grow and shrink: any units of so many bytes have room

  std::int64_t bytes() const { return slabs * slab_bytes; }
};

struct PrecisionPlan {
  Plan plan;  // what the user sees
  ArenaPlan arena;
  // What the arena has room for at once, besides the spare blocks, in whatever order units came there. A
  // policy keeps to these numbers.
  TierCounts group_capacity;
  std::vector<std::int64_t> capacity;  // [tiers], units: the sum over the groups
  std::int64_t high_per_layer = 0;     // n_hot …
  std::int64_t layers_with_more = 0;   // … and of so many layers one more
  std::int64_t spare_blocks = 0;       // of each pool
  // Units that are not in the capacities live on disk alone. Their visits have blocks of their own, at the
  // lowest tier: as many as one layer's pass can need at once, and of a budget all that the others leave.
  std::int64_t absent_units = 0;
  std::int64_t on_demand_blocks = 0;
};

// One pool's need: `blocks` at once.
struct PoolNeed {
  std::int64_t block_bytes = 0;
  std::int64_t blocks = 0;
  std::int64_t more_slabs = 0;  // beside those that the blocks fill
};

// The slabs with the fewest bytes in which every pool can always have its blocks. A pool takes a slab only
// when all of its slabs are full, so it never holds more than ⌈blocks ÷ blocks of a slab⌉ of them, whatever
// comes and goes. Block sizes are distinct.
ArenaPlan cut_arena(std::vector<PoolNeed> needs);
// … for needs that will change; sizes without a need may have one later.
ArenaPlan cut_arena_for_any_mix(std::vector<PoolNeed> needs);

// ErrorKind::memory, with the smallest number of bytes that would do, when not even the lowest tier fits and
// the disk may not be used; use plan_precision_anyway for a plan that says `fits = false` instead.
Result<PrecisionPlan> plan_precision(const PlanInputs& inputs, PolicyKind policy);
PrecisionPlan plan_precision_anyway(const PlanInputs& inputs, PolicyKind policy);

// What a plan says of others: the budgets that the lowest and the highest tier for everything would need, and
// what a gigabyte more buys. Of a plan for one fixed mix, by the inputs without it.
void compare_with_others(const PlanInputs& inputs, PolicyKind policy, PrecisionPlan& plan);

// The smallest budget that plan_precision does not refuse.
std::int64_t min_budget(const PlanInputs& inputs, PolicyKind policy);

// What is kept free of a budget.
std::int64_t safety_of(const PlanInputs& inputs, std::int64_t budget_bytes);

}  // namespace fovea::precision
