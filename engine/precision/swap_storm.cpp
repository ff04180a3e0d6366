#include "engine/precision/swap_storm.h"

#include <algorithm>

namespace fovea::precision {
namespace {

Decision to_tier(std::int32_t unit, std::uint8_t target) {
  return {.unit = unit, .target = target, .reason = SwapReason::requested};
}

std::vector<std::uint8_t> first_of_each_layer(const PolicyWorld& world) {
  std::vector<std::uint8_t> tiers(static_cast<std::size_t>(world.units()), no_tier);
  for (std::size_t layer = 0; layer + 1 < world.first_unit.size(); ++layer) {
    std::int64_t high = 0;
    for (std::int32_t unit = world.first_unit[layer]; unit < world.first_unit[layer + 1]; ++unit) {
      if (world.is_on_host(unit)) continue;
      tiers[static_cast<std::size_t>(unit)] =
          high++ < world.high_per_layer ? 0 : static_cast<std::uint8_t>(world.tiers() - 1);
    }
  }
  return tiers;
}

}  // namespace

SwapStorm::SwapStorm(const PolicyWorld& world, std::shared_ptr<StormControl> control, std::int32_t in_flight)
    : SwapStorm(world, first_of_each_layer(world), std::move(control), in_flight) {}

SwapStorm::SwapStorm(const PolicyWorld& world, std::vector<std::uint8_t> initial,
                     std::shared_ptr<StormControl> control, std::int32_t in_flight)
    : begun_(std::move(initial)),
      lowest_(static_cast<std::uint8_t>(world.tiers() - 1)),
      control_(std::move(control)),
      // A swap up and one down need one spare block each.
      max_in_flight_(static_cast<std::int32_t>(
          std::max<std::int64_t>(2, std::min<std::int64_t>(in_flight, 2 * world.spare_blocks)))) {}

// The next unit of that tier; five steps on, so that neighbours come late.
std::int32_t SwapStorm::next(std::span<const std::uint8_t> tiers, std::uint8_t wanted) {
  for (std::size_t tried = 0; tried < tiers.size(); ++tried) {
    last_ = (last_ + 5) % static_cast<std::int32_t>(tiers.size());
    if (tiers[static_cast<std::size_t>(last_)] == wanted) break;
  }
  return last_;
}

void SwapStorm::exchange(std::span<const std::uint8_t> tiers, std::vector<Decision>& decisions) {
  const std::int32_t up = next(tiers, lowest_), down = next(tiers, 0);
  decisions.push_back(to_tier(up, 0));
  decisions.push_back(to_tier(down, lowest_));
}

// One pair in a pass: there are spare blocks for that.
void SwapStorm::go_home(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                        std::vector<Decision>& decisions) const {
  std::int32_t up = -1, down = -1;
  for (auto unit = static_cast<std::int32_t>(tiers.size()) - 1; unit >= 0; --unit) {
    const auto at = static_cast<std::size_t>(unit);
    if (tiers[at] > begun_[at]) up = unit;
    if (tiers[at] < begun_[at]) down = unit;
  }
  control_->home = up < 0 && down < 0 && in_flight == 0;
  if (up >= 0) decisions.push_back(to_tier(up, 0));
  if (down >= 0) decisions.push_back(to_tier(down, lowest_));
}

void SwapStorm::propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                        std::vector<Decision>& decisions) {
  const StormMode mode = control_->mode;
  if (mode == StormMode::home) return go_home(tiers, in_flight, decisions);
  control_->home = false;
  if (mode == StormMode::storm) exchange(tiers, decisions);
  for (; mode == StormMode::flood && in_flight + 2 <= max_in_flight_; in_flight += 2)
    exchange(tiers, decisions);
}

}  // namespace fovea::precision
