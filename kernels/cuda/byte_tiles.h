// Quantised weights times quantised activations on tensor cores, as 8-bit integers: two to four times the
// rate of bfloat16 with sums in float, by device.
//
// A step decodes 128 columns of the tile's weights to signed bytes in shared memory, with a scale and a
// minimum for each 32 of them (or 16, in types that have one for each: they take the short product). Products
// of 32 columns are added up in integers, exactly, and go into float sums with the scales of both sides.
//
// Bound by what is issued: two float operations for each sum of a product, and decoding, which a tile does
// once for its 64 tokens; the tensor cores are next. The inputs of a step are on their way while the step
// before is multiplied, where there is room for two.
#pragma once

#include <cstdint>

#include "kernels/cuda/codes.h"
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/tile.h"

namespace fovea::kernels::cuda {

constexpr int byte_columns = 128;                  // of one step
constexpr int byte_groups = byte_columns / 32;     // that have a scale of the inputs
constexpr int byte_stride = byte_columns / 4 + 4;  // of rows, in words; mma.h on the 4
static_assert(column_unit % byte_columns == 0);

// Where what lies in a tile's memory, in words.
template <TileKind kind>
struct ByteTile {
  static constexpr bool minima = kind != TileKind::scales;
  static constexpr bool is_short = kind == TileKind::short_minima;
  // Rows of inputs: of two steps with up to 64 tokens, or where minima take room, with up to 32.
  static constexpr int input_rows = minima ? tile_size : 2 * tile_size;
  static constexpr int step_rows = input_rows / 2;
  // Weights' scales, each with a minimum or what takes its place: two columns' worth of them for all rows,
  // then the next two.
  static constexpr int pairs = is_short ? byte_groups : byte_groups / 2;
  static constexpr int pair_words = 4 * tile_size;
  static constexpr int scales = tile_size * byte_stride;
  static constexpr int inputs = scales + pairs * pair_words;
  // Inputs' scales, of one group of columns for all rows and then of the next; likewise scale · Σ q, of
  // each 16 columns. The 8 keep both copies and what reads two tokens at once free of bank conflicts.
  static constexpr int input_stride = input_rows + 8;
  static constexpr int input_scales = inputs + input_rows * byte_stride;
  static constexpr int input_sums = input_scales + byte_groups * input_stride;
  static_assert(input_sums + (minima ? 2 * byte_groups * input_stride : 0) <= tile_words);
};

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

// From each byte; they are below 128. In two steps, the first of which a decoder may have done.
template <unsigned value>
constexpr unsigned raised_by = value == 0 ? 0 : 0x80U - value;
__device__ __forceinline__ std::uint32_t lower_raised(std::uint32_t bytes) {
  return bytes ^ 0x80808080U;
}

// Integers are added up on top of one whose bits are those of 1.5 · 2^23: read as a float, the sum is that
// and the integer, which must be below 2^22. A scale times it, less the scale times 1.5 · 2^23, is one
// operation and rounded once, since the latter is exact: scales of weights have 19 bits at most.
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

// What a thread decodes in a step: two adjacent units of a row, half of the step's columns.
constexpr int byte_units = 2;

// Into the words of the row's half, and its scales: of pairs.
template <Type type, bool packed>
__device__ __forceinline__ void decode_bytes(const RowPlace& place, int last, int first_unit,
                                             std::uint32_t* out, std::uint32_t* scales) {
  constexpr unsigned zero = zero_code_of<type>;
  constexpr unsigned raised = raised_by<zero>, more = is_trellis_of<type> ? raised : 0;
  constexpr TileKind kind = tile_kind(type);
  constexpr int pair_words = ByteTile<kind>::pair_words;
  // Units of q6_k have columns of both halves.
  const int half = first_unit % byte_groups / byte_units;
  std::uint32_t* const words_out = type == Type::q6_k ? out + -8 * half : out;
  const Row<type, packed> from(place);
  // What comes next is on its way to the second-level cache while this step is multiplied.
  const int next = first_unit + byte_groups;
  from.prefetch_codes(next < last ? next : last);
  float scale[2][2], second[2][2];  // [unit, half of the unit]
#pragma unroll
  for (int u = 0; u < byte_units; ++u) {
    const int unit = first_unit + u;
    // Behind the row's end any will do: the inputs are zeros.
    const Codes codes = decode<type, packed, more>(from, unit < last ? unit : last);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      Words4 words;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t q = codes.q[4 * h + i];
        words.v[i] = zero == 0 ? q : lower_raised(q + (raised - more) * 0x01010101U);
      }
      store(words_out + (unit_column<type>(u, h) / 4), words);
      scale[u][h] = codes.scale[h];
      second[u][h] = kind == TileKind::scales ? codes.scale[h] * -sum_base_value
                     : zero != 0              ? 0.0F
                                              : codes.minimum[h];
    }
  }
  if constexpr (kind == TileKind::short_minima) {
    // Both units' halves h are adjacent: of one group.
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int group = type == Type::q6_k ? half + 2 * h : byte_units * half + h;
      store(scales + group * pair_words, Words4{__float_as_uint(scale[0][h]), __float_as_uint(second[0][h]),
                                                __float_as_uint(scale[1][h]), __float_as_uint(second[1][h])});
    }
  } else {
    constexpr bool across = type == Type::q4_k || type == Type::q5_k;  // a unit has halves of both groups
    store(scales + half * pair_words, Words4{__float_as_uint(scale[0][0]), __float_as_uint(second[0][0]),
                                             __float_as_uint(across ? scale[0][1] : scale[1][0]),
                                             __float_as_uint(across ? second[0][1] : second[1][0])});
  }
}

