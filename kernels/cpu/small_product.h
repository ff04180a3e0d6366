// Products of small matrices of floats that lie in the first caches: register tiles of some rows and two
// vectors, without packing.
#pragma once

#include "kernels/cpu/simd.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

// Rows of a register tile. Matrices whose product is formed have a multiple of it, and as columns of the
// product a multiple of `lanes`.
constexpr int product_rows = lanes == 16 ? 8 : 4;

template <int vectors>
static inline void add_product_tile(const float* a, std::int64_t a_stride, const float* b,
                                    std::int64_t b_stride, std::int64_t depth, float* c,
                                    std::int64_t c_stride) {
  Floats sums[product_rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < product_rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[r][v] = load_floats(c + r * c_stride + v * lanes);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Floats row[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) row[v] = load_floats(b + k * b_stride + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < product_rows; ++r) {
      const Floats factor = set_floats(a[r * a_stride + k]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sums[r][v] = multiply_add(factor, row[v], sums[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < product_rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) store_floats(c + r * c_stride + v * lanes, sums[r][v]);
  }
}

// c [rows, columns] += a [rows, depth] · b [depth, columns]
static inline void add_product(const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride,
                               std::int64_t rows, std::int64_t depth, std::int64_t columns, float* c,
                               std::int64_t c_stride) {
  for (std::int64_t j = 0; j < columns; j += 2 * lanes) {
    for (std::int64_t i = 0; i < rows; i += product_rows) {
      const float* const from = a + i * a_stride;
      float* const to = c + i * c_stride + j;
      if (j + lanes < columns) {
        add_product_tile<2>(from, a_stride, b + j, b_stride, depth, to, c_stride);
      } else {
        add_product_tile<1>(from, a_stride, b + j, b_stride, depth, to, c_stride);
      }
    }
  }
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
