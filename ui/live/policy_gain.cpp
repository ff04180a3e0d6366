#include "ui/live/policy_gain.h"

#include <algorithm>
#include <numeric>

namespace fovea::ui {
namespace {

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

// Mean bits of a use when the most used units have the highest tier, and so on down.
double bits_of_best(const std::vector<std::uint32_t>& order, std::span<const std::uint32_t> uses,
                    const GainInputs& in) {
  double bits = 0;
  std::size_t next = 0;
  for (std::size_t tier = 0; tier < in.bits_per_weight.size(); ++tier) {
    const auto slots = tier + 1 == in.bits_per_weight.size() ? static_cast<std::int64_t>(order.size())
                                                             : in.units_at_tier[tier];
    for (std::int64_t slot = 0; slot < slots && next < order.size(); ++slot, ++next)
      bits += in.bits_per_weight[tier] * uses[order[next]];
  }
  return bits;
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

PolicyGain policy_gain(const GainInputs& in) {
  PolicyGain gain;
  if (in.hits.empty() || in.units_at_tier.empty()) return gain;
  gain.high_slots = std::min<std::int64_t>(in.units_at_tier[0], std::ssize(in.uses));
  std::vector<std::uint32_t> uses(in.uses.begin(), in.uses.end());
  std::vector<std::int64_t> hits(in.hits.begin(), in.hits.end());
  const auto count = [&] { return std::accumulate(uses.begin(), uses.end(), std::int64_t{0}); };
  if (!uses.empty() && in.calibrated_uses.size() == uses.size()) {
    gain.chosen_by = FixedMix::calibration;
  } else if (in.profile_uses.size() == uses.size() && in.profile_hits.size() == hits.size()) {
    uses = since(in.uses, in.profile_uses);
    hits = since(in.hits, in.profile_hits);
    if (gain.high_slots > 0 && count() >= fewest_uses_per_slot * gain.high_slots) {
      gain.chosen_by = FixedMix::session_start;
    } else {
      uses.assign(in.uses.begin(), in.uses.end());
      hits.assign(in.hits.begin(), in.hits.end());
    }
  }
  gain.uses = count();
  gain.policy_share = share(static_cast<double>(hits[0]), gain.uses);
  const auto order = ranked<std::uint32_t>(uses);
  gain.best_fixed_share = share(served_by(order, uses, gain.high_slots), gain.uses);
  if (gain.chosen_by != FixedMix::none) {
    const auto chosen =
        gain.chosen_by == FixedMix::calibration ? ranked(in.calibrated_uses) : ranked(in.profile_uses);
    gain.chosen_share = share(served_by(chosen, uses, gain.high_slots), gain.uses);
  }
  double policy_bits = 0;
  for (std::size_t tier = 0; tier < hits.size() && tier < in.bits_per_weight.size(); ++tier)
    policy_bits += in.bits_per_weight[tier] * static_cast<double>(hits[tier]);
  gain.policy_bits = share(policy_bits, gain.uses);
  gain.best_fixed_bits = share(bits_of_best(order, uses, in), gain.uses);
  if (gain.high_slots == 0 || gain.uses < fewest_uses_per_slot * gain.high_slots) return gain;
  gain.verdict = gain.gain() > gain_margin ? GainVerdict::gains
                 : gain.chosen_by != FixedMix::none && gain.policy_share - gain.chosen_share > gain_margin
                     ? GainVerdict::ahead
                 : gain.gain() < -gain_margin ? GainVerdict::loses
                                              : GainVerdict::as_good;
  return gain;
}

}  // namespace fovea::ui
