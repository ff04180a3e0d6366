// Attention of many queries on tensor cores, in half floats with sums in float. A block takes 64 rows
// (queries of the heads that share one key head: their keys and values are loaded once) and goes through the
// positions that any of them sees in tiles of 32, with the softmax kept online: a warp has 16 rows, whose
// scores become the left side of the product with the values without leaving its registers.
//
// Bound by the tensor cores; how far the loading of a tile hides behind another block's products is to be
// measured.
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/grid.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr int block_rows = 64;
constexpr int positions = attention_tile_positions;

// Shared memory, in words of two half floats; mma.h on the strides.
struct Layout {
  int padded;        // the head's size, filled up with zeros to whole products
  int words;         // of a row of queries or keys
  int stride;        // … in shared memory
  int value_stride;  // of a pair of positions, for which each word has one dimension
  int keys;          // where keys begin, and values
  int values;
  int all;
};
__device__ __forceinline__ Layout device_layout(std::int64_t head_dim) {
  Layout l{};
  l.padded = static_cast<int>(head_dim + 15) / 16 * 16;
  l.words = l.padded / 2;
  l.stride = l.words + 4;
  l.value_stride = l.padded + 8;
  l.keys = block_rows * l.stride;
  l.values = l.keys + positions * l.stride;
  l.all = l.values + positions / 2 * l.value_stride;
  return l;
}
constexpr unsigned shared_bytes(std::int64_t head_dim) {
  const std::int64_t padded = (head_dim + 15) / 16 * 16;
  return static_cast<unsigned>(4 *
                               ((block_rows + positions) * (padded / 2 + 4) + positions / 2 * (padded + 8)));
}

__device__ __forceinline__ void load_queries(const Queries& queries, std::int64_t first_row, const Layout& l,
                                             std::uint32_t* out) {
  const Attention& op = queries.s.op;
  const int dim = static_cast<int>(op.pages.head_dim);
  for (int i = static_cast<int>(threadIdx.x); i < block_rows * l.words; i += static_cast<int>(threads)) {
    const QueryRow row = query_row(queries, first_row + i / l.words);
    const int at = i % l.words * 2;
    const float* const q = op.q + row.token * op.q_stride + row.head * dim + at;
    const float first = row.there && at < dim ? q[0] * op.scale : 0.0F;
    const float second = row.there && at + 1 < dim ? q[1] * op.scale : 0.0F;
    out[i / l.words * l.stride + i % l.words] = halves_of(first, second);
  }
}

// Keys as they are, values in pairs of positions. What is behind the range is zeros, never what the memory
// has.
template <Type type>
__device__ __forceinline__ void load_tile(const KvPages& pages, const Range& tile, const Layout& l,
                                          std::uint32_t* keys, std::uint32_t* values) {
  const int dim = static_cast<int>(pages.head_dim);
  const int eights = l.words / 4;
  const auto found = [&](std::byte* const* list, int p) -> const std::byte* {
    return tile.begin + p < tile.end ? entry<type>(pages, list, tile.begin + p, blockIdx.y) : nullptr;
  };
  for (int i = static_cast<int>(threadIdx.x); i < positions * eights; i += static_cast<int>(threads)) {
    const int p = i / eights;
    const int word = i % eights * 4;
    const std::byte* const from = found(pages.keys, p);
    std::uint32_t* const out = keys + (p * l.stride + word);
    if (type == Type::f16 && from != nullptr && 2 * word + 8 <= dim &&
        reinterpret_cast<std::uintptr_t>(from + 4 * word) % 16 == 0) {
      copy_async(out, from + 4 * word);
    } else {
      store(out, entry_eight<type, false>(from, 2 * word, dim));
    }
  }
  commit_copies();
  for (int i = static_cast<int>(threadIdx.x); i < positions / 2 * eights; i += static_cast<int>(threads)) {
    const int pair = i / eights;
    const int word = i % eights * 4;
    const Words4 first = entry_eight<type, false>(found(pages.values, 2 * pair), 2 * word, dim);
    const Words4 second = entry_eight<type, false>(found(pages.values, 2 * pair + 1), 2 * word, dim);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Words4 pairs;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int at = 2 * half + k / 2;
        pairs.v[k] = __byte_perm(first.v[at], second.v[at], k % 2 == 0 ? 0x5410U : 0x7632U);
      }
      store(values + pair * l.value_stride + 2 * word + 4 * half, pairs);
    }
  }
  wait_for_copies<0>();
}

