#include "app/live/measures/traffic_series.h"

#include <algorithm>
#include <cmath>

namespace fovea::app {
namespace {

using ui::traffic_buckets;
using ui::traffic_seconds;

constexpr std::size_t kIntervalsKept = 512;
constexpr double kBucketSeconds = traffic_seconds / traffic_buckets;

}  // namespace

std::int64_t uses_of_experts(const SnapshotNumbers& numbers) {
  std::int64_t uses = numbers.misses + numbers.host_hits;
  for (const TierState& tier : numbers.tiers) uses += tier.hits;
  return uses;
}

ui::TrafficSeries traffic_series(const SnapshotRing& ring, double now) {
  ui::TrafficSeries series;
  std::array<double, traffic_buckets> uses{};
  const std::int64_t from = std::max(ring.first() + 1, ring.at(now - traffic_seconds));
  for (std::int64_t index = from; index < ring.end(); ++index) {
    const Moment& moment = ring.moment(index);
    const double age = now - moment.seconds;
    if (age < 0) break;
    const auto back = static_cast<std::size_t>(age / kBucketSeconds);
    if (back >= traffic_buckets) continue;
    const std::size_t at = traffic_buckets - 1 - back;
    const SnapshotNumbers &a = ring.moment(index - 1).numbers, &b = moment.numbers;
    series.promotions[at] += static_cast<double>(b.swaps.promotions - a.swaps.promotions);
    series.demotions[at] += static_cast<double>(b.swaps.demotions - a.swaps.demotions);
    series.bytes[at] += static_cast<double>(b.swaps.bytes_read - a.swaps.bytes_read);
    series.tokens[at] += static_cast<double>(b.tokens - a.tokens);
    series.queue[at] = std::max(series.queue[at], static_cast<double>(b.queued + b.reading + b.ready));
    const double used = static_cast<double>(uses_of_experts(b) - uses_of_experts(a));
    uses[at] += used;
    if (!b.tiers.empty() && b.tiers.size() == a.tiers.size())
      series.below_high[at] += used - static_cast<double>(b.tiers[0].hits - a.tiers[0].hits);
  }
  for (std::size_t at = 0; at < traffic_buckets; ++at) {
    for (auto* strip : {&series.promotions, &series.demotions, &series.bytes, &series.tokens})
      (*strip)[at] /= kBucketSeconds;
    series.below_high[at] = uses[at] > 0 ? series.below_high[at] / uses[at] : 0;
  }
  return series;
}

// What is reported are sums; a piece of text may stand for several tokens.
void TokenIntervals::add_timings(const Timings& so_far) {
  const std::int64_t tokens = so_far.generated_tokens - last_.generated_tokens;
  const double seconds = so_far.decode_seconds - last_.decode_seconds;
  const bool goes_on = tokens > 0 && seconds > 0 && last_.generated_tokens > 0;
  for (std::int64_t i = 0; goes_on && i < tokens; ++i) add(seconds / static_cast<double>(tokens));
  last_ = so_far;
}

void TokenIntervals::add(double seconds) {
  if (!(seconds > 0)) return;
  seconds_.push_back(seconds);
  if (seconds_.size() > kIntervalsKept) seconds_.pop_front();
}

// Nearest rank.
ui::TokenPercentiles TokenIntervals::percentiles() const {
  ui::TokenPercentiles result{.count = seconds_.size()};
  if (seconds_.empty()) return result;
  std::vector<double> sorted(seconds_.begin(), seconds_.end());
  std::ranges::sort(sorted);
  const auto rank = [&](double share) {
    const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(1, place) - 1];
  };
  result.p50 = rank(0.50);
  result.p95 = rank(0.95);
  result.p99 = rank(0.99);
  return result;
}

}  // namespace fovea::app
