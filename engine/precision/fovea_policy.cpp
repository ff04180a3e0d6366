#include "engine/precision/fovea_policy.h"

#include <algorithm>
#include <numeric>

#include "engine/precision/errors.h"
#include "engine/precision/exchanges.h"
#include "engine/precision/expectation.h"
#include "engine/precision/static_policy.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t cut_into = 4;  // a prompt's pass while much moves

class FoveaPolicy final : public Policy {
 public:
  FoveaPolicy(const PolicyWorld& world, const FoveaSettings& settings, std::vector<std::uint8_t> first)
      : settings_(settings),
        first_(std::move(first)),
        is_calibrated_(!world.uses.empty()),
        expectation_(world, {.half_lives = settings.half_lives,
                             .weights = settings.weights,
                             .weights_half_life = settings.weights_half_life}),
        exchanges_(world, first_, fovea_swaps_at_once(settings, world.units())) {}

  std::string_view name() const override { return "fovea"; }
  std::vector<std::uint8_t> initial() const override { return first_; }
  double prompt_wait_share() const override { return settings_.prompt_wait_share; }
  std::int64_t prompt_pass_tokens(std::int64_t most) const override {
    if (exchanges_.saved_share() <= settings_.cut_share) return most;
    return std::min(most, std::max(settings_.interval_tokens, most / cut_into));
  }
  void observe(const Observation& observation) override {
    expectation_.observe(observation);
    tokens_ += observation.tokens;
    same_numbers_for_ += observation.tokens;
    is_fresh_ = false;
  }
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<Decision>& decisions) override {
    // All units are looked at once in an interval, some of them with each token.
    const auto units = std::ssize(tiers);
    if (looked_at_ == 0 && (is_recalling_ || same_numbers_for_ >= settings_.numbers_interval_tokens)) {
      exchanges_.renumber();
      same_numbers_for_ = 0;
    }
    const std::int64_t until =
        is_recalling_ ? units : std::min(units, units * tokens_ / settings_.interval_tokens);
    exchanges_.look(expectation_.uses(looked_at_, until), tiers, looked_at_, until);
    looked_at_ = until;
    if (until < units) return;
    tokens_ = 0;
    looked_at_ = 0;
    is_recalling_ = exchanges_.decide(settings_.margin, in_flight, decisions) && is_recalling_;
  }
  std::span<const float> hotness() const override { return expected(); }
  std::span<const float> profile() const override { return expected(); }
  Foresight foresight() const override {
    return {.weights = {expectation_.weights().begin(), expectation_.weights().end()},
            .log_likelihood = expectation_.log_likelihood()};
  }
  double calibration_part() const override {
    const auto weights = expectation_.weights();
    const double all = std::reduce(weights.begin(), weights.end());
    return is_calibrated_ && all > 0 ? weights.front() / all : -1;
  }
  void recall(std::span<const float> profile) override {
    expectation_.recall(profile);
    exchanges_.forget();
    looked_at_ = 0;
    is_fresh_ = false;
    is_recalling_ = true;
  }
  bool is_recalling() const override { return is_recalling_; }

 private:
  std::span<const float> expected() const {
    if (!is_fresh_) uses_ = expectation_.uses(0, std::ssize(first_));
    is_fresh_ = true;
    return uses_;
  }

  FoveaSettings settings_;
  std::vector<std::uint8_t> first_;
  bool is_calibrated_;
  mutable Expectation expectation_;
  mutable std::span<const float> uses_;
  mutable bool is_fresh_ = false;
  bool is_recalling_ = false;
  Exchanges exchanges_;
  std::int64_t tokens_ = 0;            // since the last decisions
  std::int64_t same_numbers_for_ = 0;  // tokens
  std::int64_t looked_at_ = 0;         // units
};

Result<void> check_settings(const FoveaSettings& s) {
  const auto wrong = [](const char* name, auto value, Phrase range) {
    return fail(phrases::policy_setting_place("fovea", name),
                errors::policy_setting(value, std::move(range)));
  };
  const Phrase from_0 = phrases::range_0_or_more(), from_1 = phrases::range_1_or_more();
  if (s.half_lives.empty() || s.half_lives.size() > max_scales)
    return wrong("half_lives", std::ssize(s.half_lives), phrases::range_1_to(std::int64_t{max_scales}));
  for (const std::int64_t half_life : s.half_lives)
    if (half_life < 1) return wrong("half_lives", half_life, from_1);
  if (!s.weights.empty() && s.weights.size() != 1 + s.half_lives.size())
    return wrong("weights", std::ssize(s.weights), phrases::range_exactly(std::ssize(s.half_lives) + 1));
  for (const double weight : s.weights)
    if (!(weight >= 0)) return wrong("weights", weight, from_0);
  if (s.interval_tokens < 0) return wrong("interval_tokens", s.interval_tokens, from_0);
  if (s.numbers_interval_tokens < 1)
    return wrong("numbers_interval_tokens", s.numbers_interval_tokens, from_1);
  if (!(s.margin < 1)) return wrong("margin", s.margin, phrases::range_0_to_below_1());
  if (s.in_flight < 0) return wrong("in_flight", s.in_flight, from_0);
  if (!(s.prompt_wait_share >= 0 && s.prompt_wait_share <= 1))
    return wrong("prompt_wait_share", s.prompt_wait_share, phrases::range_0_to_1());
  if (!(s.cut_share <= 1)) return wrong("cut_share", s.cut_share, phrases::range_0_to_1());
  return {};
}

}  // namespace

// Chosen on made-up routing of Qwen3-30B-A3B with room for 57 % of its experts (docs/gpu.md).
FoveaSettings usual_settings(const PolicyWorld& world, FoveaSettings settings) {
  const bool copies = world.only_places();
  if (settings.weights_half_life < 0) settings.weights_half_life = copies ? 256 : 4096;
  if (settings.interval_tokens == 0) settings.interval_tokens = copies ? 4 : 32;
  if (settings.margin < 0) settings.margin = copies ? 0.1 : 0.4;
  if (settings.cut_share < 0) settings.cut_share = copies ? 1 : 0.1;
  return settings;
}

Result<std::unique_ptr<Policy>> make_fovea(const PolicyWorld& world, const FoveaSettings& settings,
                                           std::vector<std::uint8_t> first) {
  FOVEA_CHECK(check_settings(settings));
  FOVEA_TRY(const auto fits, make_static(world, first));
  return std::make_unique<FoveaPolicy>(world, usual_settings(world, settings), std::move(first));
}

}  // namespace fovea::precision
