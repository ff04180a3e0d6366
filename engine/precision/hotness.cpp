#include "engine/precision/hotness.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace fovea::precision {
namespace {

constexpr double smallest_scale = 1e-100;  // values grow as the scale falls; far from either's limits

}  // namespace

Hotness::Hotness(std::span<const std::int32_t> first_unit, const HotnessSettings& settings,
                 std::span<const float> begin)
    : settings_(settings) {
  for (std::size_t l = 0; l + 1 < first_unit.size(); ++l) {
    layers_.push_back({.first = first_unit[l], .units = first_unit[l + 1] - first_unit[l]});
    layer_of_.insert(layer_of_.end(), index(layers_.back().units), static_cast<std::int32_t>(l));
  }
  values_.assign(layer_of_.size(), 0);
  all_.assign(layer_of_.size(), 0);
  for (std::size_t u = 0; u < begin.size(); ++u) {
    values_[u] = static_cast<double>(begin[u]);
    layers_[index(layer_of_[u])].sum += values_[u];
  }
}

double Hotness::decay(std::int64_t tokens) {
  if (settings_.smoothing_tokens <= 0) return settings_.smoothing;
  if (tokens != decay_tokens_) {
    decay_tokens_ = tokens;
    decay_ = std::pow(settings_.smoothing,
                      static_cast<double>(tokens) / static_cast<double>(settings_.smoothing_tokens));
  }
  return decay_;
}

// Takes the scale into the values, before it becomes too small.
void Hotness::fold(Layer& layer) {
  layer.sum = 0;
  for (std::int32_t u = layer.first; u < layer.first + layer.units; ++u)
    layer.sum += values_[index(u)] *= layer.scale;
  layer.scale = 1;
}

void Hotness::begin_pass(const Observation& observation) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const std::int64_t tokens = observation.routed.empty() ? observation.tokens : observation.routed[l];
    if (tokens <= 0) continue;  // the layer was not run: nothing is known about it
    const double a = decay(tokens);
    layer.scale *= a;
    if (layer.scale < smallest_scale) fold(layer);
    layer.gain = (1 - a) / layer.scale / static_cast<double>(tokens);
  }
}

void Hotness::observe(const Observation& observation) {
  begin_pass(observation);
  for (const ExpertUse& use : observation.uses) {
    Layer& layer = layers_[index(layer_of_[index(use.unit)])];
    const double added = layer.gain * static_cast<double>(use.gate_sum);
    values_[index(use.unit)] += added;
    layer.sum += added;
  }
}

double Hotness::layer_mean(std::int64_t layer) const {
  const Layer& l = layers_[index(layer)];
  return l.units > 0 ? l.sum * l.scale / l.units : 0;
}

std::span<const float> Hotness::all() const {
  for (const Layer& layer : layers_) {
    for (std::int32_t u = layer.first; u < layer.first + layer.units; ++u)
      all_[index(u)] = static_cast<float>(values_[index(u)] * layer.scale);
  }
  return all_;
}

float top_tenth_share(std::span<const float> hotness, std::vector<float>& scratch) {
  if (hotness.empty()) return 0;
  scratch.assign(hotness.begin(), hotness.end());
  const auto top = scratch.begin() + std::max<std::ptrdiff_t>(1, std::ssize(scratch) / 10);
  std::nth_element(scratch.begin(), top - 1, scratch.end(), std::greater<>());
  const double most = std::reduce(scratch.begin(), top, 0.0);
  const double all = std::reduce(top, scratch.end(), most);
  return all > 0 ? static_cast<float>(most / all) : 0;
}

}  // namespace fovea::precision
