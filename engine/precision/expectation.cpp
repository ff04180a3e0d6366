#include "engine/precision/expectation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea::precision {
namespace {

// world.uses with a sum of 1 in each layer.
std::vector<float> profile_of(const PolicyWorld& world) {
  std::vector<float> profile(index(world.units()), 1);
  if (!world.uses.empty()) profile = world.uses;
  for (std::int64_t layer = 0; layer < world.layers(); ++layer) {
    const auto begin = profile.begin() + world.first_unit[index(layer)];
    const auto end = profile.begin() + world.first_unit[index(layer) + 1];
    const float sum = std::reduce(begin, end);
    for (auto at = begin; at != end; ++at) *at = sum > 0 ? *at / sum : 1 / static_cast<float>(end - begin);
  }
  return profile;
}

}  // namespace

Expectation::Expectation(const PolicyWorld& world, const ExpectationSettings& settings)
    : settings_(settings),
      first_unit_(world.first_unit),
      prior_(profile_of(world)),
      weights_(settings.weights) {
  for (std::int64_t layer = 0; layer < world.layers(); ++layer)
    layer_of_.insert(layer_of_.end(),
                     index(world.first_unit[index(layer) + 1] - world.first_unit[index(layer)]),
                     static_cast<std::int32_t>(layer));
  if (const std::size_t parts = 1 + settings.half_lives.size(); weights_.empty())
    weights_.assign(parts, 1.0 / static_cast<double>(parts));
  credit_.assign(weights_.size(), 0);
  foretold_.assign(prior_.size() * weights_.size(), 0);
  uses_.assign(prior_.size(), 0);
  begin_scales(prior_);
}

void Expectation::recall(std::span<const float> uses) {
  constexpr double of_calibration = 0.1;
  const double rest = std::reduce(weights_.begin() + 1, weights_.end());
  for (double& weight : weights_) weight *= rest > 0 ? (1 - of_calibration) / rest : 1;
  weights_.front() = rest > 0 ? of_calibration : 1;
  begin_scales(uses);
}

void Expectation::begin_scales(std::span<const float> uses) {
  scales_.clear();
  for (const std::int64_t half_life : settings_.half_lives)
    scales_.emplace_back(first_unit_, HotnessSettings{.smoothing = 0.5, .smoothing_tokens = half_life}, uses);
  begin_horizon();
}

void Expectation::observe(const Observation& observation) {
  learn(observation);
  for (Hotness& scale : scales_) scale.observe(observation);
  seen_tokens_ += observation.tokens;
  if (seen_tokens_ >= settings_.horizon_tokens) begin_horizon();
}

void Expectation::begin_horizon() {
  seen_tokens_ = 0;
  const std::size_t parts = weights_.size();
  for (std::size_t unit = 0; unit < prior_.size(); ++unit) foretold_[unit * parts] = prior_[unit];
  for (std::size_t s = 0; s < scales_.size(); ++s) {
    const std::span<const float> hotness = scales_[s].all();
    for (std::size_t unit = 0; unit < prior_.size(); ++unit) {
      const double sum = layer_sum(scales_[s], layer_of_[unit]);
      foretold_[unit * parts + s + 1] =
          sum > 0 ? static_cast<float>(static_cast<double>(hotness[unit]) / sum) : 0;
    }
  }
}

// One step of expectation maximisation for a mixture: each profile is credited with its share of what was
// foretold of each expert that was chosen.
void Expectation::learn(const Observation& observation) {
  std::ranges::fill(credit_, 0);
  const std::size_t parts = weights_.size();
  double all = 0;
  for (const ExpertUse& use : observation.uses) {
    const float* const foretold = foretold_.data() + index(use.unit) * parts;
    double expected = 0;
    for (std::size_t k = 0; k < parts; ++k) expected += weights_[k] * static_cast<double>(foretold[k]);
    if (!(expected > 0)) continue;
    const auto gate = static_cast<double>(use.gate_sum);
    log_sum_ += gate * std::log(expected);
    all += gate;
    for (std::size_t k = 0; k < parts; ++k)
      credit_[k] += gate * weights_[k] * static_cast<double>(foretold[k]) / expected;
  }
  gates_ += all;
  if (settings_.weights_half_life <= 0 || !(all > 0)) return;
  const double keep = std::pow(
      0.5, static_cast<double>(observation.tokens) / static_cast<double>(settings_.weights_half_life));
  for (std::size_t k = 0; k < parts; ++k) weights_[k] = keep * weights_[k] + (1 - keep) * credit_[k] / all;
}

std::span<const float> Expectation::uses(std::int64_t first, std::int64_t last) {
  double factors[max_scales];  // of the layer that is looked at
  std::int32_t layer = -1;
  for (std::int64_t unit = first; unit < last; ++unit) {
    if (layer_of_[index(unit)] != layer) {
      layer = layer_of_[index(unit)];
      for (std::size_t s = 0; s < scales_.size(); ++s) {
        const double sum = layer_sum(scales_[s], layer);
        factors[s] = sum > 0 ? weights_[s + 1] / sum : 0;
      }
    }
    double use = weights_[0] * static_cast<double>(prior_[index(unit)]);
    for (std::size_t s = 0; s < scales_.size(); ++s)
      use += factors[s] * scales_[s].of(static_cast<std::int32_t>(unit));
    uses_[index(unit)] = static_cast<float>(use);
  }
  return uses_;
}

double Expectation::layer_sum(const Hotness& scale, std::int32_t layer) const {
  const std::int32_t units = first_unit_[index(layer) + 1] - first_unit_[index(layer)];
  return static_cast<double>(units) * scale.layer_mean(layer);
}

}  // namespace fovea::precision
