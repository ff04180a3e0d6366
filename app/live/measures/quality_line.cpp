#include "app/live/measures/quality_line.h"

#include <algorithm>

namespace fovea::app {
namespace {

constexpr std::int64_t fewest_tokens = 8;  // of a stretch
constexpr std::int64_t most_points = 72;

}  // namespace

ui::QualityLine quality_line(PolicyKind policy, const SnapshotRing& ring, std::int64_t until,
                             const std::deque<ui::Chapter>& chapters) {
  ui::QualityLine line;
  if (!moves_experts(policy) || ring.empty()) return line;
  const QualityState& last = ring.moment(until).numbers.quality;
  const QualityState* from = &ring.moment(ring.first()).numbers.quality;
  const std::int64_t stretch = std::max(fewest_tokens, (last.tokens - from->tokens) / most_points);
  line.in_nats = last.in_nats;
  const std::int64_t begin = from->tokens;
  auto question = chapters.rbegin();
  // Those of before are no longer on the line.
  while (question != chapters.rend() && question->token < begin) ++question;
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
    for (; question != chapters.rend() && question->token < to.tokens; ++question)
      line.questions.push_back({.point = line.points.size(), .words = question->question});
    line.points.push_back(point);
    from = &to;
  }
  return line;
}

}  // namespace fovea::app
