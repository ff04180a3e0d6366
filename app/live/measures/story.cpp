#include "app/live/measures/story.h"

namespace fovea::app {
namespace {

constexpr std::size_t most_chapters = 20;

// High to low; what is on disk alone or with the processor is lower than all of them.
bool is_higher(std::uint8_t a, std::uint8_t b) {
  return a < b;
}

}  // namespace

void Story::clear() {
  chapters_.clear();
  tiers_.clear();
  stalls_ = 0;
}

void Story::begin(const std::string& shown, const MapFrame& frame, const SnapshotNumbers& numbers) {
  go_on(frame, numbers);  // the one before ends with what it has come to
  tiers_ = frame.tier;
  stalls_ = numbers.swaps.stalls;
  chapters_.push_front({.question = shown, .token = numbers.quality.tokens});
  if (chapters_.size() > most_chapters) chapters_.pop_back();
}

void Story::go_on(const MapFrame& frame, const SnapshotNumbers& numbers) {
  if (chapters_.empty() || frame.tier.size() != tiers_.size()) return;
  ui::Chapter& now = chapters_.front();
  now.woke = now.rested = 0;
  for (std::size_t unit = 0; unit < tiers_.size(); ++unit) {
    if (is_higher(frame.tier[unit], tiers_[unit])) {
      ++now.woke;
    } else if (is_higher(tiers_[unit], frame.tier[unit])) {
      ++now.rested;
    }
  }
  now.waits = numbers.swaps.stalls - stalls_;
}

}  // namespace fovea::app
