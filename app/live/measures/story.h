// What happened among the experts since each question, in numbers that were counted.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/live/measures/snapshot_ring.h"
#include "ui/live/data/measures.h"

namespace fovea::app {

class Story {
 public:
  void clear();
  // A question is asked now; the chapter before it is closed. `shown`: its first words.
  void begin(const std::string& shown, const MapFrame& frame, const SnapshotNumbers& numbers);
  // What has changed since.
  void go_on(const MapFrame& frame, const SnapshotNumbers& numbers);
  // The newest first; at most 20.
  const std::deque<ui::Chapter>& chapters() const { return chapters_; }

 private:
  std::deque<ui::Chapter> chapters_;
  std::vector<std::uint8_t> tiers_;  // [units] when the newest began
  std::int64_t stalls_ = 0;          // then
};

}  // namespace fovea::app
