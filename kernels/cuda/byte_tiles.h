// Quantised weights times quantised activations on tensor cores, as 8-bit integers: two to four times the
// rate of bfloat16 with sums in float, by device.
//
// A step decodes 128 columns of the tile's weights to signed bytes in shared memory, with a scale and a
// minimum for each 16 of them. Products of 32 columns are added up in integers, exactly, and go into float
// sums with the scales of both sides; types that have a scale for each 16 weights take the short product.
// Bound by those additions of three to four float operations for each 32 products; the next bound is
// decoding, which a tile does once for its 64 tokens.
#pragma once

#include <cstdint>

#include "kernels/cuda/codes.h"
#include "kernels/cuda/tile.h"

namespace fovea::kernels::cuda {

constexpr int byte_columns = 128;                   // of one step
constexpr int byte_stride = byte_columns / 4 + 4;   // in words; mma.h on the 4
constexpr int scale_stride = byte_columns / 8 + 4;  // likewise: two floats for each 16 columns
constexpr int byte_inputs = tile_size * byte_stride;
constexpr int byte_scales = 2 * byte_inputs;
constexpr int byte_input_scales = byte_scales + tile_size * scale_stride;
static_assert(column_unit % byte_columns == 0);
static_assert(byte_input_scales + tile_size * scale_stride <= tile_words);

// What to subtract from a type's codes, so that zero is a weight of zero and the minimum is none: it is its
// scale times this. 0 where the codes are so already or each block has a minimum of its own.
template <Type type>
constexpr unsigned zero_code() {
  if (type == Type::q4_0) return 8;
  if (type == Type::q5_0) return 16;
  if (type == Type::q3_k) return 4;
  if (type == Type::q6_k) return 32;
  if (is_trellis(type)) return formats::trellis_zero;
  return 0;
}
template <Type type>
constexpr unsigned zero_code_of = zero_code<type>();

// From each byte; they are below 128.
FOVEA_DEVICE std::uint32_t subtract_from_bytes(std::uint32_t bytes, unsigned value) {
  return ((bytes | 0x80808080U) - value * 0x01010101U) ^ 0x80808080U;
}

// How sums are made of a type: the later serve the earlier, too.
enum class ByteSums : std::uint8_t { scales, minima, short_minima };
FOVEA_DEVICE ByteSums byte_sums(Type type) {
  switch (type) {
    case Type::q2_k:
    case Type::q3_k:
    case Type::q6_k:
      return ByteSums::short_minima;
    case Type::q4_1:
    case Type::q5_1:
    case Type::q4_k:
    case Type::q5_k:
      return ByteSums::minima;
    default:
      return ByteSums::scales;
  }
}

template <Type type, bool packed>
FOVEA_DEVICE void decode_bytes(const Weight& weight, std::int64_t row, int unit, int first_column,
                               const Shared<std::uint32_t>& out, const Shared<std::uint32_t>& scales) {
  constexpr unsigned zero = zero_code_of<type>;
  const Codes codes = decode(Row<type, packed>(weight, row), unit);
  FOVEA_UNROLL for (int h = 0; h < 2; ++h) {
    const int column = unit_column<type>(unit, h) - first_column;
    Words4 words;
    FOVEA_UNROLL for (int i = 0; i < 4; ++i) {
      const std::uint32_t q = codes.q[4 * h + i];
      words.v[i] = zero == 0 ? q : subtract_from_bytes(q, zero);
    }
    out.store(column / 4, words);
    scales.store(column / 8, Words2{bits_of(codes.scale[h]), zero == 0 ? bits_of(codes.minimum[h]) : 0U});
  }
}

// Columns [32 unit, 32 unit + 32) or, in types whose units are not adjacent, as many of the same step.
FOVEA_DEVICE_CALL void fill_bytes(Weight weight, std::int64_t row, int unit, int first_column,
                                  Shared<std::uint32_t> out, Shared<std::uint32_t> scales) {
  const bool packed = weight.packing == Packing::tiles;
  switch (weight.type) {
#define FOVEA_CASE(name)                                                             \
  case Type::name:                                                                   \
    if (packed) {                                                                    \
      decode_bytes<Type::name, true>(weight, row, unit, first_column, out, scales);  \
    } else {                                                                         \
      decode_bytes<Type::name, false>(weight, row, unit, first_column, out, scales); \
    }                                                                                \
    break;
    FOVEA_QUANTISED_TYPES(FOVEA_CASE)
#undef FOVEA_CASE
    default:
      break;
  }
}

// Starts the copies of 128 columns of the inputs.
FOVEA_DEVICE void copy_bytes(const TileInputs& x, const Shared<int>& rows, std::int64_t columns,
                             std::int64_t column, const Shared<std::uint32_t>& memory) {
  constexpr int chunks = byte_columns / 16;
  for (int i = static_cast<int>(thread_index()); i < tile_size * chunks;
       i += static_cast<int>(tile_threads)) {
    const int row = rows[i / chunks];
    const std::int64_t first = column + i % chunks * 16;
    const bool wanted = row >= 0 && first < columns;
    memory.copy_async(byte_inputs + i / chunks * byte_stride + i % chunks * 4,
                      x.q + (wanted ? row * x.q_stride + first : 0), wanted);
    if (i % 2 != 0) continue;
    memory.copy_async(byte_input_scales + i / chunks * scale_stride + i % chunks * 2,
                      x.halves + (wanted ? row * x.half_stride + first / 16 : 0), wanted);
  }
}

FOVEA_DEVICE Floats2 scales_at(const Shared<std::uint32_t>& memory, int at) {
  const auto words = memory.load<Words2>(at);
  return {float_of_bits(words.v[0]), float_of_bits(words.v[1])};
}

// Integers are added up on top of one whose bits are those of 1.5 · 2^23: read as a float, the sum is that
// and the integer, which must be below 2^22. So conversion is one subtraction.
constexpr int sum_base = 0x4B400000;
constexpr float sum_base_value = 12582912.0F;

// Adds a product of `wide` times 16 columns, from the half-block `half` of the step on.
template <int wide, bool minima>
FOVEA_DEVICE void add_byte_products(const Shared<std::uint32_t>& memory, const TileWarp& warp, int half,
                                    TileSums& sums) {
  std::uint32_t a[2][2 * wide];
  Floats2 w[2][2];
  FOVEA_UNROLL for (int i = 0; i < 2; ++i) {
    const int at = (warp.row + 16 * i) * byte_stride + 4 * half;
    if constexpr (wide == 2) {
      load_rows(memory, at, byte_stride, a[i]);
    } else {
      load_short_rows(memory, at, byte_stride, a[i]);
    }
    FOVEA_UNROLL for (int r = 0; r < 2; ++r) w[i][r] =
        scales_at(memory, byte_scales + (warp.row + 16 * i + sum_row(2 * r)) * scale_stride + 2 * half);
  }
  FOVEA_UNROLL for (int j = 0; j < 4; ++j) {
    if (8 * j >= warp.tokens) break;
    const int token = warp.token + 8 * j;
    std::uint32_t b[wide];
    const int at = byte_inputs + token * byte_stride + 4 * half;
    if constexpr (wide == 2) {
      load_columns(memory, at, byte_stride, b);
    } else {
      load_short_columns(memory, at, byte_stride, b);
    }
    Floats2 x[2];
    FOVEA_UNROLL for (int k = 0; k < 2; ++k) {
      const int scale = byte_input_scales + (token + sum_column(k)) * scale_stride + 2 * half;
      x[k] = scales_at(memory, scale);
      if constexpr (minima && wide == 2) x[k].v[1] += scales_at(memory, scale + 2).v[1];
    }
    FOVEA_UNROLL for (int i = 0; i < 2; ++i) {
      int c[4];
      multiply_bytes(c, a[i], b, sum_base);
      FOVEA_UNROLL for (int k = 0; k < 4; ++k) {
        const float dot = float_of_bits(static_cast<std::uint32_t>(c[k])) - sum_base_value;
        float& sum = sums.v[i][j][k];
        sum += w[i][k / 2].v[0] * x[k % 2].v[0] * dot;
        if constexpr (minima) sum -= w[i][k / 2].v[1] * x[k % 2].v[1];
      }
    }
  }
}

FOVEA_DEVICE void add_bytes(const TileWeights& weights, int only, const TileInputs& x,
                            const Shared<int>& rows, int tokens, const Shared<std::uint32_t>& memory,
                            TileSums& sums) {
  const TileWarp warp = tile_warp(tokens);
  const int columns = static_cast<int>(weights.first.columns);
  ByteSums kind = byte_sums(weights.first.type);
  if (weights.paired && byte_sums(weights.second.type) > kind) kind = byte_sums(weights.second.type);
  for (auto column = static_cast<int>(weights.first_column); column < weights.end_column;
       column += byte_columns) {
    sync_block();  // the step before has been read
    copy_bytes(x, rows, columns, column, memory);
    commit_copies();
    for (int i = static_cast<int>(thread_index()); i < tile_size * 4; i += static_cast<int>(tile_threads)) {
      const int unit = column / 32 + i % 4;
      const TileRow at = tile_row(weights, only, i / 4);
      const Shared<std::uint32_t> out = memory + i / 4 * byte_stride;
      const Shared<std::uint32_t> scales = memory + (byte_scales + i / 4 * scale_stride);
      if (at.there && unit * 32 < columns) {
        fill_bytes(at.weight, at.row, unit, column, out, scales);
      } else {
        FOVEA_UNROLL for (int h = 0; h < 2; ++h) out.store(i % 4 * 8 + 4 * h, Words4{});
        scales.store(i % 4 * 4, Words4{});
      }
    }
    wait_for_copies<0>();
    sync_block();
    if (kind == ByteSums::scales) {
      FOVEA_LOOP for (int half = 0; half < byte_columns / 16; half += 2)
          add_byte_products<2, false>(memory, warp, half, sums);
    } else if (kind == ByteSums::minima) {
      FOVEA_LOOP for (int half = 0; half < byte_columns / 16; half += 2)
          add_byte_products<2, true>(memory, warp, half, sums);
    } else {
      FOVEA_LOOP for (int half = 0; half < byte_columns / 16; ++half)
          add_byte_products<1, true>(memory, warp, half, sums);
    }
  }
}

}  // namespace fovea::kernels::cuda
