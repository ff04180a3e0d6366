#include "engine/precision/quality_meter.h"

#include "engine/precision/best_mix.h"

namespace fovea::precision {

QualityMeter::QualityMeter(const PolicyWorld& world) : world_(world), gates_(index(world.units())) {
  const std::vector<double> of_a_use = damage_of_use(world);
  damage_.assign(of_a_use.begin(), of_a_use.end());
  calibrated_ = best_fill(world, expected_loss(world));
  state_.in_nats = world.damage_is_divergence;
  state_.has_calibration = !world.uses.empty();
}

double QualityMeter::damage(std::int32_t unit, std::uint8_t tier) const {
  if (world_.is_on_host(unit)) return 0;
  const std::int64_t lowest = world_.tiers() - 1;
  return static_cast<double>(damage_[index(unit * world_.tiers() + (tier == no_tier ? lowest : tier))]);
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
    if (start_.empty())
      gates_[unit] += gate;
    else
      start += gate * damage(use.unit, start_[unit]);
  }
  state_.tokens += observation.tokens;
  state_.loss += loss;
  state_.all_high += high;
  state_.all_low += low;
  state_.calibrated += calibrated;
  if (start_.empty()) {
    if (state_.tokens >= profile_tokens) choose_start();
    return;
  }
  state_.tokens_since += observation.tokens;
  state_.loss_since += loss;
  state_.high_since += high;
  state_.low_since += low;
  state_.calibrated_since += calibrated;
  state_.start_since += start;
}

void QualityMeter::choose_start() {
  start_ = best_fill(world_, expected_loss(world_, gates_));
  gates_ = {};
}

}  // namespace fovea::precision
