// What the tiles of all types have in common: their division among warps and lanes, the weights and inputs of
// one (tiles.h).
#pragma once

#include <cstdint>

#include "kernels/cuda/mma.h"
#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {

constexpr int tile_size = 64;           // rows of weights, and tokens, of a block
constexpr unsigned tile_threads = 128;  // four warps, each 32 rows by half of the tokens
constexpr int tile_blocks = 3;          // on a multiprocessor, by their registers and shared memory
constexpr int tile_words = 8000;        // of shared memory

// From how many tokens on a matrix is multiplied in tiles: one of fewer would be almost empty, and reading
// the matrix once for every four tokens costs as little.
constexpr std::int64_t fewest_in_tiles = 9;

// Rows first_row … of one matrix; or `paired`, as gate and up are: 32 rows of each, such that a lane's
// fragments 0 and 1 are the same positions in the two.
struct TileWeights {
  Weight first;
  Weight second;
  bool paired = false;
  std::int64_t first_row = 0;
  // Which columns are multiplied; multiples of column_unit, but for the end of the row.
  std::int64_t first_column = 0;
  std::int64_t end_column = first.columns;
};
constexpr int column_unit = 128;
constexpr int both_parts = -1;

// How the products of a type of weights are made: tiles.h, and of the first three byte_tiles.h.
enum class TileKind : std::uint8_t { scales, minima, short_minima, bfloat16, floats };
__device__ __forceinline__ constexpr TileKind tile_kind(Type type) {
  switch (type) {
    case Type::f32:
    case Type::f16:
      return TileKind::floats;
    case Type::bf16:
      return TileKind::bfloat16;
    case Type::q2_k:
    case Type::q3_k:
    case Type::q6_k:
      return TileKind::short_minima;
    case Type::q4_1:
    case Type::q5_1:
    case Type::q4_k:
    case Type::q5_k:
      return TileKind::minima;
    default:
      return TileKind::scales;
  }
}

struct TileRow {
  Weight weight;
  std::int64_t row;
  bool there;
};
// The tile's row `v`. only: 0 or 1, to take the other matrix's rows as not there.
__device__ __forceinline__ TileRow tile_row(const TileWeights& weights, int only, int v) {
  const int part = weights.paired ? v / 16 % 2 : 0;
  const std::int64_t row = weights.first_row + (weights.paired ? v / 32 * 16 + v % 16 : v);
  const Weight weight = part == 0 ? weights.first : weights.second;
  return {weight, row, row < weight.rows && (only == both_parts || only == part)};
}

// The activations, in each form that a type of weights may be multiplied with. Strides are those of rows,
// each in elements of its array, of which each row begins at a multiple of 16 bytes.
struct TileInputs {
  const float* floats = nullptr;
  std::int64_t float_stride = 0;
  const std::uint32_t* pairs = nullptr;  // of bfloat16, zeros up to a multiple of 8 columns
  std::int64_t pair_stride = 0;
  const std::int8_t* q = nullptr;
  std::int64_t q_stride = 0;
  const Floats2* halves = nullptr;  // of each 16 columns: the scale, and scale · Σ q
  std::int64_t half_stride = 0;
};

// A warp's sums: [i][j] is the product (mma.h) of rows 16 i … of the warp's 32 and its tokens 8 j ….
struct TileSums {
  float v[2][4][4] = {};
};

// What of the tile this warp has: 32 of the rows, and half of the tokens that are there (of few, too, so that
// no warp waits for others), rounded up to products. Loops over j end at 8 j ≥ `tokens`, which may be below
// zero.
struct TileWarp {
  int row;
  int token;
  int tokens;
};
__device__ __forceinline__ TileWarp tile_warp(int tokens) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int half = (tokens + 15) / 16 * 8;
  return {warp / 2 * 32, warp % 2 * half, warp % 2 == 0 ? half : tokens - half};
}

struct TilePosition {
  int row;
  int token;
};
__device__ __forceinline__ TilePosition tile_position(const TileWarp& warp, int i, int j, int k) {
  return {warp.row + 16 * i + sum_row(k), warp.token + 8 * j + sum_column(k)};
}

}  // namespace fovea::kernels::cuda
