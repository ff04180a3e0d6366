#include "engine/precision/planner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/api/sentence.h"
#include "engine/precision/errors.h"
#include "engine/precision/planner_mix.h"
#include "engine/precision/tiers.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
// A slab is at most so many of the largest blocks, and there are at least so many slabs, so that the mix of
// tiers may follow the work.
constexpr std::int64_t max_blocks_in_slab = 64;
constexpr std::int64_t min_slabs = 16;

std::int64_t raw_bytes(const std::vector<PoolNeed>& needs) {
  return std::transform_reduce(needs.begin(), needs.end(), std::int64_t{0}, std::plus<>(),
                               [](const PoolNeed& need) { return need.block_bytes * need.blocks; });
}

std::int64_t slabs_of(const PoolNeed& need, std::int64_t slab_bytes) {
  const std::int64_t in_slab = slab_bytes / need.block_bytes;
  return (need.blocks + in_slab - 1) / in_slab + need.more_slabs;
}

std::int64_t fixed_bytes(const PlanInputs& inputs) {
  return inputs.dense_bytes + inputs.kv_bytes + inputs.window_bytes + inputs.state_bytes +
         inputs.activation_bytes;
}

// The smallest budget of which `need` bytes are left when the safety is off.
std::int64_t budget_for(const PlanInputs& inputs, std::int64_t need) {
  std::int64_t low = need;
  std::int64_t high = need + std::max(inputs.safety_bytes, inputs.max_safety_bytes);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (middle - safety_of(inputs, middle) >= need) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

struct Choice {
  PlannedMix mix;
  ArenaPlan arena;
  std::int64_t spare_blocks = 0;
};

class Chooser {
 public:
  Chooser(const PlanInputs& inputs, PolicyKind policy)
      : inputs_(inputs), path_(inputs, policy), pooled_(policy != PolicyKind::none) {}

  // Without a policy there is no arena: units lie where the model's other weights do.
  std::int64_t bytes(const PlannedMix& mix) const {
    return pooled_ ? cut(mix, inputs_.spare_blocks).bytes() : path_.block_bytes(mix);
  }

  // The last mix of the path that fits a budget.
  std::optional<Choice> best(std::int64_t budget) const {
    const std::int64_t room = budget - safety_of(inputs_, budget) - fixed_bytes(inputs_);
    // Beyond `last` not even the bare blocks fit.
    std::int64_t low = 0, high = path_.size() - 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (path_.block_bytes(path_.at(middle)) <= room) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    for (std::int64_t index = low; index >= 0; --index) {
      const PlannedMix mix = path_.at(index);
      if (bytes(mix) <= room) return with_cache(with_spares(filled(mix, room), room), room);
    }
    return std::nullopt;
  }

  Choice highest() const { return choice(path_.at(path_.size() - 1)); }

  // The mix that needs the least: not always the first one, since what is on disk needs room for its visits.
  Choice least() const {
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    PlannedMix found;
    for (std::int64_t index = 0; index < path_.size(); ++index) {
      PlannedMix mix = path_.at(index);
      if (path_.block_bytes(mix) >= fewest) break;
      const std::int64_t need = bytes(mix);
      if (need >= fewest) continue;
      fewest = need;
      found = std::move(mix);
    }
    return choice(found);
  }

  const MixPath& path() const { return path_; }
  bool pooled() const { return pooled_; }

 private:
  Choice choice(const PlannedMix& mix) const { return with(mix, inputs_.spare_blocks); }
  Choice with(const PlannedMix& mix, std::int64_t spare_blocks) const {
    return {mix, pooled_ ? cut(mix, spare_blocks) : ArenaPlan{}, spare_blocks};
  }
  ArenaPlan cut(const PlannedMix& mix, std::int64_t spare_blocks) const {
    std::vector<PoolNeed> needs = path_.needs(mix, spare_blocks);
    return path_.numbers_may_change(mix) ? cut_arena_for_any_mix(std::move(needs))
                                         : cut_arena(std::move(needs));
  }
  // A place more for as many layers as there is room for.
  PlannedMix filled(const PlannedMix& mix, std::int64_t room) const {
    for (std::int64_t layers = path_.max_layers_with_more(mix); layers > 0; --layers) {
      PlannedMix more = path_.with_more(mix, layers);
      if (path_.block_bytes(more) <= room && bytes(more) <= room) return more;
    }
    return mix;
  }
  // What is left even then lets more units swap at once.
  Choice with_spares(const PlannedMix& mix, std::int64_t room) const {
    for (std::int64_t spare = inputs_.max_spare_blocks; path_.swaps() && spare > inputs_.spare_blocks;
         --spare) {
      Choice more = with(mix, spare);
      if (more.arena.bytes() <= room) return more;
    }
    return choice(mix);
  }

  // … and units that are on disk alone stay in memory.
  Choice with_cache(Choice choice, std::int64_t room) const {
    std::int64_t least = 0, most = path_.max_cached(choice.mix);
    while (least < most) {
      const std::int64_t middle = least + (most - least + 1) / 2;
      PlannedMix more = choice.mix;
      more.cached = middle;
      if (with(more, choice.spare_blocks).arena.bytes() <= room) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    choice.mix.cached = least;
    return with(choice.mix, choice.spare_blocks);
  }

  const PlanInputs& inputs_;
  MixPath path_;
  bool pooled_;
};

double bits_of(const UnitGroup& group, std::size_t tier) {
  if (!group.bits.empty()) return group.bits[tier];
  return 8.0 * static_cast<double>(group.bytes[tier]) / static_cast<double>(group.parameters);
}

// Of the units of one tier, or of all tiers.
double mean_bits(const PlanInputs& inputs, const TierCounts& counts, std::optional<std::size_t> only = {}) {
  double bits = 0, weights = 0;
  for (std::size_t group = 0; group < counts.size(); ++group) {
    const UnitGroup& g = inputs.groups[group];
    for (std::size_t t = 0; t < counts[group].size(); ++t) {
      if (only && *only != t) continue;
      // A tier that nobody has is told as if everybody had it.
      const std::int64_t units = only && counts[group][t] == 0 ? 0 : counts[group][t];
      const double parameters = static_cast<double>(units) * static_cast<double>(g.parameters);
      bits += bits_of(g, t) * parameters;
      weights += parameters;
    }
  }
  if (weights > 0) return bits / weights;
  if (!only) return 0;
  for (const UnitGroup& g : inputs.groups) {
    const auto parameters = static_cast<double>(g.layers * g.units) * static_cast<double>(g.parameters);
    bits += bits_of(g, *only) * parameters;
    weights += parameters;
  }
  return weights > 0 ? bits / weights : 0;
}

std::int64_t mean_unit_bytes(const PlanInputs& inputs, std::size_t tier) {
  std::int64_t bytes = 0, units = 0;
  for (const UnitGroup& group : inputs.groups) {
    bytes += group.layers * group.units * group.bytes[tier];
    units += group.layers * group.units;
  }
  return units > 0 ? bytes / units : 0;
}

// Every slab belongs to a pool, and a pool's bytes to the tiers that use it, by what they need; the on-demand
// cache count as the lowest tier's.
void divide_arena(const PlanInputs& inputs, const MixPath& path, const Choice& choice, Plan& plan) {
  const auto tiers = inputs.tier_names.size();
  for (const PoolNeed& need : path.needs(choice.mix, choice.spare_blocks)) {
    std::vector<std::int64_t> users(tiers);
    std::int64_t blocks = 0;
    for (std::size_t group = 0; group < choice.mix.counts.size(); ++group) {
      for (std::size_t t = 0; t < tiers; ++t) {
        if (inputs.groups[group].bytes[t] != need.block_bytes) continue;
        users[t] += choice.mix.counts[group][t];
        blocks += choice.mix.counts[group][t];
      }
    }
    if (blocks == 0) users[tiers - 1] = blocks = 1;
    const std::int64_t bytes = choice.arena.any_mix
                                   ? need.blocks * need.block_bytes
                                   : slabs_of(need, choice.arena.slab_bytes) * choice.arena.slab_bytes;
    std::int64_t counted = 0, given = 0;
    for (std::size_t t = 0; t < tiers; ++t) {
      counted += users[t];
      const auto until = static_cast<std::int64_t>(
          static_cast<double>(bytes) * (static_cast<double>(counted) / static_cast<double>(blocks)));
      plan.parts.experts[t].bytes += until - given;
      given = until;
    }
  }
}

// On disk or on the host: what the mix has no room for, and what was to be away.
std::int64_t absent_units(const PlanInputs& inputs, const PlannedMix& mix) {
  std::int64_t units = 0;
  for (std::size_t group = 0; group < inputs.groups.size(); ++group)
    units += mix.absent[group] + inputs.groups[group].absent * inputs.groups[group].layers;
  return units - inputs.units_elsewhere;
}

PrecisionPlan describe(const PlanInputs& inputs, const Chooser& chooser, const Choice& choice) {
  PrecisionPlan out;
  const PlannedMix& mix = choice.mix;
  out.arena = choice.arena;
  out.group_capacity = mix.counts;
  out.capacity.resize(inputs.tier_names.size());
  out.high_per_layer = mix.high_per_layer;
  out.layers_with_more = mix.layers_with_more;
  out.spare_blocks = choice.spare_blocks;
  out.on_demand_blocks = chooser.pooled() ? chooser.path().on_demand_blocks(mix) : 0;
  for (std::size_t t = 0; t < inputs.tier_names.size(); ++t) {
    for (const auto& counts : mix.counts) out.capacity[t] += counts[t];
    out.plan.parts.experts.push_back({.name = inputs.tier_names[t],
                                      .bits_per_weight = mean_bits(inputs, mix.counts, t),
                                      .units = out.capacity[t],
                                      .unit_bytes = mean_unit_bytes(inputs, t)});
  }
  out.absent_units = absent_units(inputs, mix);

  Plan& plan = out.plan;
  if (chooser.pooled()) {
    divide_arena(inputs, chooser.path(), choice, plan);
    plan.arena_bytes = choice.arena.bytes();
    plan.slab_bytes = choice.arena.slab_bytes;
  } else if (!plan.parts.experts.empty()) {
    plan.parts.experts.front().bytes = chooser.path().block_bytes(mix);
  }
  plan.parts.dense = inputs.dense_bytes;
  plan.parts.kv = inputs.kv_bytes;
  plan.parts.windows = inputs.window_bytes;
  plan.parts.states = inputs.state_bytes;
  plan.parts.activations = inputs.activation_bytes;
  (inputs.host_computes_absent ? plan.units_on_host : plan.units_on_disk) = out.absent_units;
  plan.units_cached = out.on_demand_blocks;
  plan.host = inputs.host;
  plan.host_bytes = inputs.host.sum();
  plan.high_per_layer = mix.high_per_layer;
  plan.mean_bits_per_weight = mean_bits(inputs, mix.counts);
  return out;
}

// Without a budget there is nothing to keep free of it.
void set_budget(const PlanInputs& inputs, std::int64_t units_bytes, Plan& plan) {
  plan.parts.safety = inputs.budget_bytes > 0 ? safety_of(inputs, inputs.budget_bytes) : 0;
  plan.total_bytes = fixed_bytes(inputs) + units_bytes + plan.parts.safety;
  plan.budget_bytes = inputs.budget_bytes > 0 ? inputs.budget_bytes : plan.total_bytes;
  plan.fits = plan.total_bytes <= plan.budget_bytes;
}

std::int64_t units_bytes_of(const Chooser& chooser, const Choice& choice) {
  return chooser.pooled() ? choice.arena.bytes() : chooser.path().block_bytes(choice.mix);
}

// What one more gigabyte buys, and what the highest tier for everything costs.
void advise(const PlanInputs& inputs, const Chooser& chooser, const PrecisionPlan& now,
            std::vector<Phrase>& advice) {
  const std::int64_t all = now.plan.whole_bytes;
  const std::string& high = inputs.tier_names.front();
  if (inputs.budget_bytes == 0 || inputs.budget_bytes >= all) {
    const std::int64_t left = inputs.budget_bytes == 0 ? 0 : inputs.budget_bytes - all;
    advice.push_back(left > 0 ? phrases::all_at_highest_with_room(high, Bytes{left})
                              : phrases::all_at_highest(high));
    return;
  }
  const auto more = chooser.best(now.plan.budget_bytes + gibibyte);
  if (more && all > now.plan.budget_bytes + gibibyte) {
    const double bits = mean_bits(inputs, more->mix.counts);
    const std::int64_t had = now.capacity.front(), absent = absent_units(inputs, more->mix);
    std::int64_t units = 0;
    for (const auto& counts : more->mix.counts) units += counts.front();
    const std::int64_t in_layer = more->mix.high_per_layer, on_disk = now.plan.units_on_disk;
    advice.push_back(phrases::one_gibibyte_more(
        bits, now.plan.mean_bits_per_weight,
        units > had ? phrases::more_units_at(units, had, high) : Phrase(),
        in_layer > now.high_per_layer ? phrases::more_in_each_layer(in_layer, now.high_per_layer) : Phrase(),
        absent < on_disk ? phrases::fewer_on_disk(absent, on_disk) : Phrase()));
  }
  advice.push_back(phrases::all_at_needs(high, Bytes{all}));
}

}  // namespace

ArenaPlan cut_arena(std::vector<PoolNeed> needs) {
  std::erase_if(needs, [](const PoolNeed& need) { return need.blocks == 0; });
  ArenaPlan best;
  if (needs.empty()) return best;
  std::ranges::sort(needs, {}, &PoolNeed::block_bytes);
  for (const PoolNeed& need : needs) best.block_bytes.push_back(need.block_bytes);
  const std::int64_t largest = needs.back().block_bytes;
  const std::int64_t most =
      std::max(largest, std::min(max_blocks_in_slab * largest, raw_bytes(needs) / min_slabs));
  // A slab of whole blocks of one pool wastes nothing there; of these, the one that wastes least elsewhere.
  for (const PoolNeed& fitted : needs) {
    const std::int64_t first = (largest + fitted.block_bytes - 1) / fitted.block_bytes;
    for (std::int64_t count = first; count < first + max_blocks_in_slab; ++count) {
      const std::int64_t slab = count * fitted.block_bytes;
      if (slab > most && count > first) break;
      std::int64_t slabs = 0;
      for (const PoolNeed& need : needs) slabs += slabs_of(need, slab);
      const std::int64_t bytes = slabs * slab;
      if (best.slabs > 0 && (bytes > best.bytes() || (bytes == best.bytes() && slab >= best.slab_bytes)))
        continue;
      best.slab_bytes = slab;
      best.slabs = slabs;
    }
  }
  return best;
}

ArenaPlan cut_arena_for_any_mix(std::vector<PoolNeed> needs) {
  std::ranges::sort(needs, {}, &PoolNeed::block_bytes);
  ArenaPlan plan{.slab_bytes = version_alignment,
                 .slabs = raw_bytes(needs) / version_alignment,
                 .block_bytes = {},
                 .any_mix = true};
  for (const PoolNeed& need : needs) plan.block_bytes.push_back(need.block_bytes);
  return plan;
}

std::int64_t safety_of(const PlanInputs& inputs, std::int64_t budget_bytes) {
  const auto share = static_cast<std::int64_t>(inputs.safety_share * static_cast<double>(budget_bytes));
  return std::min(inputs.safety_bytes + share, std::max(inputs.safety_bytes, inputs.max_safety_bytes));
}

std::int64_t min_budget(const PlanInputs& inputs, PolicyKind policy) {
  const Chooser chooser(inputs, policy);
  return budget_for(inputs, fixed_bytes(inputs) + units_bytes_of(chooser, chooser.least()));
}

void compare_with_others(const PlanInputs& inputs, PolicyKind policy, PrecisionPlan& plan) {
  const Chooser chooser(inputs, policy);
  plan.plan.whole_bytes =
      budget_for(inputs, fixed_bytes(inputs) + units_bytes_of(chooser, chooser.highest()));
  plan.plan.min_bytes = min_budget(inputs, policy);
  plan.plan.advice.clear();
  if (plan.plan.fits && !inputs.tier_names.empty() && !inputs.groups.empty())
    advise(inputs, chooser, plan, plan.plan.advice);
}

PrecisionPlan plan_precision_anyway(const PlanInputs& inputs, PolicyKind policy) {
  const Chooser chooser(inputs, policy);
  const Choice choice =
      inputs.budget_bytes == 0
          ? chooser.highest()
          : chooser.best(inputs.budget_bytes).or_else([&] { return std::optional(chooser.least()); }).value();
  PrecisionPlan out = describe(inputs, chooser, choice);
  set_budget(inputs, units_bytes_of(chooser, choice), out.plan);
  compare_with_others(inputs, policy, out);
  return out;
}

Result<PrecisionPlan> plan_precision(const PlanInputs& inputs, PolicyKind policy) {
  PrecisionPlan out = plan_precision_anyway(inputs, policy);
  if (out.plan.fits) return out;
  const Bytes budget{inputs.budget_bytes}, least{out.plan.min_bytes};
  return fail(
      phrases::option_place("budget"),
      inputs.may_use_disk || inputs.tier_names.empty()
          ? errors::budget_too_small_for_rest(budget, least)
          : errors::budget_too_small_for_lowest(
                budget, lowers_layers(policy) ? inputs.tier_names.front() : inputs.tier_names.back(), least));
}

}  // namespace fovea::precision
