#include "app/live/quality_line.h"

#include <algorithm>
#include <cmath>

namespace fovea::app {
namespace {

constexpr std::int64_t fewest_tokens = 8;  // of a stretch
constexpr std::int64_t most_points = 72;

}  // namespace

double kept_share(const TokensLoss& tokens, double loss) {
  if (tokens.in_nats) return std::exp(-loss / static_cast<double>(tokens.tokens));
  const double range = tokens.low - tokens.high;
  return range > 0 ? std::clamp(1 - (loss - tokens.high) / range, 0.0, 1.0) : 1;
}

ui::QualityLine quality_line(PolicyKind policy, const SnapshotRing& ring, std::int64_t until) {
  ui::QualityLine line;
  if (!moves_experts(policy) || ring.empty()) return line;
  const QualityState& last = ring.moment(until).numbers.quality;
  const QualityState* from = &ring.moment(ring.first()).numbers.quality;
  const std::int64_t stretch = std::max(fewest_tokens, (last.tokens - from->tokens) / most_points);
  line.in_nats = last.in_nats;
  for (std::int64_t index = ring.first() + 1; index <= until; ++index) {
    const QualityState& to = ring.moment(index).numbers.quality;
    if (to.tokens - from->tokens < stretch) continue;
    const TokensLoss tokens{to.tokens - from->tokens, to.all_low - from->all_low,
                            to.all_high - from->all_high, to.in_nats};
    ui::QualityPoint point{.kept = kept_share(tokens, to.loss - from->loss),
                           .low = kept_share(tokens, tokens.low)};
    // The session's own mix, from the tokens on that it was not chosen by.
    if (from->tokens_since > 0) {
      const TokensLoss since{to.tokens_since - from->tokens_since, to.low_since - from->low_since,
                             to.high_since - from->high_since, to.in_nats};
      if (since.tokens > 0) point.fixed = kept_share(since, to.start_since - from->start_since);
    } else if (to.has_calibration) {
      point.fixed = kept_share(tokens, to.calibrated - from->calibrated);
    }
    line.points.push_back(point);
    from = &to;
  }
  return line;
}

}  // namespace fovea::app
