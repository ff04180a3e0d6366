#include "app/live/policy_gain.h"

#include <algorithm>
#include <numeric>

namespace fovea::app {
namespace {

constexpr std::int64_t kProfileTokens = 2048;  // that a fixed mix from the session's start is chosen by

double share(double part, std::int64_t whole) {
  return whole > 0 ? part / static_cast<double>(whole) : 0;
}

// The units by how much they were used, most first.
template <class Number>
std::vector<std::uint32_t> ranked(std::span<const Number> uses) {
  std::vector<std::uint32_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  return order;
}

// What the first `slots` units of an order served.
double served_by(const std::vector<std::uint32_t>& order, std::span<const std::uint32_t> uses,
                 std::int64_t slots) {
  double served = 0;
  for (std::int64_t slot = 0; slot < slots; ++slot) served += uses[order[static_cast<std::size_t>(slot)]];
  return served;
}

template <class Number>
std::vector<Number> since(std::span<const Number> now, std::span<const Number> then) {
  std::vector<Number> more(now.begin(), now.end());
  for (std::size_t i = 0; i < more.size(); ++i) more[i] -= then[i];
  return more;
}

}  // namespace

ui::PolicyGain policy_gain(const GainInputs& in) {
  ui::PolicyGain gain;
  if (in.hits.empty()) return gain;
  const std::int64_t slots = std::min<std::int64_t>(in.high_slots, std::ssize(in.uses));
  std::vector<std::uint32_t> uses(in.uses.begin(), in.uses.end());
  std::vector<std::int64_t> hits(in.hits.begin(), in.hits.end());
  const auto count = [&] { return std::accumulate(uses.begin(), uses.end(), std::int64_t{0}); };
  if (!uses.empty() && in.calibrated_uses.size() == uses.size()) {
    gain.chosen_by = ui::FixedMix::calibration;
  } else if (in.profile_uses.size() == uses.size() && in.profile_hits.size() == hits.size()) {
    uses = since(in.uses, in.profile_uses);
    hits = since(in.hits, in.profile_hits);
    if (slots > 0 && count() >= fewest_uses_per_slot * slots) {
      gain.chosen_by = ui::FixedMix::session_start;
    } else {
      uses.assign(in.uses.begin(), in.uses.end());
      hits.assign(in.hits.begin(), in.hits.end());
    }
  }
  gain.uses = count();
  gain.policy_share = share(static_cast<double>(hits[0]), gain.uses);
  const auto order = ranked<std::uint32_t>(uses);
  gain.best_fixed_share = share(served_by(order, uses, slots), gain.uses);
  if (gain.chosen_by != ui::FixedMix::none) {
    const auto chosen =
        gain.chosen_by == ui::FixedMix::calibration ? ranked(in.calibrated_uses) : ranked(in.profile_uses);
    gain.chosen_share = share(served_by(chosen, uses, slots), gain.uses);
  }
  if (slots == 0 || gain.uses < fewest_uses_per_slot * slots) return gain;
  const double over_best = gain.policy_share - gain.best_fixed_share;
  const bool ahead =
      gain.chosen_by != ui::FixedMix::none && gain.policy_share - gain.chosen_share > gain_margin;
  gain.best_fixed_ahead = over_best < -gain_margin;
  gain.verdict = over_best > gain_margin ? ui::GainVerdict::gains
                 : ahead                 ? ui::GainVerdict::ahead
                 : gain.best_fixed_ahead ? ui::GainVerdict::loses
                                         : ui::GainVerdict::as_good;
  gain.fixed_mix_would_do =
      gain.verdict == ui::GainVerdict::loses ||
      (gain.verdict == ui::GainVerdict::as_good && gain.chosen_by != ui::FixedMix::none);
  return gain;
}

void SessionStart::note(const SnapshotNumbers& numbers, const ui::MapFrame& frame) {
  if (!uses.empty() || numbers.tokens < kProfileTokens || numbers.tokens > 2 * kProfileTokens) return;
  uses = frame.uses;
  for (const TierState& tier : numbers.tiers) hits.push_back(tier.hits);
}

ui::PolicyGain policy_gain(PolicyKind policy, const SnapshotRing& ring, std::int64_t index,
                           const ui::MapFrame& frame, std::span<const float> calibrated_uses,
                           const SessionStart& start) {
  if (policy == PolicyKind::none) return {.verdict = ui::GainVerdict::no_policy};
  if (policy != PolicyKind::dynaexq && policy != PolicyKind::fovea) return {.verdict = ui::GainVerdict::tiers_stay};
  const SnapshotNumbers& numbers = ring.moment(index).numbers;
  std::vector<std::int64_t> hits;
  for (const TierState& tier : numbers.tiers) hits.push_back(tier.hits);
  std::int64_t high_slots = 0;
  for (std::int64_t each = ring.first(); each <= index; ++each) {
    const auto& tiers = ring.moment(each).numbers.tiers;
    if (!tiers.empty()) high_slots = std::max(high_slots, tiers[0].units);
  }
  // The policy does not choose for units that are the processor's, and their hits count for no tier.
  std::vector<std::uint32_t> uses = frame.uses;
  for (std::size_t unit = 0; unit < uses.size(); ++unit)
    if (frame.tier[unit] == host_tier) uses[unit] = 0;
  GainInputs inputs{.uses = uses, .hits = hits, .high_slots = high_slots, .calibrated_uses = calibrated_uses};
  if (numbers.tokens > kProfileTokens) {
    inputs.profile_uses = start.uses;
    inputs.profile_hits = start.hits;
  }
  return policy_gain(inputs);
}

}  // namespace fovea::app
