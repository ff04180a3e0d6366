#include "ui/live/data/heat_places.h"

#include <algorithm>
#include <cmath>

namespace fovea::ui {

void HeatPlaces::by_index(std::int64_t layers, std::int64_t units_per_layer) {
  units_ = units_per_layer;
  expert_.resize(static_cast<std::size_t>(layers * units_per_layer));
  for (std::size_t i = 0; i < expert_.size(); ++i)
    expert_[i] = static_cast<std::uint16_t>(i % static_cast<std::size_t>(units_));
  slot_ = expert_;
}

void HeatPlaces::by_hotness(const MapFrame& frame) {
  by_index(frame.layers, frame.units_per_layer);
  const auto width = static_cast<std::ptrdiff_t>(units_);
  for (std::int64_t layer = 0; layer < frame.layers; ++layer) {
    const std::uint8_t* const hot = frame.hot.data() + layer * width;
    const auto begin = expert_.begin() + layer * width;
    std::stable_sort(begin, begin + width,
                     [hot](std::uint16_t a, std::uint16_t b) { return hot[a] > hot[b]; });
    for (std::ptrdiff_t slot = 0; slot < width; ++slot)
      slot_[static_cast<std::size_t>(layer * width + begin[slot])] = static_cast<std::uint16_t>(slot);
  }
}

std::size_t place_of_tier(std::size_t tier, std::size_t tiers) {
  return tier == host_tier ? tiers + 1 : std::min(tier, tiers);
}

double heat_strength(std::uint8_t code, std::uint8_t hottest) {
  if (code == 0) return 0;
  return heat_strengths()[static_cast<std::size_t>(std::max(0, int{hottest} - int{code}))];
}

// By the difference of the codes, which is a ratio of hotness.
const std::array<double, 256>& heat_strengths() {
  static const std::array<double, 256> table = [] {
    std::array<double, 256> made{};
    for (std::size_t below = 0; below < made.size(); ++below)
      made[below] = std::exp2(-static_cast<double>(below) * (24.0 / 254) / 2);
    return made;
  }();
  return table;
}

}  // namespace fovea::ui
