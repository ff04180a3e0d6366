// Compiled once for each instruction set, as trellis_viterbi.cpp is.
#include <stdint.h>

#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats::FOVEA_FORMATS_SET {
namespace {

// Rows together, which read the factors once; their sums stay in registers.
template <int Rows>
void add_products_of(const float* const* errors, const float* factors, int64_t count, float (*sums)[32]) {
  float kept[Rows][32];
  for (int r = 0; r < Rows; ++r) {
    for (int i = 0; i < 32; ++i) kept[r][i] = sums[r][i];
  }
  for (int64_t k = 0; k < count; ++k) {
    for (int r = 0; r < Rows; ++r) {
      for (int i = 0; i < 32; ++i) kept[r][i] += errors[r][k] * factors[32 * k + i];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int i = 0; i < 32; ++i) sums[r][i] = kept[r][i];
  }
}

}  // namespace

void add_products(const float* const* errors, int rows, const float* factors, int64_t count,
                  float (*sums)[32]) {
  for (; rows >= 2; rows -= 2, errors += 2, sums += 2) add_products_of<2>(errors, factors, count, sums);
  if (rows == 1) add_products_of<1>(errors, factors, count, sums);
}

void subtract_products(const double* rows, int64_t stride, int64_t row_count, const double* factors,
                       int64_t count, double* sums, int64_t sums_stride) {
  for (int64_t r = 0; r < row_count; ++r) {
    double kept[32];
    for (int i = 0; i < 32; ++i) kept[i] = sums[r * sums_stride + i];
    for (int64_t k = 0; k < count; ++k) {
      for (int i = 0; i < 32; ++i) kept[i] -= rows[r * stride + k] * factors[32 * k + i];
    }
    for (int i = 0; i < 32; ++i) sums[r * sums_stride + i] = kept[i];
  }
}

}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
