// Which bytes of a file are there.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fovea::app {

struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // one past the last
  std::int64_t bytes() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

// Disjoint ranges that do not touch, sorted.
class RangeSet {
 public:
  void add(ByteRange range);
  // The first range in [from, size) that is missing; empty where nothing is.
  ByteRange first_gap(std::int64_t from, std::int64_t size) const;
  // How many bytes from the file's start are there without a gap.
  std::int64_t prefix() const;
  std::int64_t bytes() const;
  std::int64_t end() const { return ranges_.empty() ? 0 : ranges_.rbegin()->second; }
  std::vector<ByteRange> ranges() const;
  void clear() { ranges_.clear(); }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // begin to end
};

}  // namespace fovea::app
