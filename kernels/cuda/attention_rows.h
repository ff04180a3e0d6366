// What attention on tensor cores has in common, for many queries and for few: rows are the queries of the
// heads that share one key head, and the softmax of a warp's 16 rows is kept online, in the registers that
// its products (mma.h) leave scores in.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/mma.h"

namespace fovea::kernels::cuda {

// Of one launch.
struct Queries {
  KvSplits s;
  std::int64_t tokens;
};

// Row `row` of a launch is head `head` of the key head's for query `token`, counted from the operation's
// first.
struct QueryRow {
  std::int64_t token;
  std::int64_t head;
  bool there;
};
__device__ __forceinline__ QueryRow query_row(const Queries& queries, std::int64_t row) {
  const Attention& op = queries.s.op;
  const auto group = static_cast<unsigned>(op.heads) / static_cast<unsigned>(op.pages.kv_heads);
  const auto index = static_cast<unsigned>(row);
  return {queries.s.first_token + index / group, blockIdx.y * group + index % group,
          row < queries.tokens * group};
}

// Where a row's result goes: out, or what join_kv_splits_kernel reads.
__device__ __forceinline__ float* row_target(const KvSplits& s, const QueryRow& row) {
  const std::int64_t at = row.token * s.op.heads + row.head;
  if (s.count == 1) return s.op.out + at * s.op.pages.head_dim;
  return s.sums + ((at - s.first_token * s.op.heads) * s.count + blockIdx.x) * s.sum_stride;
}
__device__ __forceinline__ KvSplit& row_weight(const KvSplits& s, const QueryRow& row) {
  const std::int64_t at = (row.token - s.first_token) * s.op.heads + row.head;
  return s.weights[at * s.count + blockIdx.x];
}

// This block's positions, of those that rows [first_row, first_row + count) of the launch see.
__device__ __forceinline__ Range seen_by_rows(const Queries& queries, std::int64_t first_row, int count,
                                              int tile_positions) {
  const Attention& op = queries.s.op;
  const auto group = static_cast<unsigned>(op.heads) / static_cast<unsigned>(op.pages.kv_heads);
  const std::int64_t rows = queries.tokens * group;
  const std::int64_t end_row = first_row + count < rows ? first_row + count : rows;
  const std::int64_t first = first_position(op) + queries.s.first_token + 1;
  const std::int64_t end = first + static_cast<unsigned>(end_row - 1) / group;
  const std::int64_t seen = first + static_cast<unsigned>(first_row) / group;
  return kv_split_of({op.window > 0 && seen > op.window ? seen - op.window : 0, end}, queries.s.count,
                     tile_positions);
}

__device__ __forceinline__ std::uint32_t halves_of(float first, float second) {
  return float_to_half(first) | static_cast<std::uint32_t>(float_to_half(second)) << 16;
}

// Elements 2 i and 2 i + 1 of an entry as half floats; zero where there are none.
template <Type type>
__device__ __forceinline__ std::uint32_t entry_pair(const std::byte* entry, int i, int dim) {
  if (2 * i >= dim) return 0;
  if constexpr (type == Type::f16) {
    if (dim % 2 == 0) return load_written<std::uint32_t>(entry + 4 * i);
    const std::uint32_t first = load_written<std::uint16_t>(entry + 4 * i);
    if (2 * i + 1 == dim) return first;
    return first | static_cast<std::uint32_t>(load_written<std::uint16_t>(entry + 4 * i + 2)) << 16;
  } else {
    const std::byte* const block = entry + i / 16 * static_cast<int>(sizeof(formats::BlockQ8_0));
    const float scale = half_to_float(load_written<std::uint16_t>(block));
    const std::uint32_t q = load_written<std::uint16_t>(block + 2 + 2 * (i % 16));
    return halves_of(scale * static_cast<float>(static_cast<std::int8_t>(q)),
                     scale * static_cast<float>(static_cast<std::int8_t>(q >> 8)));
  }
}
// Eight elements from `first` on, a multiple of 8, likewise. Null: zeros. whole: of half floats, too, an
// entry is eights that begin at multiples of 16 bytes.
template <Type type, bool whole>
__device__ __forceinline__ Words4 entry_eight(const std::byte* entry, int first, int dim) {
  Words4 eight = {};
  if (entry == nullptr || first >= dim) return eight;
  if constexpr (type == Type::f16) {
    const std::byte* const from = entry + 2 * first;
    const bool at_once = whole || (first + 8 <= dim && reinterpret_cast<std::uintptr_t>(from) % 16 == 0);
    if (at_once) return load_written<Words4>(from);
  }
  if constexpr (type != Type::f16 || !whole) {
#pragma unroll
    for (int i = 0; i < 4; ++i) eight.v[i] = entry_pair<type>(entry, first / 2 + i, dim);
  }
  return eight;
}

// What a lane knows of its two rows, g and g + 8 of its warp's (mma.h).
struct RowState {
  std::int64_t first[2];  // the first and last position that it sees
  std::int64_t last[2];
  float largest[2] = {-INFINITY, -INFINITY};
  float total[2] = {};  // of this lane's columns
};
// The warp's rows begin with row `warp_row` of the launch.
__device__ __forceinline__ RowState row_state(const Queries& queries, std::int64_t warp_row) {
  const Attention& op = queries.s.op;
  RowState state;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const QueryRow row = query_row(queries, warp_row + sum_row(2 * r));
    state.last[r] = row.there ? first_position(op) + row.token : -1;
    state.first[r] = op.window > 0 && state.last[r] >= op.window ? state.last[r] - op.window + 1 : 0;
  }
  return state;
}

