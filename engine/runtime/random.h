// The random numbers of sampling: SplitMix64 (Steele, Lea, Flood 2014), the same on every platform.
#pragma once

#include <cstdint>

namespace fovea::runtime {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }

  // In [0, 1), from the upper 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// A seed from the system, never 0.
std::uint64_t random_seed();

}  // namespace fovea::runtime
