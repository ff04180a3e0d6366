#include "app/live/measures/memory_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
  double fullest = 0;
  for (const DeviceMemory& each :
       {DeviceMemory{.used_bytes = device_used_bytes, .total_bytes = device_total_bytes}, first_card})
    if (each.total_bytes > 0)
      fullest =
          std::max(fullest, static_cast<double>(each.used_bytes) / static_cast<double>(each.total_bytes));
  return fullest > kNearlyFull ? std::optional(fullest) : std::nullopt;
}

std::vector<ui::CardMemory> card_memories(const std::vector<CardPlan>& cards, const SnapshotNumbers& numbers,
                                          const ui::MapFrame& frame) {
  std::vector<ui::CardMemory> memories;
  std::size_t begin = 0;  // of the card's units
  for (const CardPlan& card : cards) {
    const bool is_last = memories.size() + 1 == cards.size();
    const auto units = static_cast<std::size_t>(std::max<std::int64_t>(0, card.rows * frame.units_per_layer));
    const std::size_t end = is_last ? frame.size() : std::min(frame.size(), begin + units);
    SnapshotNumbers own;
    own.budget_bytes = card.budget_bytes;
    own.arena_bytes = card.arena_bytes;
    for (std::size_t tier = 0; tier < numbers.tiers.size(); ++tier) {
      const auto count = [&](std::size_t from, std::size_t to) {
        return std::count(frame.tier.begin() + static_cast<std::ptrdiff_t>(from),
                          frame.tier.begin() + static_cast<std::ptrdiff_t>(to),
                          static_cast<std::uint8_t>(tier));
      };
      const auto all = static_cast<double>(std::max<std::ptrdiff_t>(1, count(0, frame.size())));
      const double share = static_cast<double>(count(begin, end)) / all;
      own.tiers.push_back(numbers.tiers[tier]);
      own.tiers.back().bytes = std::llround(share * static_cast<double>(numbers.tiers[tier].bytes));
      own.arena_used_bytes += own.tiers.back().bytes;
    }
    Plan plan;
    plan.parts = card.parts;
    ui::CardMemory memory{.name = card.name,
                          .budget = budget_parts(plan, own),
                          .budget_bytes = static_cast<double>(card.budget_bytes)};
    double total = 0;
    for (const ui::BudgetPart& part : memory.budget) total += part.bytes;
    memory.over_budget = card.budget_bytes > 0 && total > memory.budget_bytes * kRounding;
    memories.push_back(std::move(memory));
    begin = end;
  }
  return memories;
}

std::vector<ui::BudgetPart> sum_of(const std::vector<ui::CardMemory>& cards) {
  std::vector<ui::BudgetPart> sum;
  for (const ui::CardMemory& card : cards)
    for (const ui::BudgetPart& part : card.budget) {
      const auto known = std::ranges::find_if(
          sum, [&](const ui::BudgetPart& p) { return p.kind == part.kind && p.tier == part.tier; });
      if (known == sum.end())
        sum.push_back(part);
      else
        known->bytes += part.bytes;
    }
  std::ranges::stable_sort(sum, [](const ui::BudgetPart& a, const ui::BudgetPart& b) {
    return std::pair(a.kind, a.tier) < std::pair(b.kind, b.tier);
  });
  return sum;
}

ui::MemoryParts memory_parts(const Plan& plan, const SnapshotNumbers& numbers, const ui::MapFrame& frame,
                             std::int64_t experts, const MeasuredMemory& measured,
                             const std::vector<CardPlan>& cards) {
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
  if (cards.size() == 2) {
    parts.cards = card_memories(cards, numbers, frame);
    parts.budget = sum_of(parts.cards);
    parts.over_budget = std::ranges::any_of(parts.cards, &ui::CardMemory::over_budget);
    const auto measure = [](ui::CardMemory& card, const DeviceMemory& has) {
      card.device_used_bytes = static_cast<double>(has.used_bytes);
      card.device_total_bytes = static_cast<double>(has.total_bytes);
      card.device_full =
          MeasuredMemory{.device_used_bytes = has.used_bytes, .device_total_bytes = has.total_bytes}
              .full()
              .has_value();
    };
    measure(parts.cards[0], measured.first_card);
    measure(parts.cards[1], {measured.device_used_bytes, measured.device_total_bytes});
  }
  parts.host_units = numbers.host_units > 0 ? numbers.host_units : plan.units_on_host;
  parts.host_bytes = static_cast<double>(plan.host_bytes);
  parts.host_total_bytes = static_cast<double>(measured.host_total_bytes);
  return parts;
}

}  // namespace fovea::app
