// Products of many tokens with weight matrices, in tiles of 64 rows of weights by 64 tokens, whatever the
// weights' type:
//
//   quantised   on tensor cores as 8-bit integers (byte_tiles.h)
//   BF16        on tensor cores as bfloat16, activations rounded to it: experts, of whose groups only the
//               device knows the sizes, and where cuBLAS is not installed the other matrices too (linear.cu)
//   F32, F16    in floats, since rounded activations would be less exact than these weights are. Models have
//               few of them
//
// A tile's memory is small enough for three blocks on a multiprocessor: one loads and decodes while another
// multiplies.
#pragma once

#include <cstdint>

#include "kernels/cuda/byte_tiles.h"
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/plain.h"
#include "kernels/cuda/tile.h"

namespace fovea::kernels::cuda {

// --- BF16 ---

constexpr int bfloat16_columns = 64;                       // of one step
constexpr int bfloat16_stride = bfloat16_columns / 2 + 4;  // in words; mma.h on the 4
static_assert(column_unit % bfloat16_columns == 0 && 2 * tile_size * bfloat16_stride <= tile_words);

// Eight columns of a row of weights; rows that are not there are zeros.
__device__ __forceinline__ void copy_bfloat16(const TileWeights& weights, int only, int v,
                                              std::int64_t column, std::uint32_t* out) {
  const TileRow at = tile_row(weights, only, v);
  const std::byte* const from = at.weight.data + (at.row * at.weight.columns + column) * 2;
  const std::int64_t left = at.there ? at.weight.columns - column : 0;
  if (left >= 8 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) return copy_async(out, from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t pair = 0;
    if (2 * i < left) pair = load_constant<std::uint16_t>(from + 4 * i);
    if (2 * i + 1 < left)
      pair |= static_cast<std::uint32_t>(load_constant<std::uint16_t>(from + 4 * i + 2)) << 16;
    out[i] = pair;
  }
}

__device__ __forceinline__ void add_bfloat16(const TileWeights& weights, int only, const TileInputs& x,
                                             int* rows, int tokens, std::uint32_t* memory, TileSums& sums) {
  std::uint32_t* const inputs = memory + tile_size * bfloat16_stride;
  const TileWarp warp = tile_warp(tokens);
  const std::int64_t columns = weights.first.columns;
  constexpr int chunks = bfloat16_columns / 8;
  for (std::int64_t column = weights.first_column; column < weights.end_column; column += bfloat16_columns) {
    __syncthreads();  // the step before has been read
    for (int i = static_cast<int>(threadIdx.x); i < tile_size * chunks; i += static_cast<int>(tile_threads)) {
      const std::int64_t first = column + i % chunks * 8;
      const int at = i / chunks * bfloat16_stride + i % chunks * 4;
      const int row = rows[i / chunks];
      const bool wanted = row >= 0 && first < columns;
      copy_async(inputs + at, x.pairs + (wanted ? row * x.pair_stride + first / 2 : 0), wanted);
      copy_bfloat16(weights, only, i / chunks, first, memory + at);
    }
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < bfloat16_columns / 2; step += 8) {
      std::uint32_t a[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        load_rows(memory, (warp.row + 16 * i) * bfloat16_stride + step, bfloat16_stride, a[i]);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (8 * j >= warp.tokens) break;
        std::uint32_t b[2];
        load_columns(inputs, (warp.token + 8 * j) * bfloat16_stride + step, bfloat16_stride, b);
#pragma unroll
        for (int i = 0; i < 2; ++i) multiply_bfloat16(sums.v[i][j], a[i], b);
      }
    }
  }
}

// --- F32 and F16 ---

constexpr int float_columns = 32;
constexpr int float_stride = float_columns + 1;
static_assert(column_unit % float_columns == 0 && 2 * tile_size * float_stride <= tile_words);

__device__ __forceinline__ float weight_element(const TileRow& at, std::int64_t column) {
  if (!at.there) return 0;
  const std::byte* const row = at.weight.data;
  const std::int64_t i = at.row * at.weight.columns + column;
  return at.weight.type == Type::f32 ? plain_element<Type::f32>(row, i) : plain_element<Type::f16>(row, i);
}

__device__ __forceinline__ void add_floats(const TileWeights& weights, int only, const TileInputs& x,
                                           int* rows, int tokens, std::uint32_t* memory, TileSums& sums) {
  std::uint32_t* const inputs = memory + tile_size * float_stride;
  const TileWarp warp = tile_warp(tokens);
  const std::int64_t columns = weights.first.columns;
  for (std::int64_t first = weights.first_column; first < weights.end_column; first += float_columns) {
    __syncthreads();  // the step before has been read
    for (int i = static_cast<int>(threadIdx.x); i < tile_size * float_columns;
         i += static_cast<int>(tile_threads)) {
      const std::int64_t column = first + i % float_columns;
      const int at = i / float_columns * float_stride + i % float_columns;
      const int row = rows[i / float_columns];
      const bool inside = column < columns;
      memory[at] =
          inside ? __float_as_uint(weight_element(tile_row(weights, only, i / float_columns), column)) : 0U;
      inputs[at] = inside && row >= 0 ? __float_as_uint(x.floats[row * x.float_stride + column]) : 0U;
    }
    __syncthreads();
    for (int column = 0; column < float_columns; ++column) {
      float w[2][2];  // the positions of sums: k / 2 tells the row, k % 2 the token
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r)
          w[i][r] = __uint_as_float(memory[tile_position(warp, i, 0, 2 * r).row * float_stride + column]);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (8 * j >= warp.tokens) break;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const float value =
              __uint_as_float(inputs[tile_position(warp, 0, j, k).token * float_stride + column]);
#pragma unroll
          for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r) sums.v[i][j][2 * r + k] += w[i][r] * value;
          }
        }
      }
    }
  }
}

// --- all ---

// sums += weights · x[rows[…]]ᵀ. `weights` gives the TileWeights: it is asked anew for each pass, so that
// nothing of them is kept beside the sums. `rows` [64] names rows of x, below zero: none; the first `tokens`
// of them are there. The block has written `rows`, and need not have waited since. `memory` [tile_words] is
// free again behind a __syncthreads(). All threads of the block call this.
template <typename Weights>
__device__ __forceinline__ void multiply_tile(const Weights& weights, const TileInputs& x, int* rows,
                                              int tokens, std::uint32_t* memory, TileSums& sums) {
  // Two matrices whose types are multiplied in different ways: one after the other, each with the other's
  // rows as zeros.
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    const TileWeights these = weights();
    const TileKind first = tile_kind(these.first.type);
    const bool apart = these.paired && tile_kind(these.second.type) != first;
    if (pass == 1 && !apart) return;
    const int only = apart ? pass : both_parts;
    const TileKind kind = pass == 0 ? first : tile_kind(these.second.type);
    if (kind == TileKind::scales) {
      add_bytes<TileKind::scales>(these, only, x, rows, tokens, memory, sums);
    } else if (kind == TileKind::minima) {
      add_bytes<TileKind::minima>(these, only, x, rows, tokens, memory, sums);
    } else if (kind == TileKind::short_minima) {
      add_bytes<TileKind::short_minima>(these, only, x, rows, tokens, memory, sums);
    } else if (kind == TileKind::bfloat16) {
      add_bfloat16(these, only, x, rows, tokens, memory, sums);
    } else {
      add_floats(these, only, x, rows, tokens, memory, sums);
    }
  }
}

}  // namespace fovea::kernels::cuda
