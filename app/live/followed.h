// The experts that are followed: each one's hotness and tier over the last two minutes.
#pragma once

#include "app/live/measures/snapshot_ring.h"
#include "ui/live/live_data.h"

namespace fovea::app {

class Followed {
 public:
  static constexpr std::size_t max_followed = 5;  // the oldest gives way

  // Reads what the ring holds of it up to this time. Following one again ends it.
  void toggle(std::int64_t unit, const SnapshotRing& ring, double until);
  void clear() { lines_.experts.clear(); }
  void add(double seconds, const MapFrame& frame);  // what came since the last call
  // Again from the ring, up to this time: it was scrubbed or exchanged.
  void reread(const SnapshotRing& ring, double until);

  const ui::FollowedExperts& lines() const { return lines_; }

 private:
  ui::FollowedExperts lines_;
};

}  // namespace fovea::app
