#include "app/live/playhead.h"

#include <algorithm>

namespace fovea::app {

void Playhead::hold(std::shared_ptr<const SnapshotRing> ring, std::int64_t index) {
  held_ = std::move(ring);
  cursor_.reset();
  past_.reset();
  index_ = index;
  plays_ = false;
}

void Playhead::freeze() {
  if (!held_ && !live_.empty()) hold(copy(), live_.end() - 1);
}

void Playhead::replay(std::shared_ptr<const SnapshotRing> ring) {
  const std::int64_t first = ring->first();
  hold(std::move(ring), first);
  replays_ = true;
  set_playing(true);
}

void Playhead::back_to_live() {
  hold(nullptr, 0);
  replays_ = false;
}

void Playhead::go_to(std::int64_t index) {
  index_ = std::clamp(index, held_->first(), held_->end() - 1);
  plays_ = false;
}

void Playhead::set_playing(bool playing) {
  plays_ = playing && held_;
  if (!plays_) return;
  if (index_ >= held_->end() - 1) index_ = held_->first();
  seconds_ = moment().seconds;
}

void Playhead::play_on(double seconds, const std::function<void()>& passed) {
  seconds_ += seconds;
  const std::int64_t last = held_->end() - 1;
  while (index_ < last && held_->moment(index_ + 1).seconds <= seconds_) {
    ++index_;
    passed();
  }
  if (index_ >= last) plays_ = false;
}

std::shared_ptr<const SnapshotRing> Playhead::copy() const {
  return held_ ? held_ : std::make_shared<const SnapshotRing>(live_);
}

const MapFrame& Playhead::frame() {
  if (!held_) return live_.last_frame();
  cursor_.seek(*held_, index_);
  return cursor_.frame();
}

const MapFrame* Playhead::frame_before(double seconds) {
  const std::int64_t from = std::max(ring().first(), ring().at(moment().seconds - seconds));
  return from < index() && past_.seek(ring(), from) ? &past_.frame() : nullptr;
}

}  // namespace fovea::app
