// Hints that rows of weights will be read soon, for a kernel that knows them before its input is there: they
// are on their way while the kernel before still runs, and wait in the second-level cache. What a kernel can
// only ask for when it could as well read it is not worth the instructions: experts' weights, by which
// decoding on an H100 was 4 % slower.
#pragma once

#include <cstdint>

#include "kernels/cuda/fields.h"
#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {

// Rows [first, first + count) of a matrix, as far as there are any, shared out to `lanes` lanes. Of a tile
// that is a share of its bytes, not those of its rows: blocks that read a tile together ask for the whole of
// it.
template <Type type>
__device__ __forceinline__ void prefetch_rows(const Weight& weight, std::int64_t first, int count, int lane,
                                              int lanes) {
  constexpr int line = 128;
  if (first >= weight.rows) return;
  const int there = weight.rows - first < count ? static_cast<int>(weight.rows - first) : count;
  const int row_bytes = static_cast<int>(weight.columns) / elements_of<type> * bytes_of<type>;
  const std::byte* const from = weight.data + first * row_bytes;
#pragma unroll 1
  for (int at = lane * line; at < there * row_bytes; at += lanes * line) prefetch(from + at);
}

}  // namespace fovea::kernels::cuda
