// Packing::tiles, and what a tile's kernels read and write.
//
// A tile is 16 rows of a weight matrix, interleaved word by word (kernels/formats/processor_tiles.h). So one
// vector holds four consecutive weights of many rows, dot products need no horizontal sums, and the scales of
// the rows are one vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/types.h"

namespace fovea::kernels::cpu {

constexpr int tile_rows = 16;
constexpr int block_columns = 32;  // of an activation block

// 32 activations of one token as 8-bit integers: x ≈ scale · q. Each first or second half has its own sum
// too, for weights whose scales change every 16 columns.
struct alignas(64) ActivationBlock {
  std::int8_t q[block_columns];
  float scale;
  std::int32_t sum;  // Σ q
  std::int32_t half_sum[2];
  float scaled_sum;  // scale · sum
  float scaled_half_sum[2];
};

// What the kernels of a weight type multiply with: the floats themselves, the floats rounded to bfloat16, or
// blocks of 8-bit integers.
enum class ActivationForm : std::uint8_t { floats, bfloat16, blocks };

// The activations that a weight matrix is multiplied with, at least in the form that its type wants. Rows of
// bfloat16 values are filled up with zeros to an even number.
struct Activations {
  const float* floats = nullptr;            // [tokens, floats_stride]
  const std::uint16_t* bfloat16 = nullptr;  // [tokens, bfloat16_stride], rows aligned to 64 bytes
  const ActivationBlock* blocks = nullptr;  // [columns / 32, tokens]
  std::int64_t floats_stride = 0;
  std::int64_t bfloat16_stride = 0;
  std::int64_t tokens = 0;  // in the panel: the distance of one block from the next
};

// y[i, 0 … 15] = tile · x[index[i]] for i < tokens; without an index, x[first + i].
struct TileProduct {
  const std::byte* tile = nullptr;
  const std::byte* next =
      nullptr;  // what will be read after the tile, to be fetched early; null: what follows it
  std::int64_t columns = 0;
  Activations x;
  const std::int32_t* index = nullptr;
  std::int64_t first = 0;
  std::int64_t tokens = 0;
  float* y = nullptr;  // [tokens, 16], aligned to 64, overwritten
};
using MultiplyTile = void (*)(const TileProduct&);

// out[index[i], 0 … count − 1] += shares[i] · y[i].
struct TileScatter {
  const float* y = nullptr;  // [tokens, 16]
  std::int64_t tokens = 0;
  const std::int32_t* index = nullptr;
  const float* shares = nullptr;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  int count = tile_rows;
};

constexpr std::int64_t tile_count(std::int64_t rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

}  // namespace fovea::kernels::cpu