// Adds a tile's products of weights and values to the warp's sums.
template <int max_dim>
__device__ __forceinline__ void add_values(const float (&scores)[positions / 8][4], const float (&shrink)[2],
                                           const Layout& l, std::uint32_t* values,
                                           float (&sums)[max_dim / 8][4]) {
  std::uint32_t a[positions / 16][4];
#pragma unroll
  for (int step = 0; step < positions / 16; ++step)
    left_side(scores[2 * step], scores[2 * step + 1], a[step]);
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int d = 0; d < max_dim / 8; ++d) {
    if (8 * d >= l.padded) break;
#pragma unroll
    for (int k = 0; k < 4; ++k) sums[d][k] *= shrink[k / 2];
#pragma unroll
    for (int step = 0; step < positions / 16; ++step) {
      const int at = (8 * step + lane % 4) * l.value_stride + 8 * d + lane / 4;
      const std::uint32_t b[2] = {values[at], values[at + 4 * l.value_stride]};
      multiply_halves(sums[d], a[step], b);
    }
  }
}

// A lane's shares of its two rows, of which the warp's begin with row `warp_row` of the launch.
template <int max_dim>
__device__ __forceinline__ void write_rows(const Queries& queries, std::int64_t warp_row,
                                           const RowState& state, const float (&sums)[max_dim / 8][4]) {
  const KvSplits& s = queries.s;
  const int columns = s.count == 1 ? static_cast<int>(s.op.pages.head_dim) : s.sum_stride;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float total = sum_of_four(state.total[r]);
    const QueryRow row = query_row(queries, warp_row + sum_row(2 * r));
    if (!row.there) continue;
    float* const out = row_target(s, row);
    const float factor = s.count == 1 ? 1.0F / with_sink(s.op, row.head, state.largest[r], total) : 1.0F;
#pragma unroll
    for (int d = 0; d < max_dim / 8; ++d) {
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int column = 8 * d + sum_column(k);
        if (column < columns) out[column] = sums[d][2 * r + k] * factor;
      }
    }
    if (s.count > 1 && threadIdx.x % 4 == 0) row_weight(s, row) = {state.largest[r], total};
  }
}

template <int max_dim>
__global__ void __launch_bounds__(threads, 1) attend_tiles_kernel(Queries queries) {
  const KvPages& pages = queries.s.op.pages;
  const Layout l = device_layout(pages.head_dim);
  std::uint32_t* const memory = dynamic_shared<std::uint32_t>(0);
  std::uint32_t* const keys = memory + l.keys;
  std::uint32_t* const values = memory + l.values;
  // The last rows see the most: they begin first.
  const std::int64_t first_row = std::int64_t{gridDim.z - 1 - blockIdx.z} * block_rows;
  const int warp_row = static_cast<int>(threadIdx.x / 32) * 16;
  load_queries(queries, first_row, l, memory);
  RowState state = row_state(queries, first_row + warp_row);
  const Range range = seen_by_rows(queries, first_row, block_rows, positions);

  float sums[max_dim / 8][4] = {};
  for (std::int64_t begin = range.begin; begin < range.end; begin += positions) {
    __syncthreads();
    if (pages.type == Type::f16) {
      load_tile<Type::f16>(pages, {begin, range.end}, l, keys, values);
    } else {
      load_tile<Type::q8_0>(pages, {begin, range.end}, l, keys, values);
    }
    __syncthreads();
    float scores[positions / 8][4] = {};
    for (int word = 0; word < l.words; word += 8) {
      std::uint32_t a[4];
      load_rows(memory, warp_row * l.stride + word, l.stride, a);
#pragma unroll
      for (int j = 0; j < positions / 8; ++j) {
        std::uint32_t b[2];
        load_columns(keys, 8 * j * l.stride + word, l.stride, b);
        multiply_halves(scores[j], a, b);
      }
    }
    float shrink[2];
    weigh(scores, begin, state, shrink);
    add_values<max_dim>(scores, shrink, l, values, sums);
  }
  write_rows<max_dim>(queries, first_row + warp_row, state, sums);
}

}  // namespace

std::int64_t attention_tile_blocks(const Attention& op) {
  return op.pages.kv_heads * quotient_up(op.tokens * (op.heads / op.pages.kv_heads), block_rows);
}

void start_attention_in_tiles(const KvSplits& s, std::int64_t tokens, CudaStream& stream) {
  const KvPages& pages = s.op.pages;
  const LaunchShape shape = {.grid_x = static_cast<unsigned>(s.count),
                             .grid_y = static_cast<unsigned>(pages.kv_heads),
                             .grid_z = blocks_for(tokens * (s.op.heads / pages.kv_heads), block_rows),
                             .threads = threads,
                             .shared_bytes = shared_bytes(pages.head_dim)};
  assert(pages.type == Type::f16 || pages.type == Type::q8_0);
  // Each has registers for the sums of so many dimensions.
  if (pages.head_dim <= 128) {
    launch<attend_tiles_kernel<128>>(shape, stream, Queries{s, tokens});
  } else {
    launch<attend_tiles_kernel<max_head_dim_in_tiles>>(shape, stream, Queries{s, tokens});
  }
}

}  // namespace fovea::kernels::cuda
