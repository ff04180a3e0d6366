// Fovea's own policy: from the best fixed mix of the calibration on, units of all layers and tiers change
// places where what the coming tokens are expected to use makes that worth it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// Chosen on replays of 24,576 experts that are used locally in time, where more gained nothing.
constexpr std::int32_t fovea_swaps_at_once(const FoveaSettings& settings, std::int64_t units) {
  if (settings.in_flight > 0) return settings.in_flight;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(units / 96, 64, 1024));
}

// With what they leave open as it is usual in such a world.
FoveaSettings usual_settings(const PolicyWorld& world, FoveaSettings settings);

// `first` [units]: the tiers to begin with, whose numbers stay (plan_static's); within the capacities. Units
// on the host count in what is expected and have no tier.
//   ErrorKind::invalid  a setting out of its range, by name
//   ErrorKind::memory   `first` exceeds the capacities
Result<std::unique_ptr<Policy>> make_fovea(const PolicyWorld& world, const FoveaSettings& settings,
                                           std::vector<std::uint8_t> first);

}  // namespace fovea::precision