// Which decoder a matrix takes, in one number.
constexpr int no_decoder = -1;
__device__ __forceinline__ int decoder_of(const Weight& weight) {
  return quantised_form(weight.type, weight.packing == Packing::tiles);
}

// Columns [32 unit, 32 unit + 64) or, in types whose units are not adjacent, as many of the same step.
// `last`: the row's last unit.
static __device__ __noinline__ void fill_bytes(RowPlace place, int with, int last, int unit,
                                               SharedPlace out_place, SharedPlace scales_place) {
  auto* const out = at_place<std::uint32_t>(out_place);
  auto* const scales = at_place<std::uint32_t>(scales_place);
  dispatch_quantised(
      with, [&]<Type type, bool packed>() { decode_bytes<type, packed>(place, last, unit, out, scales); });
}

__device__ __forceinline__ RowPlace place_of_bytes(const Weight& weight, std::int64_t row) {
  std::int64_t blocks = 0;
  int bytes = 0;
  dispatch(weight.type, [&]<Type type>() {
    if constexpr (is_quantised(type)) {
      blocks = weight.columns / elements_of<type>;
      bytes = bytes_of<type>;
    }
  });
  return place_of_row(weight, row, weight.packing == Packing::tiles, blocks, bytes);
}

// What a thread copies of the inputs in each step: 16 columns of some rows, and 32 columns' scales of others.
// Where they begin, in elements, which 32 bits count. Where no token is, one that is there stands in: what
// comes of it is not used.
template <TileKind kind>
class ByteCopies {
  using At = ByteTile<kind>;

