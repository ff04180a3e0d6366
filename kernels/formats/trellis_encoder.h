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

constexpr bool is_trellis(Type type) {
  return type == Type::q4_f || type == Type::q3_f || type == Type::q2_f;
}

// One block to encode: 32 finite weights, how much the squared error of each counts (≥ 0; null: all alike),
// and where the block goes.
struct TrellisBlock {
  const float* x = nullptr;
  const float* importance = nullptr;
  std::byte* out = nullptr;
};

struct TrellisEncoder {
  std::string_view name;
  // Two blocks at a time: the vectors hold two blocks times eight candidate scales.
  void (*encode_pair)(Type, const TrellisBlock (&)[2]);
  // sums[i] += Σ over k < count of errors[k] · factors[k, i].   sums [32], factors [count, 32]
  void (*add_products)(const float* errors, const float* factors, std::int64_t count, float* sums);
};

// Those that this processor runs, the fastest last.
std::span<const TrellisEncoder> trellis_encoders();

}  // namespace fovea::kernels::formats
