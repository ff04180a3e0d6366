// The last minute as strips: what happened in each short stretch of time.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "ui/live/snapshot_ring.h"

namespace fovea::ui {

inline constexpr double traffic_seconds = 60;
inline constexpr std::size_t traffic_buckets = 120;

struct TrafficSeries {
  // Per second, oldest first. A stretch in which nothing was recorded has zeros.
  using Strip = std::array<double, traffic_buckets>;
  Strip promotions{}, demotions{}, bytes{}, tokens{};
  Strip below_high{};  // share of the uses that the highest tier did not serve
  Strip queue{};       // the most swaps waiting or under way at once
  Strip stalls{};      // uses of experts on disk alone
  bool any = false;
};

// The stretch of traffic_seconds that ends at `now` (seconds of the ring's clock).
TrafficSeries traffic_series(const SnapshotRing& ring, double now);

// The times between tokens lately.
class TokenIntervals {
 public:
  void add(double seconds);  // forgets the oldest of more than 512
  void clear() { seconds_.clear(); }
  struct Percentiles {
    std::size_t count = 0;
    double p50 = 0, p95 = 0, p99 = 0;  // seconds
  };
  Percentiles percentiles() const;

 private:
  std::deque<double> seconds_;
};

}  // namespace fovea::ui
