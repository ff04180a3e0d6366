// Sums and maxima across the lanes of a warp and the threads of a block.
#pragma once

#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {

// Over `lanes` adjacent lanes (a power of two up to 32): every lane has the result. All lanes of the warp
// call it.
__device__ __forceinline__ float sum_of_lanes(float value, unsigned lanes = 32) {
  for (unsigned apart = lanes / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(whole_warp, value, apart);
  return value;
}
__device__ __forceinline__ float largest_of_lanes(float value, unsigned lanes = 32) {
  for (unsigned apart = lanes / 2; apart > 0; apart /= 2)
    value = fmaxf(value, __shfl_xor_sync(whole_warp, value, apart));
  return value;
}

// An integer of the same order as the float, which is a number; never 0.
__device__ __forceinline__ std::uint32_t ordered_bits(float value) {
  // −0 becomes 0.
  const std::uint32_t bits = __float_as_uint(value + 0.0F);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ float float_of_ordered(std::uint32_t ordered) {
  return __uint_as_float((ordered >> 31) != 0 ? ordered & 0x7FFFFFFFU : ~ordered);
}

// Over all threads of a block of a multiple of 32 threads: every thread has the result. All calls go through
// the same shared memory: a __syncthreads() must lie between two.
template <typename Combine>
__device__ __forceinline__ float over_block(float value, float neutral, const Combine& combine) {
  __shared__ alignas(16) float of_warps[32];
  const unsigned warps = blockDim.x / 32;
  value = combine(value);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  return combine(lane < warps ? static_cast<float>(of_warps[lane]) : neutral);
}
__device__ __forceinline__ float sum_of_block(float value) {
  return over_block(value, 0.0F, [](float one) { return sum_of_lanes(one); });
}
__device__ __forceinline__ float largest_of_block(float value) {
  return over_block(value, -INFINITY, [](float one) { return largest_of_lanes(one); });
}

}  // namespace fovea::kernels::cuda
