#include "engine/selftest/restless.h"

namespace fovea::selftest {

using precision::Decision;

Restless::Restless(const precision::PolicyWorld& world, std::shared_ptr<Weather> weather)
    : begun_(static_cast<std::size_t>(world.units()), no_tier),
      lowest_(static_cast<std::uint8_t>(world.tiers() - 1)),
      weather_(std::move(weather)) {
  std::int64_t high = 0;
  for (std::int64_t unit = 0; unit < world.units(); ++unit) {
    if (!world.is_on_host(unit))
      begun_[static_cast<std::size_t>(unit)] = high++ < world.capacity[0] ? 0 : lowest_;
  }
}

// The next unit of that tier; five steps on, so that neighbours come late.
std::int32_t Restless::next(std::span<const std::uint8_t> tiers, std::uint8_t wanted) {
  for (std::size_t tried = 0; tried < tiers.size(); ++tried) {
    last_ = (last_ + 5) % static_cast<std::int32_t>(tiers.size());
    if (tiers[static_cast<std::size_t>(last_)] == wanted) break;
  }
  return last_;
}

void Restless::go_home(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                       std::vector<Decision>& decisions) const {
  std::vector<std::int32_t> up, down;
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    if (tiers[unit] > begun_[unit]) up.push_back(static_cast<std::int32_t>(unit));
    if (tiers[unit] < begun_[unit]) down.push_back(static_cast<std::int32_t>(unit));
  }
  weather_->home = up.empty() && down.empty() && in_flight == 0;
  // One pair in a pass: there are spare blocks for that.
  if (!up.empty()) decisions.push_back({.unit = up.front(), .target = 0, .reason = SwapReason::requested});
  if (!down.empty())
    decisions.push_back({.unit = down.front(), .target = lowest_, .reason = SwapReason::requested});
}

void Restless::propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                       std::vector<Decision>& decisions) {
  if (!weather_->storm) return go_home(tiers, in_flight, decisions);
  weather_->home = false;
  const std::int32_t up = next(tiers, lowest_), down = next(tiers, 0);
  decisions.push_back({.unit = up, .target = 0, .reason = SwapReason::requested});
  decisions.push_back({.unit = down, .target = lowest_, .reason = SwapReason::requested});
}

}  // namespace fovea::selftest
