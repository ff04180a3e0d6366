// What `fovea top` knows of the model that it watches: the last minutes, and what they say.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "app/live/measures/snapshot_ring.h"
#include "app/live/measures/story.h"
#include "app/server/experts.h"
#include "ui/live/data/measures.h"

namespace fovea::app {

class TopModel {
 public:
  // Seconds must not fall. Another model begins anew.
  void add(const ExpertsEvent& event, double seconds);

  bool is_empty() const { return ring_.empty(); }
  // All below only where it is not.
  const WatchedModel& model() const { return model_; }
  const SnapshotNumbers& numbers() const { return ring_.last().numbers; }
  const MapFrame& frame() const { return ring_.last_frame(); }
  double seconds() const { return ring_.last().seconds; }  // of the newest moment
  std::int64_t moments() const { return ring_.end() - ring_.first(); }

  ui::PolicyGain gain() const;
  ui::QualityLine quality_line() const;
  ui::RouterHealth routers() const;  // of the last minute
  std::vector<ui::BudgetPart> memory() const;
  std::vector<ui::CardMemory> cards() const;  // two that hold it together, or none
  std::vector<ui::FreshChange> fresh(double now) const;
  // The newest first. The first that it saw begins where watching did, and has no question.
  const std::deque<ui::Chapter>& story() const { return story_.chapters(); }
  std::int64_t layer_number(std::int64_t layer) const;
  std::int64_t experts_of(std::int64_t layer) const;

 private:
  WatchedModel model_;
  SnapshotRing ring_;
  Story story_;
  std::int64_t questions_ = 0;
};

}  // namespace fovea::app
