#include "engine/precision/quality_meter.h"

#include <algorithm>

#include "engine/precision/best_mix.h"

namespace fovea::precision {

QualityMeter::QualityMeter(const PolicyWorld& world) : world_(world), gates_(index(world.units())) {
  const std::vector<double> of_a_use = damage_of_use(world);
  damage_.assign(of_a_use.begin(), of_a_use.end());
  calibrated_ = best_fill(world, expected_loss(world));
  if (world.any_mix_bytes > 0) {
    for (std::int64_t unit = 0; unit < world.units(); ++unit) {
      const std::uint8_t tier = calibrated_[index(unit)];
      if (tier != no_tier) mix_bytes_ += world.unit_bytes[index(unit * world.tiers() + tier)];
      // The host's units take none of it.
      for (std::int64_t t = 0; t < world.tiers() && world.is_on_host(unit); ++t)
        world_.unit_bytes[index(unit * world.tiers() + t)] = 0;
    }
    calibrated_ = fixed_mix(expected_loss(world));
  }
  state_.in_nats = world.damage_is_divergence;
  state_.has_calibration = !world.uses.empty();
}

double QualityMeter::damage(std::int32_t unit, std::uint8_t tier) const {
  if (world_.is_on_host(unit)) return 0;
  const std::int64_t lowest = world_.lowest_tier();
  return static_cast<double>(damage_[index(unit * world_.tiers() + (tier == no_tier ? lowest : tier))]);
}

std::vector<std::uint8_t> QualityMeter::fixed_mix(const std::vector<double>& loss) const {
  if (mix_bytes_ > 0) {
    auto mix = best_mix(
        {.tiers = world_.tiers(), .bytes = world_.unit_bytes, .loss = loss, .budget_bytes = mix_bytes_});
    if (mix) return std::move(mix->tiers);
  }
  return best_fill(world_, loss);
}

void QualityMeter::observe(const Observation& observation, std::span<const std::uint8_t> tiers) {
  if (observation.uses.empty()) return;  // linear layers: nobody chose them
  double loss = 0, high = 0, low = 0, calibrated = 0, start = 0;
  for (const ExpertUse& use : observation.uses) {
    const auto gate = static_cast<double>(use.gate_sum);
    const std::size_t unit = index(use.unit);
    loss += gate * damage(use.unit, tiers[unit]);
    high += gate * damage(use.unit, 0);
    low += gate * damage(use.unit, no_tier);
    calibrated += gate * damage(use.unit, calibrated_[unit]);
    gates_[unit] += gate;
    if (!start_.empty()) start += gate * damage(use.unit, start_[unit]);
  }
  state_.tokens += observation.tokens;
  state_.loss += loss;
  state_.all_high += high;
  state_.all_low += low;
  state_.calibrated += calibrated;
  if (start_.empty()) {
    look_back(state_.tokens, state_.all_low, state_.all_high);
    if (state_.tokens >= profile_tokens) choose_start();
    return;
  }
  state_.tokens_since += observation.tokens;
  state_.loss_since += loss;
  state_.high_since += high;
  state_.low_since += low;
  state_.calibrated_since += calibrated;
  state_.start_since += start;
  look_back(state_.tokens_since, state_.low_since, state_.high_since);
}

void QualityMeter::choose_start() {
  start_ = fixed_mix(expected_loss(world_, gates_));
  std::ranges::fill(gates_, 0.0);
  next_look_ = hindsight_tokens;
  state_.hindsight = {};
}

void QualityMeter::look_back(std::int64_t tokens, double low, double high) {
  if (tokens < next_look_) return;
  next_look_ = tokens + std::max(tokens / 16, mix_bytes_ > 0 ? hindsight_tokens : 0);
  std::vector<double> lost(damage_.begin(), damage_.end());
  const std::size_t tiers = index(world_.tiers());
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] *= gates_[i / tiers];
  const std::vector<std::uint8_t> best = fixed_mix(lost);
  double loss = 0;
  for (std::size_t unit = 0; unit < gates_.size(); ++unit)
    loss += gates_[unit] * damage(static_cast<std::int32_t>(unit), best[unit]);
  state_.hindsight = {.tokens = tokens, .loss = loss, .low = low, .high = high};
}

}  // namespace fovea::precision
