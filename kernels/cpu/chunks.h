// Pieces of a loop that become smaller towards its end, so that no thread waits long for the last one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace fovea::kernels::cpu {

class ShrinkingChunks {
 public:
  // Of [0, count), none longer than `largest`. Each is a share of what is left when it is claimed.
  ShrinkingChunks(std::int64_t count, int threads, std::int64_t largest) {
    const std::int64_t smallest = std::max<std::int64_t>(1, (count + most - 1) / most);
    const std::int64_t longest = std::max(smallest, largest);
    for (std::int64_t at = 0; at < count;) {
      const std::int64_t share = (count - at) / (2 * std::int64_t{threads});
      at = std::min(count, at + std::clamp(share, smallest, longest));
      ends_[static_cast<std::size_t>(count_++)] = at;
    }
  }

  std::int64_t count() const { return count_; }
  std::int64_t begin(std::int64_t chunk) const { return chunk == 0 ? 0 : end(chunk - 1); }
  std::int64_t end(std::int64_t chunk) const { return ends_[static_cast<std::size_t>(chunk)]; }

 private:
  static constexpr std::int64_t most = 512;
  std::array<std::int64_t, most> ends_;
  std::int64_t count_ = 0;
};

}  // namespace fovea::kernels::cpu
