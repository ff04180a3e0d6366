// XXH3, 64 bits: the checksum of stores and fingerprints. Fast enough to run on everything that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fovea::checkpoint {

std::uint64_t checksum64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// The same over pieces that follow one another.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fovea::checkpoint
