// Sizes of grids and the division of scratch memory, for the host's side of an operation.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

constexpr std::int64_t quotient_up(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

// Blocks that cover `count` items, `size` in each.
constexpr unsigned blocks_for(std::int64_t count, std::int64_t size) {
  return static_cast<unsigned>(quotient_up(count, size));
}

// Hands out a stream's scratch memory from its start, each array aligned to 256 bytes.
class Scratch {
 public:
  explicit Scratch(const CudaStream& stream) : next_(stream.scratch()), left_(stream.scratch_bytes()) {}

  template <typename T>
  T* take(std::int64_t count) {
    const std::int64_t bytes = quotient_up(count * static_cast<std::int64_t>(sizeof(T)), 256) * 256;
    assert(bytes <= left_);
    std::byte* const memory = next_;
    next_ += bytes;
    left_ -= bytes;
    return reinterpret_cast<T*>(memory);
  }
  std::int64_t left() const { return left_; }

 private:
  std::byte* next_;
  std::int64_t left_;
};

}  // namespace fovea::kernels::cuda
