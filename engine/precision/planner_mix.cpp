#include "engine/precision/planner_mix.h"

#include <algorithm>
#include <map>

#include "engine/precision/ladder.h"

namespace fovea::precision {

MixPath::MixPath(const PlanInputs& inputs, PolicyKind policy)
    : inputs_(inputs),
      by_layer_(policy == PolicyKind::dynaexq),
      swaps_(by_layer_ || policy == PolicyKind::fovea),
      is_fovea_(policy == PolicyKind::fovea),
      ladder_(lowers_layers(policy)),
      at_top_(policy == PolicyKind::none || ladder_) {
  for (std::size_t group = 0; group < inputs.groups.size(); ++group) {
    widest_ = std::max(widest_, present(group));
    all_units_ += present(group) * inputs.groups[group].layers;
  }
  if (!inputs.counts.empty() || at_top_) return;
  if (by_layer_) {
    plan_layers();
    if (inputs.may_use_disk) disk_steps_ = widest_;
  } else {
    const auto tiers = static_cast<std::int64_t>(inputs.tier_names.size());
    steps_ = all_units_ * (tiers - 1) + 1;
    if (inputs.may_use_disk) disk_steps_ = all_units_;
  }
}

// From all at the lowest tier to all at the highest. Each step lifts one unit of every layer from the lowest
// tier that has some to the upper tier on which the fewest bytes were spent so far, so that with three tiers
// the hottest units get the first, the next ones the second. With two tiers step n is n_hot = n.
void MixPath::plan_layers() {
  const std::size_t tiers = inputs_.tier_names.size();
  std::vector<std::int64_t> unit_bytes(tiers);  // of all groups together
  for (const UnitGroup& group : inputs_.groups) {
    for (std::size_t t = 0; t < tiers; ++t) unit_bytes[t] += group.bytes[t] * group.layers;
  }
  LayerCounts now{std::vector<std::int64_t>(tiers)};
  now.tiers.back() = widest_;
  layers_.push_back(now);
  while (now.tiers.front() < widest_) {
    const auto lowest = static_cast<std::size_t>(
        std::distance(std::ranges::find_if(now.tiers.rbegin(), now.tiers.rend(),
                                           [](std::int64_t count) { return count > 0; }),
                      now.tiers.rend()) -
        1);
    std::size_t target = 0;
    const auto spent = [&](std::size_t t) { return now.tiers[t] * (unit_bytes[t] - unit_bytes.back()); };
    for (std::size_t t = 1; t < lowest; ++t) {
      if (spent(t) < spent(target)) target = t;
    }
    --now.tiers[lowest];
    ++now.tiers[target];
    layers_.push_back(now);
  }
  steps_ = static_cast<std::int64_t>(layers_.size());
}

PlannedMix MixPath::at(std::int64_t index) const {
  if (!inputs_.counts.empty())
    return {.counts = inputs_.counts, .absent = std::vector<std::int64_t>(inputs_.groups.size())};
  if (at_top_) index = all_units_ * (static_cast<std::int64_t>(inputs_.tier_names.size()) - 1);
  if (!by_layer_) return by_unit(index);
  if (index < disk_steps_) return by_layer(index, layers_.front());
  return by_layer(widest_, layers_[static_cast<std::size_t>(index - disk_steps_)]);
}

PlannedMix MixPath::by_layer(std::int64_t most, const LayerCounts& counts) const {
  PlannedMix mix;
  mix.high_per_layer = counts.tiers.front();
  for (std::size_t group = 0; group < inputs_.groups.size(); ++group) {
    const std::int64_t layers = inputs_.groups[group].layers;
    std::int64_t left = std::min(present(group), most);
    mix.absent.push_back((present(group) - left) * layers);
    std::vector<std::int64_t>& tiers = mix.counts.emplace_back();
    for (const std::int64_t count : counts.tiers) {
      tiers.push_back(std::min(count, left) * layers);
      left -= std::min(count, left);
    }
  }
  return mix;
}

PlannedMix MixPath::with_more(PlannedMix mix, std::int64_t layers) const {
  const std::size_t group = *only_present_group();
  mix.layers_with_more = layers;
  mix.counts[group].front() += layers;
  mix.counts[group].back() -= layers;
  return mix;
}

// Whole layers may be the host's beside it.
std::optional<std::size_t> MixPath::only_present_group() const {
  std::optional<std::size_t> found;
  for (std::size_t group = 0; group < inputs_.groups.size(); ++group) {
    if (present(group) == 0) continue;
    if (found) return std::nullopt;
    found = group;
  }
  return found;
}

std::int64_t MixPath::max_layers_with_more(const PlannedMix& mix) const {
  const auto group = only_present_group();
  const bool possible = by_layer_ && inputs_.uneven_layers && inputs_.counts.empty() && group &&
                        inputs_.tier_names.size() == 2 && mix.absent[*group] == 0 &&
                        mix.counts[*group].back() > 0;
  return possible ? inputs_.groups[*group].layers - 1 : 0;
}

PlannedMix MixPath::by_unit(std::int64_t index) const {
  const std::size_t tiers = inputs_.tier_names.size();
  // Before disk_steps_: `lifted` units are at the lowest tier, the others absent. Then, tier by tier, at the
  // upper one of two neighbours.
  const bool disk = index < disk_steps_;
  const std::int64_t step = index - disk_steps_;
  const std::int64_t units = std::max<std::int64_t>(all_units_, 1);
  std::size_t lower = tiers - 1;
  std::int64_t lifted = index;
  if (!disk) {
    lower -= static_cast<std::size_t>(step / units);
    lifted = step % units;
  }
  PlannedMix mix;
  for (std::size_t group = 0; group < inputs_.groups.size(); ++group) {
    const std::int64_t count = present(group) * inputs_.groups[group].layers;
    const std::int64_t here = std::min(lifted, count);
    lifted -= here;
    std::vector<std::int64_t>& at = mix.counts.emplace_back(tiers);
    mix.absent.push_back(disk ? count - here : 0);
    if (disk) {
      at[lower] = here;
    } else {
      at[lower] = count - here;
      if (lower > 0) at[lower - 1] = here;
    }
  }
  std::int64_t high = 0, layers = 0;
  for (std::size_t group = 0; group < inputs_.groups.size(); ++group) {
    high += mix.counts[group].front();
    layers += inputs_.groups[group].layers;
  }
  mix.high_per_layer = layers > 0 ? high / layers : 0;
  return mix;
}

std::int64_t MixPath::block_bytes(const PlannedMix& mix) const {
  std::int64_t sum = 0;
  for (std::size_t group = 0; group < mix.counts.size(); ++group) {
    for (std::size_t t = 0; t < mix.counts[group].size(); ++t)
      sum += mix.counts[group][t] * inputs_.groups[group].bytes[t];
  }
  return sum;
}

// Blocks for units of this group that are on disk alone: as many as one pass through one layer can choose.
std::int64_t MixPath::on_demand(std::size_t group, const PlannedMix& mix) const {
  const UnitGroup& g = inputs_.groups[group];
  std::int64_t in_layer = g.absent;
  if (mix.absent[group] > 0) {
    in_layer =
        by_layer_ ? g.absent + mix.absent[group] / g.layers : std::min(g.units, g.absent + mix.absent[group]);
  }
  if (inputs_.host_computes_absent) in_layer -= g.absent;
  return inputs_.pass_units > 0 ? std::min(in_layer, inputs_.pass_units) : in_layer;
}

std::int64_t MixPath::on_disk(std::size_t group, const PlannedMix& mix) const {
  const UnitGroup& g = inputs_.groups[group];
  return mix.absent[group] + (inputs_.host_computes_absent ? 0 : g.absent * g.layers);
}

// Layers run one after the other, so that groups whose blocks are alike share the blocks that a pass needs.
// What more is cached goes to the pools by how many units wait there.
std::map<std::int64_t, MixPath::OnDemandPool> MixPath::on_demand_pools(const PlannedMix& mix) const {
  std::map<std::int64_t, OnDemandPool> pools;
  for (std::size_t group = 0; group < mix.counts.size(); ++group) {
    const std::int64_t units = on_disk(group, mix), in_a_pass = on_demand(group, mix);
    if (units == 0 || in_a_pass == 0) continue;
    OnDemandPool& pool = pools[inputs_.groups[group].bytes.back()];
    pool.units += units;
    pool.blocks = std::max(pool.blocks, in_a_pass);
  }
  std::int64_t more = 0;
  for (const auto& [bytes, pool] : pools) more += pool.units - pool.blocks;
  if (more > 0) {
    for (auto& [bytes, pool] : pools) pool.blocks += mix.cached * (pool.units - pool.blocks) / more;
  }
  return pools;
}

std::int64_t MixPath::max_cached(const PlannedMix& mix) const {
  std::int64_t more = 0;
  for (const auto& [bytes, pool] : on_demand_pools(mix)) more += pool.units - pool.blocks;
  return more;
}

bool MixPath::has_spares(std::size_t group, const PlannedMix& mix) const {
  const auto tiers = std::ranges::count_if(mix.counts[group], [](std::int64_t count) { return count > 0; });
  return swaps_ && tiers > (inputs_.changes_places ? 0 : 1);
}

bool MixPath::numbers_may_change(const PlannedMix& mix) const {
  bool moves = false;
  for (std::size_t group = 0; group < mix.counts.size(); ++group) moves = moves || has_spares(group, mix);
  const std::size_t places = inputs_.tier_names.size() + (inputs_.changes_places ? 1 : 0);
  return is_fovea_ && moves && places > 2 && on_demand_pools(mix).empty();
}

std::vector<PoolNeed> MixPath::needs(const PlannedMix& mix, std::int64_t spare_blocks) const {
  struct Need {
    std::int64_t blocks = 0, spare = 0, on_demand = 0, more_slabs = 0;
  };
  std::map<std::int64_t, Need> pools;
  const bool any_mix = numbers_may_change(mix);
  for (std::size_t group = 0; group < mix.counts.size(); ++group) {
    const UnitGroup& g = inputs_.groups[group];
    for (std::size_t t = 0; t < mix.counts[group].size(); ++t) {
      if (mix.counts[group][t] == 0 && !any_mix) continue;
      Need& need = pools[g.bytes[t]];
      if (mix.counts[group][t] == 0) continue;
      need.blocks += mix.counts[group][t];
      if (has_spares(group, mix)) need.spare = spare_blocks;
    }
    // Units leave a pool in the order in which they came there, so that n of them that go from slabs of c
    // blocks to slabs of as many or more need one slab besides; the spare blocks, of which each swap takes
    // one, at most one more.
    for (std::size_t t = 0; ladder_ && t < mix.counts[group].size(); ++t) {
      Need& need = pools[g.bytes[t]];
      need.spare = ladder_swaps_at_once;
      if (t > 0) need.more_slabs = 1;
    }
  }
  for (const auto& [bytes, pool] : on_demand_pools(mix)) pools[bytes].on_demand = pool.blocks;
  std::vector<PoolNeed> needs;
  for (const auto& [bytes, need] : pools)
    needs.push_back({bytes, need.blocks + need.spare + need.on_demand, need.more_slabs});
  return needs;
}

std::int64_t MixPath::on_demand_blocks(const PlannedMix& mix) const {
  std::int64_t sum = 0;
  for (const auto& [bytes, pool] : on_demand_pools(mix)) sum += pool.blocks;
  return sum;
}

}  // namespace fovea::precision
