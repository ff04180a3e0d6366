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
#include "kernels/cuda/dispatch.h"
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
__device__ __forceinline__ std::uint32_t subtract_from_bytes(std::uint32_t bytes, unsigned value) {
  return (bytes + (0x80U - value) * 0x01010101U) ^ 0x80808080U;
}

// How sums are made of a type: the later serve the earlier, too.
enum class ByteSums : std::uint8_t { scales, minima, short_minima };
__device__ __forceinline__ ByteSums byte_sums(Type type) {
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

// What a thread decodes in a step: two adjacent units of a row, half of the step's columns.
constexpr int byte_units = 2;

template <Type type, bool packed>
__device__ __forceinline__ void decode_bytes(const Weight& weight, std::int64_t row, int first_unit,
                                             int first_column, std::uint32_t* out, std::uint32_t* scales) {
  constexpr unsigned zero = zero_code_of<type>;
  const Row<type, packed> from(weight, row);
  const int last = static_cast<int>(weight.columns) / 32 - 1;
#pragma unroll
  for (int u = 0; u < byte_units; ++u) {
    const int unit = first_unit + u;
    // Behind the row's end any will do: the inputs are zeros.
    const Codes codes = decode(from, unit < last ? unit : last);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int half = (unit_column<type>(unit, h) >> 4) - (first_column >> 4);  // of the step
      Words4 words;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t q = codes.q[4 * h + i];
        words.v[i] = zero == 0 ? q : subtract_from_bytes(q, zero);
      }
      store(out + 4 * half, words);
      store(scales + 2 * half,
            Words2{__float_as_uint(codes.scale[h]), zero == 0 ? __float_as_uint(codes.minimum[h]) : 0U});
    }
  }
}

// Columns [32 unit, 32 unit + 64) or, in types whose units are not adjacent, as many of the same step.
static __device__ __noinline__ void fill_bytes(Weight weight, std::int64_t row, int unit, int first_column,
                                               SharedPlace out_place, SharedPlace scales_place) {
  auto* const out = at_place<std::uint32_t>(out_place);
  auto* const scales = at_place<std::uint32_t>(scales_place);
  const bool packed = weight.packing == Packing::tiles;
  dispatch(weight.type, [&]<Type type>() {
    if constexpr (!is_quantised(type)) {
      return;
    } else if (packed) {
      decode_bytes<type, true>(weight, row, unit, first_column, out, scales);
    } else {
      decode_bytes<type, false>(weight, row, unit, first_column, out, scales);
    }
  });
}

// What a thread copies of the inputs in each step: 16 columns of some rows, and 32 columns' scales of others.
// Where they begin, in elements, which 32 bits count; below zero: nowhere.
class ByteCopies {
 public:
  __device__ __forceinline__ ByteCopies(const TileInputs& x, int* rows) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int row = rows[thread() / chunks + i * at_once];
      from_[i] = row < 0 ? -1 : static_cast<int>(row * x.q_stride) + thread() % chunks * 16;
    }
#pragma unroll
    for (int i = 0; i < scale_count; ++i) {
      const int row = rows[thread() / groups + i * scales_at_once];
      scales_from_[i] = row < 0 ? -1 : static_cast<int>(row * x.half_stride) + thread() % groups * 2;
    }
  }

  // Starts the copies of 128 columns.
  __device__ __forceinline__ void start(const TileInputs& x, int columns, int column,
                                        std::uint32_t* memory) const {
    const bool inside = column + thread() % chunks * 16 < columns;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const bool wanted = inside && from_[i] >= 0;
      copy_async(
          memory + byte_inputs + (thread() / chunks + i * at_once) * byte_stride + thread() % chunks * 4,
          x.q + (wanted ? from_[i] + column : 0), wanted);
    }
    const bool scales_inside = column + thread() % groups * 32 < columns;
#pragma unroll
    for (int i = 0; i < scale_count; ++i) {
      const bool wanted = scales_inside && scales_from_[i] >= 0;
      copy_async(memory + byte_input_scales + (thread() / groups + i * scales_at_once) * scale_stride +
                     thread() % groups * 4,
                 x.halves + (wanted ? scales_from_[i] + column / 16 : 0), wanted);
    }
  }

 private:
  static constexpr int chunks = byte_columns / 16, groups = byte_columns / 32;
  static constexpr int at_once = tile_threads / chunks, scales_at_once = tile_threads / groups;
  static constexpr int count = tile_size / at_once, scale_count = tile_size / scales_at_once;

  __device__ __forceinline__ static int thread() { return static_cast<int>(threadIdx.x); }

  int from_[count];
  int scales_from_[scale_count];
};

__device__ __forceinline__ Floats2 scales_at(std::uint32_t* memory, int at) {
  const auto words = load<Words2>(memory + at);
  return {__uint_as_float(words.v[0]), __uint_as_float(words.v[1])};
}

