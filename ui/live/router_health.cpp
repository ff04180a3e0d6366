#include "ui/live/router_health.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fovea::ui {
namespace {

LayerHealth health_of(std::span<const std::uint32_t> uses, std::int64_t used) {
  LayerHealth health;
  for (const std::uint32_t each : uses) health.uses += each;
  if (health.uses == 0) return health;
  const auto total = static_cast<double>(health.uses);
  double entropy = 0;
  for (const std::uint32_t each : uses) {
    const double share = each / total;
    if (share > 0) entropy -= share * std::log(share);
  }
  health.evenness = uses.size() > 1 ? entropy / std::log(static_cast<double>(uses.size())) : 1;
  health.busiest = static_cast<std::int32_t>(std::ranges::max_element(uses) - uses.begin());
  std::vector<std::uint32_t> sorted(uses.begin(), uses.end());
  const std::size_t tenth = std::max<std::size_t>(1, sorted.size() / 10);
  const auto chosen = static_cast<std::size_t>(std::max<std::int64_t>(1, used));
  const std::size_t head = std::min(sorted.size(), std::max({std::size_t{2}, tenth, chosen}));
  std::ranges::partial_sort(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(head), std::greater<>());
  for (std::size_t rank = 0; rank < head; ++rank) {
    const double share = sorted[rank] / total;
    if (rank == 0) health.top_one = share;
    if (rank < 2) health.top_two += share;
    if (rank < tenth) health.top_tenth += share;
    if (rank < chosen) health.top_used += share;
  }
  const auto experts = static_cast<std::int64_t>(uses.size());
  const double even = static_cast<double>(chosen) / static_cast<double>(experts);
  health.limit = judged_by_two(experts, used) ? collapse_share : collapse_share_of_k;
  if (judged_by_two(experts, used)) {
    health.concentration =
        std::max(health.top_one / largest_share(1, used), health.top_two / largest_share(2, used));
  } else if (even < 1) {
    health.concentration = std::max(0.0, (health.top_used - even) / (1 - even));
  }
  health.collapsed = health.concentration >= health.limit &&
                     health.uses >= fewest_tokens_for_health * static_cast<std::int64_t>(chosen);
  return health;
}

}  // namespace

bool judged_by_two(std::int64_t experts, std::int64_t used) {
  return 2 * 2.0 / static_cast<double>(experts) <= collapse_share * largest_share(2, used);
}

double largest_share(std::int64_t experts, std::int64_t used) {
  return std::min(1.0, static_cast<double>(experts) / static_cast<double>(std::max<std::int64_t>(1, used)));
}

RouterHealth router_health(std::span<const std::uint32_t> uses, std::int64_t units_per_layer,
                           std::span<const std::int64_t> experts, std::int64_t used) {
  RouterHealth result;
  if (units_per_layer <= 0) return result;
  const auto width = static_cast<std::size_t>(units_per_layer);
  double evenness = 0;
  std::int64_t busy = 0;
  for (std::size_t layer = 0; layer < uses.size() / width; ++layer) {
    const std::size_t count =
        layer < experts.size() ? std::min(width, static_cast<std::size_t>(experts[layer])) : width;
    result.layers.push_back(health_of(uses.subspan(layer * width, count), used));
    const LayerHealth& health = result.layers.back();
    result.collapsed += health.collapsed;
    if (health.uses == 0) continue;
    evenness += health.evenness;
    ++busy;
  }
  result.evenness = busy > 0 ? evenness / static_cast<double>(busy) : 0;
  return result;
}

}  // namespace fovea::ui
