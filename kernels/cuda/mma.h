// Products of small matrices on tensor cores: which lane of a warp holds what of them, and how a lane gets
// its share. The three products are in device_code.h; the whole warp must call them.
//
//   multiply_halves, multiply_bfloat16   c[16, 8] += a[16, 16] · b[16, 8], float16 or bfloat16, sums in float
//   multiply_bytes                     c[16, 8] = base + a[16, 32] · b[32, 8], signed bytes, sums in int32
//                                      (or 16 for 32, with half the words of a and b)
//
// In words of 32 bits all are alike: a row of a, and a column of b, is 8 words (4 in the short product). With
// g = lane / 4 and t = lane % 4 a lane holds
//
//   a   row g word t, row g + 8 word t, row g word t + 4, row g + 8 word t + 4 (the short product: the first
//   two) b   column g word t, column g word t + 4                                   (the first) c   (row g,
//   column 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1)
#pragma once

#include <cstdint>

#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {

// Where c[k] stands in its matrix.
__device__ __forceinline__ int sum_row(int k) {
  return static_cast<int>(threadIdx.x % 32 / 4) + k / 2 * 8;
}
__device__ __forceinline__ int sum_column(int k) {
  return 2 * static_cast<int>(threadIdx.x % 4) + k % 2;
}

// From rows of words, `stride` words apart, of which the matrix begins with `first`. Free of bank conflicts
// where the stride is 4 more than a multiple of 8.
__device__ __forceinline__ void load_rows(std::uint32_t* words, int first, int stride,
                                          std::uint32_t (&a)[4]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int at = first + lane / 4 * stride + lane % 4;
  a[0] = words[at];
  a[1] = words[at + 8 * stride];
  a[2] = words[at + 4];
  a[3] = words[at + 8 * stride + 4];
}
// Likewise from b's columns.
__device__ __forceinline__ void load_columns(std::uint32_t* words, int first, int stride,
                                             std::uint32_t (&b)[2]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int at = first + lane / 4 * stride + lane % 4;
  b[0] = words[at];
  b[1] = words[at + 4];
}

// The row that a lane names to load_matrices, so that it gets a's words of 16 rows, or b's of 8 columns and 8
// more.
__device__ __forceinline__ int first_of_rows(int stride) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return lane % 16 * stride + lane / 16 * 4;
}
__device__ __forceinline__ int first_of_columns(int stride) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 4;
}

}  // namespace fovea::kernels::cuda
