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

// Over all threads of a block of a multiple of 32 threads: every thread has the result.
FOVEA_DEVICE float sum_of_block(float value) {
  FOVEA_SHARED(float, warp_sums, 32);
  const unsigned warps = block_threads() / 32;
  value = sum_of_lanes(value);
  if (thread_index() % 32 == 0) warp_sums[thread_index() / 32] = value;
  sync_block();
  const unsigned lane = thread_index() % 32;
  return sum_of_lanes(lane < warps ? static_cast<float>(warp_sums[lane]) : 0.0F);
}

}  // namespace fovea::kernels::cuda
