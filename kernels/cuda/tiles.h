// Products of many tokens with a weight matrix on tensor cores, in tiles of 64 rows of weights by 64 tokens:
// weights are decoded to bfloat16 in shared memory, 128 columns at a time, whatever their type, and
// multiplied by activations in bfloat16 with sums in float.
//
// Bound by the tensor cores and, as it stands, by decoding between them: 16 products for each decoded weight
// and lane. Both arrays of a step take 34 KB, so that two or three blocks share a multiprocessor and
// one decodes while the other multiplies.
#pragma once

#include <cstdint>

#include "kernels/cuda/codes.h"
#include "kernels/cuda/plain.h"
#include "kernels/cuda/platform.h"

namespace fovea::kernels::cuda {

constexpr int tile_size = 64;      // rows of weights, and tokens, of a block
constexpr int tile_columns = 128;  // of one step
constexpr int tile_words = tile_columns / 2;
constexpr int tile_stride = tile_words + 4;  // in words: the rows of a fragment meet different banks
constexpr unsigned tile_threads = 128;       // four warps, each 32 rows by 32 tokens
constexpr int tile_blocks = 3;               // on a multiprocessor, by their registers and shared memory

// Activations as pairs of bfloat16, rows filled up with zeros to whole steps.
struct Rounded {
  std::uint32_t* pairs = nullptr;  // [rows, stride / 2]
  std::int64_t stride = 0;         // in columns
};
constexpr std::int64_t rounded_stride(std::int64_t columns) {
  return (columns + tile_columns - 1) / tile_columns * tile_columns;
}

// Types whose products may be rounded so: all but floats that are more exact.
constexpr bool has_tiles(Type type) {
  return type != Type::f32 && type != Type::f16;
}

FOVEA_DEVICE std::uint32_t pair_of(float first, float second) {
  return float_to_brain(first) | static_cast<std::uint32_t>(float_to_brain(second)) << 16;
}

// A warp's sums. Fragment [i][j] is rows 16 i … of the warp's 32 and tokens 8 j …; a lane, with g = lane / 4
// and c = lane % 4, holds {row g, token 2 c}, {g, 2 c + 1}, {g + 8, 2 c}, {g + 8, 2 c + 1} of it.
struct TileSums {
  float v[2][4][4] = {};
};
struct TilePlace {
  int row;
  int token;
};
FOVEA_DEVICE TilePlace tile_place(int i, int j, int k) {
  const int lane = static_cast<int>(thread_index() % 32);
  const int warp = static_cast<int>(thread_index() / 32);
  return {warp / 2 * 32 + 16 * i + lane / 4 + k / 2 * 8, warp % 2 * 32 + 8 * j + 2 * (lane % 4) + k % 2};
}

template <Type type, bool packed>
FOVEA_DEVICE void decode_unit(const Weight& weight, std::int64_t row, int unit, int first_column,
                              const Shared<std::uint32_t>& out) {
  const Codes codes = decode(Row<type, packed>(weight, row), unit);
  FOVEA_UNROLL for (int h = 0; h < 2; ++h) {
    const int at = (unit_column<type>(unit, h) - first_column) / 2;
    FOVEA_UNROLL for (int part = 0; part < 2; ++part) {
      Words4 words;
      FOVEA_UNROLL for (int i = 0; i < 4; ++i) {
        const std::uint32_t q = codes.q[4 * h + 2 * part + i / 2] >> (16 * (i % 2));
        const auto value = [&](int byte) {
          return codes.scale[h] * static_cast<float>(static_cast<std::int8_t>(q >> (8 * byte))) -
                 codes.minimum[h];
        };
        words.v[i] = pair_of(value(0), value(1));
      }
      out.store(at + 4 * part, words);
    }
  }
}

FOVEA_DEVICE void copy_unit(const Weight& weight, std::int64_t row, int unit,
                            const Shared<std::uint32_t>& out) {
  const std::byte* const from = weight.data + row * weight.columns * 2;
  for (int i = 0; i < 16; ++i) {
    const std::int64_t column = std::int64_t{unit} * 32 + 2 * i;
    std::uint32_t pair = 0;
    if (column < weight.columns) pair = load_constant<std::uint16_t>(from + 2 * column);
    if (column + 1 < weight.columns)
      pair |= static_cast<std::uint32_t>(load_constant<std::uint16_t>(from + 2 * column + 2)) << 16;
    out[unit % 4 * 16 + i] = pair;
  }
}

// Columns [32 unit, 32 unit + 32) or, in types whose units are not adjacent, as many of the same step.
FOVEA_DEVICE_CALL void fill_unit(Weight weight, std::int64_t row, int unit, int first_column,
                                 Shared<std::uint32_t> out) {
  if (row >= weight.rows || unit * 32 >= weight.columns) {
    FOVEA_UNROLL for (int i = 0; i < 16; i += 4) out.store(unit % 4 * 16 + i, Words4{});
    return;
  }
  const bool packed = weight.packing == Packing::tiles;
  switch (weight.type) {
#define FOVEA_CASE(name)                                                    \
  case Type::name:                                                          \
    if (packed) {                                                           \
      decode_unit<Type::name, true>(weight, row, unit, first_column, out);  \
    } else {                                                                \
      decode_unit<Type::name, false>(weight, row, unit, first_column, out); \
    }                                                                       \
    break;
    FOVEA_QUANTISED_TYPES(FOVEA_CASE)
#undef FOVEA_CASE
    default:  // bf16
      copy_unit(weight, row, unit, out);
      break;
  }
}

// sums += W[first_row … + 64] · x[rows[…]]ᵀ. `rows` [64] names rows of x; below zero: none. The block has
// written `rows` and waited since. All its threads call this.
FOVEA_DEVICE void multiply_tile(const Weight& weight, std::int64_t first_row, const Rounded& x,
                                const Shared<int>& rows, TileSums& sums) {
  FOVEA_SHARED(std::uint32_t, weights, tile_size* tile_stride);
  FOVEA_SHARED(std::uint32_t, inputs, tile_size* tile_stride);
  const int thread = static_cast<int>(thread_index());
  const int g = thread % 32 / 4;
  const int c = thread % 4;
  const int warp_row = thread / 64 * 32;
  const int warp_token = thread / 32 % 2 * 32;
  for (int column = 0; column < weight.columns; column += tile_columns) {
    sync_block();  // the step before has been read
    for (int i = thread; i < tile_size * tile_words / 4; i += static_cast<int>(tile_threads)) {
      const int token = i / (tile_words / 4);
      const int word = i % (tile_words / 4) * 4;
      const int row = rows[token];
      inputs.copy_async(token * tile_stride + word,
                        x.pairs + ((row < 0 ? 0 : row) * x.stride + column) / 2 + word, row >= 0);
    }
    commit_copies();
    for (int i = thread; i < tile_size * 4; i += static_cast<int>(tile_threads))
      fill_unit(weight, first_row + i / 4, column / 32 + i % 4, column, weights + i / 4 * tile_stride);
    wait_for_copies<0>();
    sync_block();
    FOVEA_UNROLL for (int step = 0; step < tile_words; step += 8) {
      std::uint32_t a[2][4];
      FOVEA_UNROLL for (int i = 0; i < 2; ++i) {
        const int at = (warp_row + 16 * i + g) * tile_stride + step + c;
        a[i][0] = weights[at];
        a[i][1] = weights[at + 8 * tile_stride];
        a[i][2] = weights[at + 4];
        a[i][3] = weights[at + 8 * tile_stride + 4];
      }
      FOVEA_UNROLL for (int j = 0; j < 4; ++j) {
        const int at = (warp_token + 8 * j + g) * tile_stride + step + c;
        const std::uint32_t b[2] = {inputs[at], inputs[at + 4]};
        FOVEA_UNROLL for (int i = 0; i < 2; ++i) multiply_matrices(sums.v[i][j], a[i], b);
      }
    }
  }
}

}  // namespace fovea::kernels::cuda
