// What the coming tokens will use: a mixture of what a calibration counted and of what the conversation used
// lately, over several time scales. How much each of them counts is learnt from how well it foretold the
// tokens of a horizon before any of them was seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/precision/hotness.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

inline constexpr std::size_t max_scales = 8;

struct ExpectationSettings {
  // Tokens after which an observation counts half, one for each time scale; at most max_scales.
  std::vector<std::int64_t> half_lives = {};
  // Of the calibration's profile, then of each time scale; empty: all alike. Their sum is 1.
  std::vector<double> weights = {};
  std::int64_t weights_half_life = 4096;  // tokens, of what the weights are learnt from; 0: they stay
  // Tokens for which an expectation is judged. What moves shall stay for a while: the next token alone is
  // told best by a memory so short that everything would move for it.
  std::int64_t horizon_tokens = 256;
};

class Expectation {
 public:
  // Without world.uses the first profile takes all units of a layer as used alike.
  Expectation(const PolicyWorld& world, const ExpectationSettings& settings);

  void observe(const Observation& observation);
  // As if the tokens before had used that, [units], each layer's sum 1: what uses() told of the same work, in
  // which the calibration's profile has its part already, so that it counts little at first.
  void recall(std::span<const float> uses);
  // [units], of which those of [first, last) are brought up to date: expected share of the layer's gates; a
  // layer's sum is 1.
  std::span<const float> uses(std::int64_t first, std::int64_t last);
  // Of the calibration's profile, then of each time scale.
  std::span<const double> weights() const { return weights_; }
  // Mean of ln p over everything observed, by the router's weights: p was expected of an expert when the
  // horizon began in which it was chosen. Higher is better; −ln(experts) is knowing nothing.
  double log_likelihood() const { return gates_ > 0 ? log_sum_ / gates_ : 0; }

 private:
  void begin_scales(std::span<const float> uses);
  void learn(const Observation& observation);
  void begin_horizon();
  double layer_sum(const Hotness& scale, std::int32_t layer) const;

  ExpectationSettings settings_;
  std::vector<std::int32_t> layer_of_;  // [units]
  std::vector<std::int32_t> first_unit_;
  std::vector<float> prior_;      // [units]
  std::vector<Hotness> scales_;   // one for each half-life
  std::vector<double> weights_;   // [1 + scales]
  std::vector<double> credit_;    // [1 + scales] of the pass that is observed
  std::vector<float> foretold_;   // [units, 1 + scales] when the horizon began
  std::int64_t seen_tokens_ = 0;  // of the horizon
  std::vector<float> uses_;
  double log_sum_ = 0, gates_ = 0;
};

}  // namespace fovea::precision
