#include "engine/precision/static_plan.h"

#include <algorithm>

#include "engine/precision/best_mix.h"

namespace fovea::precision {
namespace {

constexpr int max_attempts = 64;

// The units that are on the device, as best_mix takes them.
struct Present {
  std::vector<std::size_t> units;
  std::vector<std::int64_t> bytes;  // [present units, tiers]
  std::vector<double> loss;
};

Present present_of(const PlanInputs& inputs, std::span<const std::size_t> group,
                   const std::vector<bool>& absent, std::span<const double> loss) {
  const std::size_t tiers = inputs.tier_names.size();
  Present present;
  for (std::size_t unit = 0; unit < group.size(); ++unit) {
    if (absent[unit]) continue;
    const std::vector<std::int64_t>& bytes = inputs.groups[group[unit]].bytes;
    present.units.push_back(unit);
    present.bytes.insert(present.bytes.end(), bytes.begin(), bytes.end());
    const auto first = loss.begin() + static_cast<std::ptrdiff_t>(unit * tiers);
    present.loss.insert(present.loss.end(), first, first + static_cast<std::ptrdiff_t>(tiers));
  }
  return present;
}

// The planner's own counts, filled unit by unit: where the room is too narrow to choose.
std::vector<TierId> in_order(std::span<const std::size_t> group, const std::vector<bool>& absent,
                             TierCounts left) {
  std::vector<TierId> tiers;
  for (std::size_t unit = 0; unit < group.size(); ++unit) {
    std::vector<std::int64_t>& counts = left[group[unit]];
    TierId tier = absent[unit] ? no_tier : 0;
    while (tier < counts.size() && counts[tier] == 0) ++tier;
    if (tier < counts.size()) --counts[tier];
    tiers.push_back(tier < counts.size() ? tier : no_tier);
  }
  return tiers;
}

}  // namespace

Result<StaticPlan> plan_static(const UnitPlan& units, std::span<const double> loss) {
  return plan_static(units.inputs, units.group, units.absent, loss,
                     units.policy == PolicyKind::fovea ? PolicyKind::fovea : PolicyKind::static_tiers);
}

Result<StaticPlan> plan_static(const PlanInputs& given, std::span<const std::size_t> group,
                               const std::vector<bool>& absent, std::span<const double> loss,
                               PolicyKind policy) {
  PlanInputs inputs = given;
  inputs.counts.clear();
  FOVEA_TRY(PrecisionPlan first, plan_precision(inputs, policy));
  if (inputs.budget_bytes == 0 && !inputs.time_counts)
    return StaticPlan{first, in_order(group, absent, first.group_capacity)};
  const Present present = present_of(inputs, group, absent, loss);
  std::vector<TierId> tiers(group.size(), no_tier);
  // What slabs waste is known only when the map is: less room is given to the units until it fits.
  std::int64_t room = first.plan.budget_bytes - (first.plan.total_bytes - first.plan.arena_bytes);
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto mix = best_mix({.tiers = std::ssize(inputs.tier_names),
                               .bytes = present.bytes,
                               .loss = present.loss,
                               .budget_bytes = room});
    if (!mix) break;
    for (std::size_t i = 0; i < present.units.size(); ++i) tiers[present.units[i]] = mix->tiers[i];
    inputs.counts = counts_of(inputs, group, tiers);
    PrecisionPlan plan = plan_precision_anyway(inputs, policy);
    if (plan.plan.fits) return StaticPlan{std::move(plan), std::move(tiers)};
    room = std::min(room, mix->bytes) - (plan.plan.total_bytes - plan.plan.budget_bytes);
  }
  return StaticPlan{first, in_order(group, absent, first.group_capacity)};
}

void give_room(const PrecisionPlan& plan, PolicyWorld& world) {
  world.capacity = plan.capacity;
  world.high_per_layer = plan.high_per_layer;
  world.layers_with_more = plan.layers_with_more;
  world.spare_blocks = std::max<std::int64_t>(1, plan.spare_blocks);
  world.any_mix_bytes = plan.arena.any_mix ? plan.arena.bytes() : 0;
}

}  // namespace fovea::precision
