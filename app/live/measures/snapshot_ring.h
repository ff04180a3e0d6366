// The last minutes of what the experts did, in little memory: a whole frame now and then, between them only
// what changed. Plain data, also what is saved and replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/api/snapshot.h"
#include "ui/live/data/measures.h"
#include "ui/live/data/map_frame.h"

namespace fovea::app {

using ui::MapFrame;

// One moment's numbers: a snapshot without its units and skew.
struct Moment {
  double seconds = 0;  // of the recording's clock
  SnapshotNumbers numbers;
  bool hot_is_recent_use = false;
  bool whole = false;  // `bytes` hold the whole frame, else the difference to the one before
  std::shared_ptr<const std::string> bytes;  // encoded; shared between copies of a ring
};

// How many of the first decisions are newer than those of the moment before.
std::size_t fresh_decisions(const SnapshotNumbers& now, const SnapshotNumbers& before);

struct TierChange {
  double seconds = 0;
  DecisionState decision;
  bool explained = false;  // false: seen to have changed, the engine no longer had the reason
};

struct RingLimits {
  double seconds = 300;
  std::size_t bytes = std::size_t{64} << 20;
};

class SnapshotRing {
 public:
  explicit SnapshotRing(RingLimits limits = {});

  // Drops the oldest. Seconds must not fall. Another shape (another model) begins anew.
  void add(const Snapshot& snapshot, double seconds);
  void clear();

  bool empty() const { return moments_.empty(); }
  // Moments are numbered from the start of the recording; those of [first(), end()) are held.
  std::int64_t first() const { return first_; }
  std::int64_t end() const { return first_ + static_cast<std::int64_t>(moments_.size()); }
  const Moment& moment(std::int64_t index) const {
    return moments_[static_cast<std::size_t>(index - first_)];
  }
  const Moment& last() const { return moments_.back(); }
  const MapFrame& last_frame() const { return latest_; }
  // The first moment at or after this time; end() when there is none.
  std::int64_t at(double seconds) const;

  // [units] what is known of each one's last change until then. Units count by layer × units_per_layer +
  // index.
  std::vector<ui::UnitChange> last_changes(double until_seconds) const;
  // Of one unit, the newest first.
  std::vector<ui::UnitChange> changes_of(std::int64_t unit, double until_seconds) const;
  const std::deque<TierChange>& changes() const { return changes_; }
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  friend class FrameCursor;
  std::deque<Moment>::const_iterator second_whole() const;
  bool oldest_has_passed() const;
  bool drop_oldest();  // false: the last group stays
  void note_changes(const Snapshot& snapshot, double seconds, const MapFrame& before);

  RingLimits limits_;
  std::deque<Moment> moments_;
  std::int64_t first_ = 0;
  MapFrame latest_;
  std::vector<char> scratch_;  // of the frame that is written
  std::int64_t since_whole_ = 0;
  std::deque<TierChange> changes_;
  std::size_t memory_bytes_ = 0;
  std::uint64_t generation_ = 0;  // how often it began anew
};

inline constexpr double fresh_seconds = 1.2;  // that a change is marked

// What changed in the moments until `until`, as it is shown at `now`: the newest first.
std::vector<ui::FreshChange> fresh_changes(const SnapshotRing& ring, double until, double now);

// Reads a ring's frames; going forward costs only the differences. The ring may grow, drop and begin anew;
// reset() before another ring.
class FrameCursor {
 public:
  // False when the ring does not hold it.
  bool seek(const SnapshotRing& ring, std::int64_t index);
  const MapFrame& frame() const { return frame_; }
  std::int64_t index() const { return index_; }
  void reset() { index_ = -1; }

 private:
  MapFrame frame_;
  std::int64_t index_ = -1;
  std::uint64_t generation_ = 0;
};

}  // namespace fovea::app
