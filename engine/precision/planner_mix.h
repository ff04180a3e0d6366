// The mixes of tiers between which the planner chooses: a path from the one that needs the least memory to
// all units at the highest tier, each step a little larger than the one before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/precision/planner.h"

namespace fovea::precision {

struct PlannedMix {
  TierCounts counts;                 // present
  std::vector<std::int64_t> absent;  // [groups]: on disk alone, chosen by the planner
  std::int64_t high_per_layer = 0;
  std::int64_t layers_with_more = 0;  // by one
  std::int64_t cached = 0;  // units on disk alone that memory keeps beside those that one pass can need
};

class MixPath {
 public:
  MixPath(const PlanInputs& inputs, PolicyKind policy);

  std::int64_t size() const { return disk_steps_ + steps_; }
  PlannedMix at(std::int64_t index) const;
  // Of the units' blocks alone: rises along the path.
  std::int64_t block_bytes(const PlannedMix& mix) const;
  // What the arena must hold at once: the mix, the spare blocks of pools between which units swap, and the
  // on-demand cache's blocks.
  std::vector<PoolNeed> needs(const PlannedMix& mix, std::int64_t spare_blocks) const;
  bool swaps() const { return swaps_; }
  // fovea among three tiers or more, the host as a place among them, of units that are all in memory and not
  // all at one tier: how many units each tier holds follows the work.
  bool numbers_may_change(const PlannedMix& mix) const;
  // The mix with one more unit of so many layers at the highest tier; fewer than all layers.
  PlannedMix with_more(PlannedMix mix, std::int64_t layers) const;
  std::int64_t max_layers_with_more(const PlannedMix& mix) const;
  std::int64_t on_demand_blocks(const PlannedMix& mix) const;
  // Units on disk alone beside those that one pass can need.
  std::int64_t max_cached(const PlannedMix& mix) const;

 private:
  struct LayerCounts {
    std::vector<std::int64_t> tiers;  // [tiers] units of a layer
  };
  // The layers' way (dynaexq): every layer has the same counts, as DynaExq's n_hot (§3.4).
  void plan_layers();
  PlannedMix by_layer(std::int64_t present, const LayerCounts& counts) const;
  // One unit after the other (fixed maps): at most two tiers, neighbours, are in use.
  PlannedMix by_unit(std::int64_t index) const;
  std::int64_t on_demand(std::size_t group, const PlannedMix& mix) const;
  std::int64_t on_disk(std::size_t group, const PlannedMix& mix) const;
  // By block size: what is on disk alone, and how many blocks it has.
  struct OnDemandPool {
    std::int64_t units = 0, blocks = 0;
  };
  std::map<std::int64_t, OnDemandPool> on_demand_pools(const PlannedMix& mix) const;
  std::optional<std::size_t> only_present_group() const;
  bool has_spares(std::size_t group, const PlannedMix& mix) const;
  std::int64_t present(std::size_t group) const {
    return inputs_.groups[group].units - inputs_.groups[group].absent;
  }

  const PlanInputs& inputs_;
  bool by_layer_;               // dynaexq: as many units of each layer
  bool swaps_;                  // units change tiers while the model runs
  bool is_fovea_;               // how many units each tier holds may follow the work
  bool ladder_;                 // … and begin in the highest, with room to go down
  bool at_top_;                 // every unit is at the highest tier: without a policy, or to begin with
  std::int64_t widest_ = 0;     // units of the widest layer that may be present
  std::int64_t all_units_ = 0;  // that may be present
  std::int64_t disk_steps_ = 0;
  std::int64_t steps_ = 1;
  std::vector<LayerCounts> layers_;  // [steps], the layers' way only
};

}  // namespace fovea::precision
