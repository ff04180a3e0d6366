// What went through the model and the swap pipeline lately.
#pragma once

#include <deque>

#include "app/live/measures/snapshot_ring.h"
#include "engine/api/request.h"
#include "ui/live/data/measures.h"

namespace fovea::app {

// The stretch of traffic_seconds that ends at `now` (seconds of the ring's clock).
ui::TrafficSeries traffic_series(const SnapshotRing& ring, double now);

// Tokens' uses of experts since the start.
std::int64_t uses_of_experts(const SnapshotNumbers& numbers);

// The times between tokens lately.
class TokenIntervals {
 public:
  // Of the answer in progress, whenever they arrive.
  void add_timings(const Timings& so_far);
  void add(double seconds);  // forgets the oldest of more than 512
  ui::TokenPercentiles percentiles() const;

 private:
  Timings last_;
  std::deque<double> seconds_;
};

}  // namespace fovea::app
