// The parts of quantisation that take time: Viterbi encoding of trellis blocks (trellis.h) and the products
// of error feedback. Their sources are compiled once for each instruction set; all of them give the same
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/api/types.h"

namespace fovea::kernels::formats {

// One block to encode: 32 finite weights, how much the squared error of each counts (≥ 0; null: all alike),
// and where the block goes.
struct TrellisBlock {
  const float* x = nullptr;
  const float* importance = nullptr;
  std::byte* out = nullptr;
};

struct TrellisEncoder {
  std::string_view name;
  int group = 1;  // blocks that are encoded together, ≤ max_group: the vectors hold eight scales of each
  // `count` blocks, 1 … group.
  void (*encode)(Type, const TrellisBlock*, int count);
  // sums[r][i] += Σ over k < count of errors[r][k] · factors[k, i], for `rows` rows.   factors [count, 32]
  void (*add_products)(const float* const* errors, int rows, const float* factors, std::int64_t count,
                       float (*sums)[32]);
  // sums[r, i] −= Σ over k < count of rows[r, k] · factors[k, i].   rows [row_count, ≥ count], factors
  // [count, 32], sums [row_count, ≥ 32]; strides in elements. Sums do not overlap what is read.
  void (*subtract_products)(const double* rows, std::int64_t stride, std::int64_t row_count,
                            const double* factors, std::int64_t count, double* sums,
                            std::int64_t sums_stride);
};

constexpr int max_group = 4;

// Those that this processor runs, the fastest last.
std::span<const TrellisEncoder> trellis_encoders();

}  // namespace fovea::kernels::formats
