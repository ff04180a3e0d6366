// Compiled once for each instruction set, as trellis_viterbi.cpp is.
#include <stdint.h>

#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats::FOVEA_FORMATS_SET {

void add_products(const float* errors, const float* factors, int64_t count, float* sums) {
  float kept[32];
  for (int i = 0; i < 32; ++i) kept[i] = sums[i];
  for (int64_t k = 0; k < count; ++k) {
    for (int i = 0; i < 32; ++i) kept[i] += errors[k] * factors[32 * k + i];
  }
  for (int i = 0; i < 32; ++i) sums[i] = kept[i];
}

}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
