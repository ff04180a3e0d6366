// What changing tiers gained over tiers that stay: the policy beside fixed mixes with the same number of
// experts in each tier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/live/snapshot_ring.h"
#include "engine/api/precision.h"
#include "ui/live/live_data.h"

namespace fovea::app {

inline constexpr double gain_margin = 0.005;              // of the uses
inline constexpr std::int64_t fewest_uses_per_slot = 20;  // before anything is said

struct GainInputs {
  std::span<const std::uint32_t> uses;          // [units] since the start
  std::span<const std::int64_t> hits;           // [tiers] since the start, as the policy served them
  std::int64_t high_slots = 0;                  // the most experts that the highest tier held at once
  std::span<const float> calibrated_uses = {};  // [units]; empty: the store's calibration counted none
  // Without those. Both empty until the profile is complete: what they were when it was.
  std::span<const std::uint32_t> profile_uses = {};  // [units]
  std::span<const std::int64_t> profile_hits = {};   // [tiers]
};

// Experts may be spread over the layers in any way by the fixed mixes. Experts of one size are assumed.
ui::PolicyGain policy_gain(const GainInputs& inputs);

// What a fixed mix from the session's start is chosen by: the uses of its first tokens.
struct SessionStart {
  // Each moment, from the first on; what was not seen from the start is no profile.
  void note(const SnapshotNumbers& numbers, const ui::MapFrame& frame);

  std::vector<std::uint32_t> uses;  // [units] when the profile was complete; empty until then
  std::vector<std::int64_t> hits;   // [tiers]
};

// Of the moment `index` of a session or a recording, of which `start` holds the beginning.
ui::PolicyGain policy_gain(PolicyKind policy, const SnapshotRing& ring, std::int64_t index,
                           const ui::MapFrame& frame, std::span<const float> calibrated_uses,
                           const SessionStart& start);

}  // namespace fovea::app