// Integers are added up on top of one whose bits are those of 1.5 · 2^23: read as a float, the sum is that
// and the integer, which must be below 2^22. So conversion is one subtraction.
constexpr int sum_base = 0x4B400000;
constexpr float sum_base_value = 12582912.0F;
// Four registers of it, in which no compiler sees constants or what is the same for all threads (`small` is
// less than 2^27): those it would write anew before each product.
struct SumBase {
  int v[4];
  __device__ __forceinline__ explicit SumBase(int small) {
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = sum_base + (small >> (27 + k) & static_cast<int>(threadIdx.x));
  }
};

// Adds a product of `wide` times 16 columns, from the half-block `half` of the step on.
template <int wide, bool minima>
__device__ __forceinline__ void add_byte_products(std::uint32_t* memory, const TileWarp& warp, int half,
                                                  const SumBase& base, TileSums& sums) {
  std::uint32_t a[wide][4];  // of both blocks of rows in the short product
  const int rows = (wide == 2 ? first_of_rows(byte_stride) : first_of_short(byte_stride)) +
                   warp.row * byte_stride + 4 * half;
#pragma unroll
  for (int i = 0; i < wide; ++i) load_matrices(memory, rows + 16 * i * byte_stride, a[i]);
  Floats2 w[2][2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
      w[i][r] =
          scales_at(memory, byte_scales + (warp.row + 16 * i + sum_row(2 * r)) * scale_stride + 2 * half);
  }
  constexpr int at_once = wide == 2 ? 2 : 4;  // blocks of 8 tokens that come together
  const int columns = (wide == 2 ? first_of_columns(byte_stride) : first_of_short(byte_stride)) +
                      byte_inputs + warp.token * byte_stride + 4 * half;
  std::uint32_t b[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (8 * j >= warp.tokens) break;
    if (j % at_once == 0) load_matrices(memory, columns + 8 * j * byte_stride, b);
    Floats2 x[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int scale = byte_input_scales + (warp.token + 8 * j + sum_column(k)) * scale_stride + 2 * half;
      x[k] = scales_at(memory, scale);
      if constexpr (minima && wide == 2) x[k].v[1] += scales_at(memory, scale + 2).v[1];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      int c[4];
      if constexpr (wide == 2) {
        multiply_bytes(c, a[i], {b[j % 2 * 2], b[j % 2 * 2 + 1]}, base.v);
      } else {
        multiply_bytes(c, {a[0][2 * i], a[0][2 * i + 1]}, {b[j]}, base.v);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float dot = __uint_as_float(static_cast<std::uint32_t>(c[k])) - sum_base_value;
        float& sum = sums.v[i][j][k];
        sum += w[i][k / 2].v[0] * x[k % 2].v[0] * dot;
        if constexpr (minima) sum -= w[i][k / 2].v[1] * x[k % 2].v[1];
      }
    }
  }
}

__device__ __forceinline__ void add_bytes(const TileWeights& weights, int only, const TileInputs& x,
                                          int* rows, const TileWarp& warp, std::uint32_t* memory,
                                          TileSums& sums) {
  const int columns = static_cast<int>(weights.first.columns);
  ByteSums kind = byte_sums(weights.first.type);
  if (weights.paired && byte_sums(weights.second.type) > kind) kind = byte_sums(weights.second.type);
  const ByteCopies copies(x, rows);
  constexpr int shares = byte_columns / 32 / byte_units;  // of a row
  static_assert(tile_size * shares == tile_threads);
  const int thread = static_cast<int>(threadIdx.x);
  const TileRow at = tile_row(weights, only, thread / shares);
  const int first_unit = thread % shares * byte_units;
  std::uint32_t* const out = memory + thread / shares * byte_stride;
  std::uint32_t* const scales = memory + (byte_scales + thread / shares * scale_stride);
  const SumBase base(columns);
  __syncthreads();  // what was there before has been read
  if (!at.there) {
#pragma unroll
    for (int i = 0; i < 4 * byte_units; i += 2) {
      store(out + 4 * (2 * first_unit + i / 2), Words4{});
      if (i % 4 == 0) store(scales + 4 * first_unit + i, Words4{});
    }
  }
  for (auto column = static_cast<int>(weights.first_column); column < weights.end_column;
       column += byte_columns) {
    __syncthreads();  // the step before has been read
    copies.start(x, columns, column, memory);
    commit_copies();
    if (at.there)
      fill_bytes(at.weight, at.row, column / 32 + first_unit, column, place_of(out), place_of(scales));
    wait_for_copies<0>();
    __syncthreads();
    if (kind == ByteSums::scales) {
#pragma unroll
      for (int half = 0; half < byte_columns / 16; half += 2)
        add_byte_products<2, false>(memory, warp, half, base, sums);
    } else if (kind == ByteSums::minima) {
#pragma unroll 1
      for (int half = 0; half < byte_columns / 16; half += 2)
        add_byte_products<2, true>(memory, warp, half, base, sums);
    } else {
#pragma unroll 1
      for (int half = 0; half < byte_columns / 16; ++half)
        add_byte_products<1, true>(memory, warp, half, base, sums);
    }
  }
}

}  // namespace fovea::kernels::cuda
