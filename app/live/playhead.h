// Which moment is in view: the newest of the session, or one of those that are held still or replayed.
#pragma once

#include <functional>
#include <memory>

#include "app/live/measures/snapshot_ring.h"

namespace fovea::app {

class Playhead {
 public:
  void add(const Snapshot& snapshot, double seconds) { live_.add(snapshot, seconds); }
  void clear_live() { live_.clear(); }

  // Frozen is a copy: the session's recording goes on behind it.
  void freeze();
  // From its first moment.
  void replay(std::shared_ptr<const SnapshotRing> ring);
  void back_to_live();
  void go_to(std::int64_t index);  // where moments are held; and stays there
  void set_playing(bool playing);  // from the start again where it stands at the end
  // Goes on by so much in what is held, and stops at its end. `passed` is called at each moment on the way.
  void play_on(double seconds, const std::function<void()>& passed);

  bool held() const { return held_ != nullptr; }  // frozen or replayed
  bool replays() const { return replays_; }
  bool plays() const { return plays_; }
  const SnapshotRing& live() const { return live_; }
  const SnapshotRing& ring() const { return held_ ? *held_ : live_; }
  std::shared_ptr<const SnapshotRing> copy() const;  // of ring()

  bool empty() const { return ring().empty(); }
  // Of the moment in view.
  std::int64_t index() const { return held_ ? index_ : live_.end() - 1; }
  const Moment& moment() const { return ring().moment(index()); }
  const MapFrame& frame();
  // So many seconds before it, or the first that is held; null where no other moment is.
  const MapFrame* frame_before(double seconds);

 private:
  void hold(std::shared_ptr<const SnapshotRing> ring, std::int64_t index);

  SnapshotRing live_;
  std::shared_ptr<const SnapshotRing> held_;
  std::int64_t index_ = 0;
  bool replays_ = false, plays_ = false;
  double seconds_ = 0;  // where it plays
  FrameCursor cursor_, past_;
};

}  // namespace fovea::app
