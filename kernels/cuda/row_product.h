// The product of a row of weights whose type is known only when the kernel runs. One copy of all types' code
// is as large as a kernel should be: where it is needed twice, loop.
#pragma once

#include <cstdint>

#include "kernels/cuda/activations.h"
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/plain.h"

namespace fovea::kernels::cuda {

// This lane's share of the product of one row with a vector that is given as floats and quantised.
// `under_way`: of the loads of weights that are floats.
template <int under_way>
__device__ __forceinline__ float row_product(const Weight& weight, std::int64_t row, const float* floats,
                                             const Quantised& quantised, std::int64_t quantised_row, int lane,
                                             int lanes) {
  float sums[1] = {};
  const std::int64_t rows[1] = {quantised_row};
  const float* const x[1] = {floats};
  const bool packed = weight.packing == Packing::tiles;
  dispatch(weight.type, [&]<Type type>() {
    if constexpr (!is_quantised(type)) {
      add_plain_products<type, under_way>(weight.data + row * weight.columns * plain_bytes<type>,
                                          weight.columns, x, lane, lanes, sums);
    } else if (packed) {
      add_products(Row<type, true>(weight, row), quantised, rows, lane, lanes, sums);
    } else {
      add_products(Row<type, false>(weight, row), quantised, rows, lane, lanes, sums);
    }
  });
  return sums[0];
}

}  // namespace fovea::kernels::cuda
