#include "app/live/measures/router_health.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/api/expert_load.h"

namespace fovea::app {
namespace {

std::int64_t count(std::span<const std::uint32_t> uses) {
  return std::accumulate(uses.begin(), uses.end(), std::int64_t{0});
}

// One layer's part of RouterUses.
ui::LayerHealth health_of(std::span<const std::uint32_t> lately, std::span<const std::uint32_t> since_start,
                          std::span<const float> calibrated, std::size_t used) {
  ui::LayerHealth health{.uses = count(lately)};
  if (health.uses == 0) return health;
  const std::vector<double> shares = shares_of(lately);
  health.evenness = evenness(shares);
  health.busiest = static_cast<std::int32_t>(std::ranges::max_element(shares) - shares.begin());
  health.top_one = top_share(shares, 1);
  health.max_violation = max_violation(shares);
  health.top_tenth = top_share(shares, std::max<std::size_t>(1, shares.size() / 10));
  health.top_used = top_share(shares, used);
  const bool choice = used < shares.size();
  if (choice) {
    const double even = static_cast<double>(used) / static_cast<double>(shares.size());
    health.narrow = std::lerp(even, 1.0, narrow_limit);
  }
  const auto tokens = [used](std::int64_t uses) { return uses / static_cast<std::int64_t>(used); };
  if (tokens(health.uses) < fewest_tokens_for_health) return health;
  std::vector<double> many;
  if (!calibrated.empty()) {
    many = shares_of(calibrated);
  } else if (tokens(count(since_start)) >= tokens_of_many_subjects) {
    many = shares_of(since_start);
  }
  health.collapsed =
      choice && !many.empty() && health.top_used >= health.narrow && top_share(many, used) >= health.narrow;
  if (!calibrated.empty() && health.uses >= fewest_uses_per_expert * std::ssize(shares))
    health.elsewhere = apart(shares, many);
  health.one_subject = !health.collapsed && health.elsewhere.value_or(0) >= one_subject_limit;
  return health;
}

}  // namespace

ui::RouterHealth router_health(const RouterUses& uses) {
  ui::RouterHealth result;
  if (uses.units_per_layer <= 0) return result;
  const auto width = static_cast<std::size_t>(uses.units_per_layer);
  double evenness = 0, top_tenth = 0, elsewhere = 0;
  std::int64_t busy = 0, compared = 0;
  std::size_t expert = 0;  // the layer's first among all
  for (std::size_t layer = 0; layer < uses.lately.size() / width; ++layer) {
    const std::size_t experts =
        layer < uses.experts.size() ? std::min(width, static_cast<std::size_t>(uses.experts[layer])) : width;
    const bool calibrated = expert + experts <= uses.calibrated.size();
    result.layers.push_back(health_of(
        uses.lately.subspan(layer * width, experts), uses.since_start.subspan(layer * width, experts),
        calibrated ? uses.calibrated.subspan(expert, experts) : uses.calibrated.first(0),
        static_cast<std::size_t>(std::max<std::int64_t>(1, uses.used))));
    expert += experts;
    const ui::LayerHealth& health = result.layers.back();
    result.collapsed += health.collapsed;
    result.one_subject += health.one_subject;
    result.top_used = std::max(result.top_used, health.top_used);
    result.narrow = std::min(result.narrow, health.narrow);
    result.max_violation = std::max(result.max_violation, health.max_violation);
    elsewhere += health.elsewhere.value_or(0);
    compared += health.elsewhere.has_value();
    top_tenth += health.top_tenth;
    evenness += health.evenness;  // 0 without uses
    busy += health.uses > 0;
  }
  const auto layers = std::ssize(result.layers);
  result.mostly_one_subject = 2 * result.one_subject > layers;
  result.top_tenth = layers > 0 ? top_tenth / static_cast<double>(layers) : 0;
  result.evenness = busy > 0 ? evenness / static_cast<double>(busy) : 0;
  if (compared > 0) result.elsewhere = elsewhere / static_cast<double>(compared);
  return result;
}

}  // namespace fovea::app
