#include "app/live/measures/memory_parts.h"

#include <algorithm>

namespace fovea::app {
namespace {

constexpr double kNearlyFull = 0.9;
constexpr double kRounding = 1.0001;  // a budget's parts add up to it but for this

}  // namespace

std::vector<ui::BudgetPart> budget_parts(const Plan& plan, const SnapshotNumbers& numbers) {
  using Kind = ui::BudgetPart::Kind;
  std::vector<ui::BudgetPart> parts;
  double so_far = 0;
  const auto add = [&](Kind kind, std::int64_t bytes, int tier = -1) {
    if (bytes <= 0) return;
    parts.push_back({.kind = kind, .tier = tier, .bytes = static_cast<double>(bytes)});
    so_far += parts.back().bytes;
  };
  add(Kind::dense, plan.parts.dense);
  add(Kind::kv, plan.parts.kv + plan.parts.windows + plan.parts.states);
  add(Kind::activations, plan.parts.activations);
  std::int64_t published = 0;
  for (std::size_t tier = 0; tier < numbers.tiers.size(); ++tier) {
    add(Kind::tier, numbers.tiers[tier].bytes, static_cast<int>(tier));
    published += numbers.tiers[tier].bytes;
  }
  add(Kind::in_flight, numbers.arena_used_bytes - published);
  add(Kind::free, numbers.arena_bytes - std::max(published, numbers.arena_used_bytes));
  add(Kind::unplanned, numbers.budget_bytes - static_cast<std::int64_t>(so_far));
  return parts;
}

int tier_of_pool(const SnapshotNumbers& numbers, std::size_t pool) {
  int found = -1;
  for (std::size_t t = 0; t < numbers.tiers.size(); ++t) {
    const TierState& tier = numbers.tiers[t];
    if (tier.units == 0 || tier.bytes != tier.units * numbers.pools[pool].block_bytes) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(t);
  }
  return found;
}

std::optional<double> MeasuredMemory::full() const {
  const auto used = static_cast<double>(device_used_bytes), total = static_cast<double>(device_total_bytes);
  return total > 0 && used > kNearlyFull * total ? std::optional(used / total) : std::nullopt;
}

ui::MemoryParts memory_parts(const Plan& plan, const SnapshotNumbers& numbers, const ui::MapFrame& frame,
                             std::int64_t experts, const MeasuredMemory& measured) {
  ui::MemoryParts parts;
  parts.budget = budget_parts(plan, numbers);
  double total = 0;
  for (const ui::BudgetPart& part : parts.budget) total += part.bytes;
  const auto budget = static_cast<double>(numbers.budget_bytes);
  parts.over_budget = budget > 0 && total > budget * kRounding;
  for (std::size_t pool = 0; pool < numbers.pools.size(); ++pool)
    parts.tier_of_pool.push_back(tier_of_pool(numbers, pool));
  parts.units_in_flight =
      std::ranges::count_if(frame.target, [](std::uint8_t target) { return target != no_tier; });
  parts.units_on_disk = experts - numbers.host_units;
  for (const TierState& tier : numbers.tiers) parts.units_on_disk -= tier.units;
  parts.kv_used_bytes = static_cast<double>(measured.kv_used_bytes);
  parts.device_used_bytes = static_cast<double>(measured.device_used_bytes);
  parts.device_total_bytes = static_cast<double>(measured.device_total_bytes);
  parts.device_full = measured.full().has_value();
  parts.host_units = numbers.host_units > 0 ? numbers.host_units : plan.units_on_host;
  parts.host_bytes = static_cast<double>(plan.host_bytes);
  parts.host_total_bytes = static_cast<double>(measured.host_total_bytes);
  return parts;
}

}  // namespace fovea::app