 public:
  __device__ __forceinline__ ByteCopies(const TileInputs& x, int* rows, int columns, bool many)
      : many_(many) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int chunk = thread % chunks, row = thread / chunks;
#pragma unroll
    for (int i = 0; i < count; ++i)
      from_[i] = static_cast<unsigned>(row_of(rows, row + i * at_once) * x.q_stride) + chunk * 16;
    to_ = anew(At::inputs + row * byte_stride + chunk * 4);
    end_ = anew(columns - chunk * 16);
    const int group = thread % byte_groups, scale_row = thread / byte_groups;
#pragma unroll
    for (int i = 0; i < scale_count; ++i)
      scales_from_[i] =
          static_cast<unsigned>(row_of(rows, scale_row + i * scales_at_once) * x.half_stride) + group * 2;
    scales_to_ = anew(At::input_scales + group * At::input_stride + scale_row);
    scales_end_ = anew(columns - group * 32);
  }

  // Starts the copies of 128 columns into rows from `row` on.
  __device__ __forceinline__ void start(const TileInputs& x, int column, int row,
                                        std::uint32_t* memory) const {
    copy(x, column, row, memory, 0);
    if (many_) copy(x, column, row, memory, 1);
    commit_copies();
  }

 private:
  static constexpr int chunks = byte_columns / 16;
  static constexpr int at_once = tile_threads / chunks, scales_at_once = tile_threads / byte_groups;
  static constexpr int count = tile_size / at_once, scale_count = tile_size / scales_at_once;

  __device__ __forceinline__ static int row_of(int* rows, int i) {
    const int row = rows[i];
    return row < 0 ? rows[0] : row;
  }

  // Of 32 tokens.
  __device__ __forceinline__ void copy(const TileInputs& x, int column, int row, std::uint32_t* memory,
                                       int part) const {
    // 32 bits until the end: pointers would be kept in registers.
    const auto first = static_cast<unsigned>(column);
#pragma unroll
    for (int i = part * count / 2; i < (part + 1) * count / 2; ++i)
      copy_async(memory + to_ + (row + i * at_once) * byte_stride, x.q + (first + from_[i]), column < end_);
    const bool inside = column < scales_end_;
#pragma unroll
    for (int i = part * scale_count / 2; i < (part + 1) * scale_count / 2; ++i) {
      const float* const from = x.halves[first / 16 + scales_from_[i]].v;
      const int to = scales_to_ + row + i * scales_at_once;
      copy_async<4>(memory + to, from, inside);
      if constexpr (At::minima) {
        const int group = static_cast<int>(threadIdx.x) % byte_groups;
#pragma unroll
        for (int h = 0; h < 2; ++h)
          copy_async<4>(memory + to + At::input_sums - At::input_scales + (group + h) * At::input_stride,
                        from + 2 * h + 1, inside);
      }
    }
  }

  bool many_;  // more than 32 tokens
  int to_, scales_to_;
  int end_, scales_end_;  // from which column on there are none
  unsigned from_[count];
  unsigned scales_from_[scale_count];
};

__device__ __forceinline__ Floats2 floats_at(std::uint32_t* memory, int at) {
  const auto words = load<Words2>(memory + at);
  return {__uint_as_float(words.v[0]), __uint_as_float(words.v[1])};
}

// Where a lane finds what its warp multiplies.
struct ByteLane {
  int rows, scales, inputs, input_scales;
};

// Adds the products of the warp's rows with 8 · blocks tokens, of the columns that a pair of scales is for.
template <TileKind kind, int blocks>
__device__ __forceinline__ void add_byte_pair(std::uint32_t* memory, const ByteLane& lane, int pair,
                                              const SumBase& base, TileSums& sums) {
  using At = ByteTile<kind>;
  Words4 w[2][2];  // of rows 16 i + 8 r
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
      w[i][r] = load<Words4>(memory + lane.scales + pair * At::pair_words + (16 * i + 8 * r) * 4);
  }
  constexpr int groups = At::is_short ? 1 : 2;  // of the pair
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const int group = groups * pair + g;
    std::uint32_t a[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) load_matrices(memory, lane.rows + 16 * i * byte_stride + 8 * group, a[i]);
    std::uint32_t b[4];
#pragma unroll
    for (int j = 0; j < blocks; ++j) {
      if (j % 2 == 0) load_matrices(memory, lane.inputs + 8 * j * byte_stride + 8 * group, b);
      const Floats2 x = floats_at(memory, lane.input_scales + group * At::input_stride + 8 * j);
      Floats2 s[2] = {};  // of the group's halves, or their sum
      if constexpr (At::minima) {
        const int first =
            lane.input_scales + (At::input_sums - At::input_scales) + 2 * group * At::input_stride + 8 * j;
#pragma unroll
        for (int h = 0; h < 2; ++h) s[h] = floats_at(memory, first + h * At::input_stride);
        if constexpr (!At::is_short) {
#pragma unroll
          for (int k = 0; k < 2; ++k) s[0].v[k] += s[1].v[k];
        }
      }
      constexpr int products = At::is_short ? 2 : 1;  // one behind the other
#pragma unroll
      for (int h = 0; h < products; ++h) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          int c[4];
          if constexpr (At::is_short) {
            multiply_bytes(c, {a[i][2 * h], a[i][2 * h + 1]}, {b[j % 2 * 2 + h]}, base.v);
          } else {
            multiply_bytes(c, a[i], {b[j % 2 * 2], b[j % 2 * 2 + 1]}, base.v);
          }
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int at = At::is_short ? 2 * h : 2 * g;  // of the pair's scales
            const float scale = __uint_as_float(w[i][k / 2].v[at]);
            const float second = __uint_as_float(w[i][k / 2].v[at + 1]);
            const float dot = fmaf(scale, __uint_as_float(static_cast<std::uint32_t>(c[k])),
                                   At::minima ? scale * -sum_base_value : second);
            float& sum = sums.v[i][j][k];
            sum += x.v[k % 2] * dot;
            if constexpr (At::minima) sum -= second * s[h].v[k % 2];
          }
        }
      }
    }
  }
}

