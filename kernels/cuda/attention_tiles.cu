// Attention of many queries on tensor cores, in half floats with sums in float. A block takes 64 rows
// (queries of the heads that share one key head: their keys and values are loaded once) and goes through the
// positions that any of them sees in tiles of 32, with the softmax kept online: a warp has 16 rows, whose
// scores become the left side of the product with the values without leaving its registers.
//
// Bound by the tensor cores; how far the loading of a tile hides behind another block's products is to be
// measured.
#include "kernels/cuda/attention.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/mma.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr int block_rows = 64;
constexpr int positions = attention_tile_positions;

FOVEA_DEVICE std::uint32_t halves_of(float first, float second) {
  return float_to_half(first) | static_cast<std::uint32_t>(float_to_half(second)) << 16;
}

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
FOVEA_DEVICE Layout device_layout(std::int64_t head_dim) {
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

// Elements 2 i and 2 i + 1 of an entry as half floats; zero where there are none.
template <Type type>
FOVEA_DEVICE std::uint32_t entry_pair(const std::byte* entry, int i, int dim) {
  if (2 * i >= dim) return 0;
  if constexpr (type == Type::f16) {
    if (dim % 2 == 0) return load_constant<std::uint32_t>(entry + 4 * i);
    const std::uint32_t first = load_constant<std::uint16_t>(entry + 4 * i);
    if (2 * i + 1 == dim) return first;
    return first | static_cast<std::uint32_t>(load_constant<std::uint16_t>(entry + 4 * i + 2)) << 16;
  } else {
    const std::byte* const block = entry + i / 16 * static_cast<int>(sizeof(formats::BlockQ8_0));
    const float scale = half_to_float(load_constant<std::uint16_t>(block));
    const std::uint32_t q = load_constant<std::uint16_t>(block + 2 + 2 * (i % 16));
    return halves_of(scale * static_cast<float>(static_cast<std::int8_t>(q)),
                     scale * static_cast<float>(static_cast<std::int8_t>(q >> 8)));
  }
}

// The block's row `r` is head `head` of the key head's for query `token`, counted from the operation's first.
struct QueryRow {
  std::int64_t token;
  std::int64_t head;
  bool there;
};

// Of one launch.
struct Queries {
  Stretches s;
  std::int64_t tokens;
};
FOVEA_DEVICE QueryRow query_row(const Queries& queries, std::int64_t first_row, int r) {
  const Attention& op = queries.s.op;
  const std::int64_t group = op.heads / op.pages.kv_heads;
  const std::int64_t row = first_row + r;
  return {queries.s.first_token + row / group, block_y() * group + row % group, row < queries.tokens * group};
}

FOVEA_DEVICE void load_queries(const Queries& queries, std::int64_t first_row, const Layout& l,
                               const Shared<std::uint32_t>& out) {
  const Attention& op = queries.s.op;
  const int dim = static_cast<int>(op.pages.head_dim);
  for (int i = static_cast<int>(thread_index()); i < block_rows * l.words; i += static_cast<int>(threads)) {
    const QueryRow row = query_row(queries, first_row, i / l.words);
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
FOVEA_DEVICE void load_tile(const KvPages& pages, const Range& tile, const Layout& l,
                            const Shared<std::uint32_t>& keys, const Shared<std::uint32_t>& values) {
  const int dim = static_cast<int>(pages.head_dim);
  const std::int64_t head = block_y();
  for (int i = static_cast<int>(thread_index()); i < positions * (l.words / 4);
       i += static_cast<int>(threads)) {
    const int p = i / (l.words / 4);
    const int word = i % (l.words / 4) * 4;
    const bool there = tile.begin + p < tile.end;
    const std::byte* const from = there ? entry<type>(pages, pages.keys, tile.begin + p, head) : nullptr;
    const Shared<std::uint32_t> out = keys + (p * l.stride + word);
    if (type == Type::f16 && there && 2 * word + 8 <= dim &&
        reinterpret_cast<std::uintptr_t>(from + 4 * word) % 16 == 0) {
      out.copy_async(0, from + 4 * word);
      continue;
    }
    FOVEA_UNROLL for (int k = 0; k < 4; ++k) out[k] = there ? entry_pair<type>(from, word + k, dim) : 0U;
  }
  commit_copies();
  for (int i = static_cast<int>(thread_index()); i < positions / 2 * l.words;
       i += static_cast<int>(threads)) {
    const int pair = i / l.words;
    const int word = i % l.words;
    std::uint32_t two[2];
    FOVEA_UNROLL for (int k = 0; k < 2; ++k) {
      const std::int64_t position = tile.begin + 2 * pair + k;
      two[k] = position < tile.end
                   ? entry_pair<type>(entry<type>(pages, pages.values, position, head), word, dim)
                   : 0U;
    }
    values.store(pair * l.value_stride + 2 * word,
                 Words2{permute_bytes(two[0], two[1], 0x5410U), permute_bytes(two[0], two[1], 0x7632U)});
  }
  wait_for_copies<0>();
}

// What a lane knows of its two rows, g and g + 8 of its warp's (mma.h).
struct RowState {
  std::int64_t first[2];  // the first and last position that it sees
  std::int64_t last[2];
  float largest[2] = {-INFINITY, -INFINITY};
  float total[2] = {};  // of this lane's columns
};

FOVEA_DEVICE float largest_of_four(float value) {
  value = fmaxf(value, shuffle_xor(value, 1));
  return fmaxf(value, shuffle_xor(value, 2));
}
FOVEA_DEVICE float sum_of_four(float value) {
  value += shuffle_xor(value, 1);
  return value + shuffle_xor(value, 2);
}

// Scores of a tile become weights relative to the largest score so far; `shrink`: what becomes of the sums
// until now.
FOVEA_DEVICE void weigh(float (&scores)[positions / 8][4], std::int64_t begin, RowState& state,
                        float (&shrink)[2]) {
  FOVEA_UNROLL for (int r = 0; r < 2; ++r) {
    float largest = -INFINITY;
    FOVEA_UNROLL for (int j = 0; j < positions / 8; ++j) {
      FOVEA_UNROLL for (int k = 2 * r; k < 2 * r + 2; ++k) {
        const std::int64_t position = begin + 8 * j + sum_column(k);
        if (position < state.first[r] || position > state.last[r]) scores[j][k] = -INFINITY;
        largest = fmaxf(largest, scores[j][k]);
      }
    }
    largest = fmaxf(state.largest[r], largest_of_four(largest));
    shrink[r] = weight_of(state.largest[r], largest);
    state.largest[r] = largest;
    state.total[r] *= shrink[r];
    FOVEA_UNROLL for (int j = 0; j < positions / 8; ++j) {
      FOVEA_UNROLL for (int k = 2 * r; k < 2 * r + 2; ++k) {
        scores[j][k] = weight_of(scores[j][k], largest);
        state.total[r] += scores[j][k];
      }
    }
  }
}

template <int most_dim>
FOVEA_KERNEL(threads)
attend_tiles_kernel(Queries queries) {
  const Attention& op = queries.s.op;
  const Layout l = device_layout(op.pages.head_dim);
  FOVEA_DYNAMIC_SHARED(std::uint32_t, memory, 0, l.all);
  const Shared<std::uint32_t> keys = memory + l.keys;
  const Shared<std::uint32_t> values = memory + l.values;
  const std::int64_t group = op.heads / op.pages.kv_heads;
  // The last rows see the most: they begin first.
  const std::int64_t first_row = std::int64_t{grid_z() - 1 - block_z()} * block_rows;
  const std::int64_t first = first_position(op);
  const int warp_row = static_cast<int>(thread_index() / 32) * 16;
  load_queries(queries, first_row, l, memory);

  RowState state;
  FOVEA_UNROLL for (int r = 0; r < 2; ++r) {
    const QueryRow row = query_row(queries, first_row, warp_row + sum_row(2 * r));
    state.last[r] = row.there ? first + row.token : -1;
    state.first[r] = op.window > 0 && state.last[r] >= op.window ? state.last[r] - op.window + 1 : 0;
  }
  const std::int64_t rows = queries.tokens * group;
  const std::int64_t end_row = first_row + block_rows < rows ? first_row + block_rows : rows;
  const std::int64_t end = first + queries.s.first_token + (end_row - 1) / group + 1;
  const std::int64_t seen = first + queries.s.first_token + first_row / group + 1;
  const Range range =
      stretch_of({op.window > 0 && seen > op.window ? seen - op.window : 0, end}, queries.s.count, positions);

  float sums[most_dim / 8][4] = {};
  for (std::int64_t begin = range.begin; begin < range.end; begin += positions) {
    sync_block();
    if (op.pages.type == Type::f16) {
      load_tile<Type::f16>(op.pages, {begin, range.end}, l, keys, values);
    } else {
      load_tile<Type::q8_0>(op.pages, {begin, range.end}, l, keys, values);
    }
    sync_block();
    float scores[positions / 8][4] = {};
    for (int word = 0; word < l.words; word += 8) {
      std::uint32_t a[4];
      load_rows(memory, warp_row * l.stride + word, l.stride, a);
      FOVEA_UNROLL for (int j = 0; j < positions / 8; ++j) {
        std::uint32_t b[2];
        load_columns(keys, 8 * j * l.stride + word, l.stride, b);
        multiply_halves(scores[j], a, b);
      }
    }
    float shrink[2];
    weigh(scores, begin, state, shrink);
    std::uint32_t a[positions / 16][4];
    FOVEA_UNROLL for (int step = 0; step < positions / 16; ++step) {
      FOVEA_UNROLL for (int i = 0; i < 4; ++i) a[step][i] =
          halves_of(scores[2 * step + i / 2][2 * (i % 2)], scores[2 * step + i / 2][2 * (i % 2) + 1]);
    }
    const int lane = static_cast<int>(thread_index() % 32);
    FOVEA_UNROLL for (int d = 0; d < most_dim / 8; ++d) {
      if (8 * d >= l.padded) break;
      FOVEA_UNROLL for (int k = 0; k < 4; ++k) sums[d][k] *= shrink[k / 2];
      FOVEA_UNROLL for (int step = 0; step < positions / 16; ++step) {
        const int at = (8 * step + lane % 4) * l.value_stride + 8 * d + lane / 4;
        const std::uint32_t b[2] = {values[at], values[at + 4 * l.value_stride]};
        multiply_halves(sums[d], a[step], b);
      }
    }
  }

  const int dim = static_cast<int>(op.pages.head_dim);
  FOVEA_UNROLL for (int r = 0; r < 2; ++r) {
    const float total = sum_of_four(state.total[r]);
    const QueryRow row = query_row(queries, first_row, warp_row + sum_row(2 * r));
    if (!row.there) continue;
    const bool whole = queries.s.count == 1;
    const std::int64_t at = row.token * op.heads + row.head;
    const std::int64_t in_launch = at - queries.s.first_token * op.heads;
    float* const out =
        whole ? op.out + at * dim : queries.s.partial + (in_launch * queries.s.count + block_x()) * (dim + 2);
    const float factor = whole ? 1.0F / total : 1.0F;
    FOVEA_UNROLL for (int d = 0; d < most_dim / 8; ++d) {
      FOVEA_UNROLL for (int k = 0; k < 2; ++k) {
        const int column = 8 * d + sum_column(k);
        if (column < dim) out[column] = sums[d][2 * r + k] * factor;
      }
    }
    if (!whole && thread_index() % 4 == 0) {
      out[dim] = state.largest[r];
      out[dim + 1] = total;
    }
  }
}

}  // namespace

std::int64_t attention_tile_blocks(const Attention& op) {
  return op.pages.kv_heads * quotient_up(op.tokens * (op.heads / op.pages.kv_heads), block_rows);
}

void start_attention_in_tiles(const Stretches& s, std::int64_t tokens, CudaStream& stream) {
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
    launch<attend_tiles_kernel<most_head_dim>>(shape, stream, Queries{s, tokens});
  }
}

}  // namespace fovea::kernels::cuda
