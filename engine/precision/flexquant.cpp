#include "engine/precision/flexquant.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "engine/precision/errors.h"
#include "engine/precision/ladder.h"

namespace fovea::precision {
namespace {

// Eq. 5 of one token's entropy.
double pple(float entropy) {
  return std::exp(static_cast<double>(entropy));
}

class FlexQuant final : public Policy {
 public:
  FlexQuant(const PolicyWorld& world, const FlexQuantSettings& settings)
      : settings_(settings), ladder_(world) {}

  std::string_view name() const override { return "flexquant"; }
  std::vector<std::uint8_t> initial() const override { return ladder_.top(); }
  bool wants_entropy() const override { return true; }
  std::int64_t prompt_tokens_watched() const override {
    return settings_.threshold > 0 ? 0 : settings_.window_tokens;
  }
  bool begin_prompt() override {
    steps_ = tokens_ = 0;
    brought_ = -1;
    moving_ = false;
    window_.clear();
    prompt_.clear();
    return true;
  }
  void observe(const Observation& observation) override;
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<Decision>& decisions) override;
  std::span<const float> hotness() const override { return {}; }

 private:
  static double mean(const std::deque<double>& values) {
    return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
  }
  // PPLE below which a layer goes down; 0: nobody has said, and none goes.
  double threshold() const {
    if (settings_.threshold > 0) return settings_.threshold;
    return prompt_.empty() ? 0 : mean(prompt_);
  }

  FlexQuantSettings settings_;
  Ladder ladder_;
  std::int64_t steps_ = 0;     // down
  std::int64_t brought_ = -1;  // the step from which on the next ones were brought
  bool moving_ = false;        // the last step is not published yet
  std::int64_t tokens_ = 0;    // of the answer since then
  std::deque<double> prompt_;  // PPLE of the prompt's last tokens
  std::deque<double> window_;  // … and of the answer's
};

void FlexQuant::observe(const Observation& observation) {
  std::deque<double>& values = observation.prefill ? prompt_ : window_;
  for (const float entropy : observation.entropies) values.push_back(pple(entropy));
  while (std::ssize(values) > settings_.window_tokens) values.pop_front();
  if (!observation.prefill) tokens_ += observation.tokens;
}

void FlexQuant::propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                        std::vector<Decision>& decisions) {
  const auto go = [&](double average) {
    const Decision why{.reason = SwapReason::certain,
                       .score = static_cast<float>(average),
                       .margin = static_cast<float>(threshold() - average)};
    return ladder_.propose(steps_, tiers, in_flight, why, decisions) && in_flight == 0;
  };
  const double average = window_.empty() ? 0 : mean(window_);
  const bool there = go(average);
  if (moving_) {  // the pass that has just ended still read what was published before
    tokens_ = 0;
    moving_ = !there;
    return;
  }
  const bool enough = std::ssize(window_) == settings_.window_tokens && tokens_ >= settings_.wait_tokens;
  if (!there) return;
  if (brought_ != steps_ && !window_.empty()) {
    ladder_.bring(steps_, steps_ + settings_.layers, decisions);
    brought_ = steps_;
  }
  if (!enough || average >= threshold() || steps_ == ladder_.steps()) return;
  steps_ = std::min(steps_ + settings_.layers, ladder_.steps());
  moving_ = true;
  go(average);
}

Result<void> check_settings(const FlexQuantSettings& s) {
  const auto wrong = [](const char* name, auto value, Phrase range) {
    return fail(phrases::policy_setting_place("flexquant", name),
                errors::policy_setting(value, std::move(range)));
  };
  if (!(s.threshold == 0 || s.threshold >= 1) || !std::isfinite(s.threshold))
    return wrong("threshold", s.threshold, phrases::range_0_or_from_1());
  const Phrase from_1 = phrases::range_1_or_more();
  if (s.window_tokens < 1) return wrong("window_tokens", s.window_tokens, from_1);
  if (s.wait_tokens < 1) return wrong("wait_tokens", s.wait_tokens, from_1);
  if (s.layers < 1) return wrong("layers", s.layers, from_1);
  return {};
}

}  // namespace

Result<std::unique_ptr<Policy>> make_flexquant(const PolicyWorld& world, const FlexQuantSettings& settings) {
  FOVEA_CHECK(check(world));
  FOVEA_CHECK(check_settings(settings));
  FOVEA_CHECK(check_ladder(world.tiers()));
  return std::make_unique<FlexQuant>(world, settings);
}

}  // namespace fovea::precision