// Those of a step.
template <TileKind kind, int blocks>
__device__ __forceinline__ void add_byte_products(std::uint32_t* memory, const ByteLane& lane,
                                                  const SumBase& base, TileSums& sums) {
  if constexpr (kind == TileKind::scales) {
#pragma unroll
    for (int pair = 0; pair < ByteTile<kind>::pairs; ++pair)
      add_byte_pair<kind, blocks>(memory, lane, pair, base, sums);
  } else {
#pragma unroll 1
    for (int pair = 0; pair < ByteTile<kind>::pairs; ++pair)
      add_byte_pair<kind, blocks>(memory, lane, pair, base, sums);
  }
}

template <TileKind kind>
__device__ __forceinline__ void add_bytes(const TileWeights& weights, int only, const TileInputs& x,
                                          int* rows, int tokens, std::uint32_t* memory, TileSums& sums) {
  using At = ByteTile<kind>;
  const int columns = static_cast<int>(weights.first.columns);
  const int end = static_cast<int>(weights.end_column);
  constexpr int shares = byte_groups / byte_units;  // of a row
  static_assert(tile_size * shares == tile_threads);
  const int thread = static_cast<int>(threadIdx.x);
  const int share = thread % shares;
  const TileRow at = tile_row(weights, only, thread / shares);
  const RowPlace place = place_of_bytes(at.weight, at.row);
  const int with = anew(at.there ? decoder_of(at.weight) : no_decoder);
  const int out = anew(thread / shares * byte_stride + share * byte_units * 8);
  const int scales = anew(At::scales + thread / shares * 4);
  const TileWarp warp = tile_warp(tokens);
  const int blocks = anew((warp.tokens + 7) / 8);
  const ByteLane lane = {
      .rows = anew(first_of_rows(byte_stride) + warp.row * byte_stride),
      .scales = anew(At::scales + (warp.row + sum_row(0)) * 4),
      .inputs = anew(At::inputs + first_of_columns(byte_stride) + warp.token * byte_stride),
      .input_scales = anew(At::input_scales + warp.token + sum_column(0))};
  const SumBase base(columns);
  const bool many = tokens > tile_size / 2;
  const bool ahead = !many || At::step_rows == tile_size;  // there is room for two steps
  __syncthreads();                                         // `rows` are there, and memory has been read
  const ByteCopies<kind> copies(x, rows, columns, many);
  if (with == no_decoder) {
#pragma unroll
    for (int i = 0; i < 4 * byte_units; i += 2) store(memory + out + 2 * i, Words4{});
#pragma unroll
    for (int i = 0; i < At::pairs / shares; ++i)
      store(memory + scales + (share * At::pairs / shares + i) * At::pair_words, Words4{});
  }
  int row = 0;
  auto column = static_cast<int>(weights.first_column);
  if (ahead) copies.start(x, column, row, memory);
  for (; column < end; column += byte_columns) {
    __syncthreads();  // the step before has been read
    if (!ahead) copies.start(x, column, row, memory);
    if (with != no_decoder)
      fill_bytes(place, with, columns / 32 - 1, column / 32 + share * byte_units, place_of(memory + out),
                 place_of(memory + scales));
    wait_for_copies<0>();
    __syncthreads();
    const ByteLane now = {lane.rows, lane.scales, lane.inputs + row * byte_stride, lane.input_scales + row};
    if (ahead) {
      row = At::step_rows - row;
      if (column + byte_columns < end) copies.start(x, column + byte_columns, row, memory);
    }
    switch (blocks) {
      case 4:
        add_byte_products<kind, 4>(memory, now, base, sums);
        break;
      case 3:
        add_byte_products<kind, 3>(memory, now, base, sums);
        break;
      case 2:
        add_byte_products<kind, 2>(memory, now, base, sums);
        break;
      case 1:
        add_byte_products<kind, 1>(memory, now, base, sums);
        break;
      default:
        break;
    }
  }
}

}  // namespace fovea::kernels::cuda
