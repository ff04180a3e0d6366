#include "app/live/measures/policy_gain.h"

#include <algorithm>

#include "app/live/measures/quality_line.h"

namespace fovea::app {
namespace {

// What some tokens lost under the policy, under a fixed mix, and with every expert at one tier.
struct Losses {
  std::int64_t tokens = 0;
  double policy = 0, fixed = 0, low = 0, high = 0;
};

}  // namespace

ui::PolicyGain policy_gain(PolicyKind policy, std::size_t tiers, const QualityState& q) {
  if (policy == PolicyKind::none) return {.verdict = ui::GainVerdict::no_policy};
  if (lowers_layers(policy)) return {.verdict = ui::GainVerdict::not_compared};
  ui::PolicyGain gain{.tokens = q.tokens, .in_nats = q.in_nats};
  Losses losses{q.tokens, q.loss, q.calibrated, q.all_low, q.all_high};
  if (q.tokens_since >= min_gain_tokens) {
    const bool calibrated = q.has_calibration && q.calibrated_since < q.start_since;
    losses = {q.tokens_since, q.loss_since, calibrated ? q.calibrated_since : q.start_since, q.low_since,
              q.high_since};
    gain.chosen_by = calibrated ? ui::FixedMix::calibration : ui::FixedMix::session_start;
  } else if (q.has_calibration && q.tokens >= min_gain_tokens) {
    gain.chosen_by = ui::FixedMix::calibration;
  }
  gain.tokens = losses.tokens;
  if (losses.tokens > 0) {
    const TokensLoss of{losses.tokens, losses.low, losses.high, q.in_nats};
    gain.kept = kept_share(of, losses.policy);
    gain.low_kept = kept_share(of, losses.low);
    gain.fixed_kept = kept_share(of, losses.fixed);
  }
  const bool moves = moves_experts(policy);
  if (moves && tiers == 1) {
    gain.verdict = ui::GainVerdict::nothing_lost;
    gain.chosen_by = ui::FixedMix::none;
    return gain;
  }
  if (!moves) {
    gain.verdict = ui::GainVerdict::tiers_stay;
    gain.chosen_by = ui::FixedMix::none;
  }
  if (!moves || gain.chosen_by == ui::FixedMix::none) return gain;
  if (const QualityState::Hindsight& best = q.hindsight; best.tokens > 0)
    gain.hindsight_kept =
        std::max(gain.fixed_kept, kept_share({best.tokens, best.low, best.high, q.in_nats}, best.loss));
  const double margin = gain_margin * losses.fixed;
  gain.verdict = losses.policy < losses.fixed - margin   ? ui::GainVerdict::ahead
                 : losses.policy > losses.fixed + margin ? ui::GainVerdict::loses
                                                         : ui::GainVerdict::as_good;
  gain.fixed_mix_would_do = gain.verdict != ui::GainVerdict::ahead;
  return gain;
}

}  // namespace fovea::app
