#include "app/download/range_set.h"

#include <algorithm>

namespace fovea::app {

void RangeSet::add(ByteRange range) {
  if (range.end <= range.begin) return;
  auto it = ranges_.upper_bound(range.begin);
  if (it != ranges_.begin() && std::prev(it)->second >= range.begin) --it;
  while (it != ranges_.end() && it->first <= range.end) {
    range.begin = std::min(range.begin, it->first);
    range.end = std::max(range.end, it->second);
    it = ranges_.erase(it);
  }
  ranges_.emplace(range.begin, range.end);
}

ByteRange RangeSet::first_gap(std::int64_t from, std::int64_t size) const {
  auto it = ranges_.upper_bound(from);
  if (it != ranges_.begin()) from = std::max(from, std::prev(it)->second);
  if (from >= size) return {};
  return {from, it == ranges_.end() ? size : std::min(size, it->first)};
}

std::int64_t RangeSet::prefix() const {
  return ranges_.empty() || ranges_.begin()->first != 0 ? 0 : ranges_.begin()->second;
}

std::int64_t RangeSet::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : ranges_) sum += end - begin;
  return sum;
}

std::vector<ByteRange> RangeSet::ranges() const {
  std::vector<ByteRange> list;
  for (const auto& [begin, end] : ranges_) list.push_back({begin, end});
  return list;
}

}  // namespace fovea::app
