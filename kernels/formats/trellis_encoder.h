// Viterbi encoding of trellis blocks (trellis.h). The numeric source is compiled once for each instruction
// set; all of them give the same bytes.
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

// Two blocks at a time: the vectors hold two blocks times eight candidate scales.
using EncodeTrellisPair = void (*)(Type, const TrellisBlock (&)[2]);

struct TrellisEncoder {
  std::string_view name;
  EncodeTrellisPair encode_pair;
};

// Those that this processor runs, the fastest last.
std::span<const TrellisEncoder> trellis_encoders();

}  // namespace fovea::kernels::formats
