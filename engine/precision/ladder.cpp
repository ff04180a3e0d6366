#include "engine/precision/ladder.h"

#include <algorithm>

#include "engine/precision/errors.h"

namespace fovea::precision {

std::vector<std::int32_t> ladder_order(const PolicyWorld& world) {
  std::vector<std::int32_t> order;
  for (std::int32_t unit = 0; unit < world.units(); ++unit) {
    if (!world.is_on_host(unit)) order.push_back(unit);
  }
  if (world.weight_divergence.empty()) return order;
  std::ranges::stable_sort(order, {}, [&](std::int32_t unit) {
    return world.weight_divergence[index((unit + 1) * world.tiers() - 1)];
  });
  return order;
}

Result<void> check_ladder(std::int64_t tiers) {
  if (tiers > 1) return {};
  return fail(phrases::option_place("--tiers"), errors::ladder_of_one_tier());
}

Ladder::Ladder(const PolicyWorld& world)
    : order_(ladder_order(world)), rungs_(world.tiers() - 1), all_units_(world.units()) {}

std::vector<std::uint8_t> Ladder::top() const {
  std::vector<std::uint8_t> tiers(index(all_units_), no_tier);
  for (const std::int32_t unit : order_) tiers[index(unit)] = 0;
  return tiers;
}

bool Ladder::propose(std::int64_t steps, std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                     const Decision& why, std::vector<Decision>& decisions) const {
  if (units() == 0) return true;
  std::int32_t room = ladder_swaps_at_once - in_flight;
  bool there = true;
  const auto move = [&](std::int64_t place, bool down) {
    const std::int32_t unit = order_[index(place)];
    const auto target = static_cast<std::uint8_t>(steps / units() + (place < steps % units() ? 1 : 0));
    const std::uint8_t tier = tiers[index(unit)];
    if (down ? tier >= target : tier <= target) return;
    there = false;
    if (room-- <= 0) return;
    decisions.push_back(down ? why : Decision{.reason = SwapReason::prompt});
    decisions.back().unit = unit;
    decisions.back().target = target;
  };
  for (std::int64_t place = units() - 1; place >= 0; --place) move(place, false);
  for (std::int64_t place = 0; place < units(); ++place) move(place, true);
  return there;
}

void Ladder::bring(std::int64_t begin, std::int64_t end, std::vector<Decision>& decisions) const {
  end = std::min({end, steps(), begin + ladder_swaps_at_once});
  for (std::int64_t step = begin; step < end; ++step)
    decisions.push_back({.unit = order_[index(step % units())],
                         .target = static_cast<std::uint8_t>(step / units() + 1),
                         .ahead = true});
}

}  // namespace fovea::precision
