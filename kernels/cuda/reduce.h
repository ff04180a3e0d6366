// Sums and maxima across the lanes of a warp and the threads of a block.
#pragma once

#include "kernels/cuda/platform.h"

namespace fovea::kernels::cuda {

// Over `lanes` adjacent lanes (a power of two up to 32): every lane has the result. All lanes of the warp
// call it.
FOVEA_DEVICE float sum_of_lanes(float value, unsigned lanes = 32) {
  for (unsigned apart = lanes / 2; apart > 0; apart /= 2) value += shuffle_xor(value, apart);
  return value;
}
FOVEA_DEVICE float largest_of_lanes(float value, unsigned lanes = 32) {
  for (unsigned apart = lanes / 2; apart > 0; apart /= 2) value = fmaxf(value, shuffle_xor(value, apart));
  return value;
}

// An integer of the same order as the float, which is a number; never 0.
FOVEA_DEVICE std::uint32_t ordered_bits(float value) {
  // −0 becomes 0.
  const std::uint32_t bits = bits_of(value + 0.0F);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
FOVEA_DEVICE float float_of_ordered(std::uint32_t ordered) {
  return float_of_bits((ordered >> 31) != 0 ? ordered & 0x7FFFFFFFU : ~ordered);
}

// Over all threads of a block of a multiple of 32 threads: every thread has the result. All calls go through
// the same shared memory: a sync_block() must lie between two.
template <typename Combine>
FOVEA_DEVICE float over_block(float value, float neutral, const Combine& combine) {
  FOVEA_SHARED(float, of_warps, 32);
  const unsigned warps = block_threads() / 32;
  value = combine(value);
  if (thread_index() % 32 == 0) of_warps[thread_index() / 32] = value;
  sync_block();
  const unsigned lane = thread_index() % 32;
  return combine(lane < warps ? static_cast<float>(of_warps[lane]) : neutral);
}
FOVEA_DEVICE float sum_of_block(float value) {
  return over_block(value, 0.0F, [](float one) { return sum_of_lanes(one); });
}
FOVEA_DEVICE float largest_of_block(float value) {
  return over_block(value, -INFINITY, [](float one) { return largest_of_lanes(one); });
}

}  // namespace fovea::kernels::cuda
