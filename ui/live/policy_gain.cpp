#include "ui/live/policy_gain.h"

#include <algorithm>
#include <numeric>

namespace fovea::ui {
namespace {

std::int64_t sum(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

double share(double part, std::int64_t whole) {
  return whole > 0 ? part / static_cast<double>(whole) : 0;
}

// The units by how much they were used, most first.
std::vector<std::uint32_t> ranked(std::span<const std::uint32_t> uses) {
  std::vector<std::uint32_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  return order;
}

// Mean bits of a use when the most used units have the highest tier, and so on down.
double bits_of_best(const std::vector<std::uint32_t>& order, const GainInputs& in) {
  double bits = 0;
  std::size_t next = 0;
  for (std::size_t tier = 0; tier < in.bits_per_weight.size(); ++tier) {
    const auto slots = tier + 1 == in.bits_per_weight.size() ? static_cast<std::int64_t>(order.size())
                                                             : in.units_at_tier[tier];
    for (std::int64_t slot = 0; slot < slots && next < order.size(); ++slot, ++next)
      bits += in.bits_per_weight[tier] * in.uses[order[next]];
  }
  return bits;
}

// Uses after the profile: what a set chosen by it served, what the policy served.
void judge_profile(const GainInputs& in, PolicyGain& gain) {
  if (in.profile_uses.size() != in.uses.size() || in.profile_hits.size() != in.hits.size()) return;
  const std::int64_t after = gain.uses - sum(in.profile_hits);
  if (after < fewest_uses_per_slot * gain.high_slots || gain.high_slots == 0) return;
  const auto order = ranked(in.profile_uses);
  std::int64_t served = 0;
  for (std::int64_t slot = 0; slot < gain.high_slots; ++slot) {
    const std::uint32_t unit = order[static_cast<std::size_t>(slot)];
    served += in.uses[unit] - in.profile_uses[unit];
  }
  gain.profiled = true;
  gain.profile_share = share(static_cast<double>(served), after);
  gain.policy_after_profile_share = share(static_cast<double>(in.hits[0] - in.profile_hits[0]), after);
}

}  // namespace

PolicyGain policy_gain(const GainInputs& in) {
  PolicyGain gain;
  if (in.hits.empty() || in.units_at_tier.empty()) return gain;
  gain.uses = std::accumulate(in.uses.begin(), in.uses.end(), std::int64_t{0});
  gain.high_slots = std::min<std::int64_t>(in.units_at_tier[0], std::ssize(in.uses));
  gain.policy_share = share(static_cast<double>(in.hits[0]), gain.uses);
  const auto order = ranked(in.uses);
  std::int64_t served = 0;
  for (std::int64_t slot = 0; slot < gain.high_slots; ++slot)
    served += in.uses[order[static_cast<std::size_t>(slot)]];
  gain.best_fixed_share = share(static_cast<double>(served), gain.uses);
  double policy_bits = 0;
  for (std::size_t tier = 0; tier < in.hits.size() && tier < in.bits_per_weight.size(); ++tier)
    policy_bits += in.bits_per_weight[tier] * static_cast<double>(in.hits[tier]);
  gain.policy_bits = share(policy_bits, gain.uses);
  gain.best_fixed_bits = share(bits_of_best(order, in), gain.uses);
  judge_profile(in, gain);
  if (gain.high_slots == 0 || gain.uses < fewest_uses_per_slot * gain.high_slots) return gain;
  gain.verdict = gain.gain() > gain_margin    ? GainVerdict::gains
                 : gain.gain() < -gain_margin ? GainVerdict::loses
                                              : GainVerdict::as_good;
  return gain;
}

}  // namespace fovea::ui
