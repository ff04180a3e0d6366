// How much each unit is used lately: the smoothed gate of DynaExq's Eq. 2. A pass costs what its uses cost,
// not what the units cost: all units of a layer decay by one factor, which is kept apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/precision/policy.h"

namespace fovea::precision {

struct HotnessSettings {
  double smoothing = 0.9;  // α
  // Tokens that one α stands for. A pass over n tokens decays by α^(n / smoothing_tokens), so that a prefill
  // chunk weighs as its tokens would have weighed one after the other. 0: each pass decays by α, however many
  // tokens it has, as Eq. 2 is written.
  std::int64_t smoothing_tokens = 50;
};

class Hotness {
 public:
  // `begin` [units]: what to start from; empty: 0.
  Hotness(std::span<const std::int32_t> first_unit, const HotnessSettings& settings,
          std::span<const float> begin = {});

  // S ← a S + (1 − a) g: g is the mean of the gate over the tokens that the unit's layer routed, 0 for units
  // that were not chosen.
  void observe(const Observation& observation);

  std::int64_t layers() const { return static_cast<std::int64_t>(layers_.size()); }
  double of(std::int32_t unit) const {
    return values_[index(unit)] * layers_[index(layer_of_[index(unit)])].scale;
  }
  double layer_mean(std::int64_t layer) const;
  std::span<const float> all() const;  // [units], O(units)

 private:
  struct Layer {
    std::int32_t first = 0, units = 0;
    double scale = 1;  // S = value · scale
    double gain = 0;   // (1 − a) / scale of the pass being observed
    double sum = 0;    // of the values
  };
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  double decay(std::int64_t tokens);
  void begin_pass(const Observation& observation);
  void fold(Layer& layer);

  HotnessSettings settings_;
  std::vector<Layer> layers_;
  std::vector<std::int32_t> layer_of_;  // [units]
  std::vector<double> values_;          // [units]
  std::int64_t decay_tokens_ = -1;      // that decay_ is for
  double decay_ = 1;
  mutable std::vector<float> all_;
};

// Share of a layer's hotness that its hottest tenth (at least one unit) holds: 0.1 when all are alike, 1 when
// nothing else is used; 0 without any use. `scratch` saves the allocation.
float top_tenth_share(std::span<const float> hotness, std::vector<float>& scratch);

}  // namespace fovea::precision
