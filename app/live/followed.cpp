#include "app/live/followed.h"

#include <algorithm>

namespace fovea::app {
namespace {

using ui::followed_seconds;
using ui::FollowedExpert;

void fill(FollowedExpert& line, const SnapshotRing& ring, double until) {
  line.points.clear();
  FrameCursor cursor;
  const std::int64_t from = std::max(ring.first(), ring.at(until - followed_seconds));
  for (std::int64_t index = from; index < ring.end() && ring.moment(index).seconds <= until; ++index) {
    if (!cursor.seek(ring, index) || line.unit >= static_cast<std::int64_t>(cursor.frame().size())) return;
    const auto unit = static_cast<std::size_t>(line.unit);
    line.points.push_back(
        {ring.moment(index).seconds, cursor.frame().tier[unit], ui::hotness_of(cursor.frame().hot[unit])});
  }
}

}  // namespace

void Followed::toggle(std::int64_t unit, const SnapshotRing& ring, double until) {
  std::vector<FollowedExpert>& lines = lines_.experts;
  const auto known = std::ranges::find(lines, unit, &FollowedExpert::unit);
  if (known != lines.end()) {
    lines.erase(known);
    return;
  }
  if (lines.size() == max_followed) lines.erase(lines.begin());
  int letter = 0;
  while (std::ranges::find(lines, letter, &FollowedExpert::letter) != lines.end()) ++letter;
  lines.push_back({.unit = unit, .letter = letter, .points = {}});
  lines_.until = until;
  fill(lines.back(), ring, until);
}

void Followed::add(double seconds, const MapFrame& frame) {
  lines_.until = seconds;
  for (FollowedExpert& line : lines_.experts) {
    const auto unit = static_cast<std::size_t>(line.unit);
    if (unit >= frame.size()) continue;
    line.points.push_back({seconds, frame.tier[unit], ui::hotness_of(frame.hot[unit])});
    while (line.points.front().seconds < seconds - followed_seconds) line.points.pop_front();
  }
}

void Followed::reread(const SnapshotRing& ring, double until) {
  lines_.until = until;
  for (FollowedExpert& line : lines_.experts) fill(line, ring, until);
}

}  // namespace fovea::app