// Over the four lanes that have one row.
__device__ __forceinline__ float largest_of_four(float value) {
  value = fmaxf(value, __shfl_xor_sync(whole_warp, value, 1));
  return fmaxf(value, __shfl_xor_sync(whole_warp, value, 2));
}
__device__ __forceinline__ float sum_of_four(float value) {
  value += __shfl_xor_sync(whole_warp, value, 1);
  return value + __shfl_xor_sync(whole_warp, value, 2);
}

// Scores of 8 · `products` positions from `begin` on become weights relative to the largest score so far;
// `shrink`: what becomes of the sums until now.
template <int products>
__device__ __forceinline__ void weigh(float (&scores)[products][4], std::int64_t begin, RowState& state,
                                      float (&shrink)[2]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float largest = -INFINITY;
#pragma unroll
    for (int j = 0; j < products; ++j) {
#pragma unroll
      for (int k = 2 * r; k < 2 * r + 2; ++k) {
        const std::int64_t position = begin + 8 * j + sum_column(k);
        if (position < state.first[r] || position > state.last[r]) scores[j][k] = -INFINITY;
        largest = fmaxf(largest, scores[j][k]);
      }
    }
    largest = fmaxf(state.largest[r], largest_of_four(largest));
    shrink[r] = weight_of(state.largest[r], largest);
    state.largest[r] = largest;
    state.total[r] *= shrink[r];
#pragma unroll
    for (int j = 0; j < products; ++j) {
#pragma unroll
      for (int k = 2 * r; k < 2 * r + 2; ++k) {
        scores[j][k] = weight_of(scores[j][k], largest);
        state.total[r] += scores[j][k];
      }
    }
  }
}

// Weights of 16 positions as the left side of a product with their values.
__device__ __forceinline__ void left_side(const float (&first)[4], const float (&second)[4],
                                          std::uint32_t (&a)[4]) {
  a[0] = halves_of(first[0], first[1]);
  a[1] = halves_of(first[2], first[3]);
  a[2] = halves_of(second[0], second[1]);
  a[3] = halves_of(second[2], second[3]);
}

}  // namespace fovea::kernels::cuda
