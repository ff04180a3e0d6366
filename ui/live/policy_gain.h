// What changing tiers gained over tiers that stay: the policy beside fixed mixes with the same number of
// experts in each tier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea::ui {

enum class GainVerdict : std::uint8_t {
  too_early,  // too few uses to say
  gains,      // it beats the best fixed mix, though that one knows the session beforehand
  ahead,      // not that one, but one that could really be chosen
  as_good,    // within the margin of the best one
  loses,      // the best one would have served more
};

// What a fixed mix that one could really have is chosen by.
enum class FixedMix : std::uint8_t { none, calibration, session_start };

// Everything is of the same uses: all, or, with a mix that the session's start chose, those since.
struct PolicyGain {
  GainVerdict verdict = GainVerdict::too_early;
  std::int64_t uses = 0;        // tokens' uses of experts that it is judged on
  std::int64_t high_slots = 0;  // experts that the highest tier holds
  double policy_share = 0;      // of the uses that the highest tier served
  double best_fixed_share = 0;  // … of the best fixed mix, chosen when the session was known
  double chosen_share = 0;      // … of one that could really be chosen
  FixedMix chosen_by = FixedMix::none;
  // The same, counting every tier by its bits: what a use was served with on average.
  double policy_bits = 0, best_fixed_bits = 0;

  double gain() const { return policy_share - best_fixed_share; }
};

inline constexpr double gain_margin = 0.005;              // of the uses
inline constexpr std::int64_t fewest_uses_per_slot = 20;  // before anything is said

struct GainInputs {
  std::span<const std::uint32_t> uses;          // [units] since the start
  std::span<const std::int64_t> hits;           // [tiers] since the start, as the policy served them
  std::span<const std::int64_t> units_at_tier;  // [tiers] the most that were published at once
  std::span<const double> bits_per_weight;      // [tiers]
  std::span<const float> calibrated_uses = {};  // [units]; empty: the store's calibration counted none
  // Without those. Both empty until the profile is complete: what they were when it was.
  std::span<const std::uint32_t> profile_uses = {};  // [units]
  std::span<const std::int64_t> profile_hits = {};   // [tiers]
};

// Experts may be spread over the layers in any way by the fixed mixes. Experts of one size are assumed.
PolicyGain policy_gain(const GainInputs& inputs);

}  // namespace fovea::ui
