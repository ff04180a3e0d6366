// Attention of few queries, as in decoding, over a cache of 16-bit or 8-bit entries: on tensor cores, which
// serve all query heads of a key head at once. A block takes 16 rows (queries of the heads that share one key
// head) and one split of the positions; each of its four warps goes through every fourth 16 of them with a
// softmax of its own, and the block joins the four.
//
// Bound by the memory that the cache lies in. Keys and values come from there into the registers that the
// product wants them in, 16 bytes at once, which works because a sum over dimensions may have any order, and
// so may dimensions among the results: no shared memory stands between, no warp waits for another, and a warp
// has all loads of 16 positions under way together (8 KB for heads of 128).
//
// Queries and weights are given as two half floats each, of which the second is what the first leaves: a
// result is as exact as with floats, and the product's price does not show. A q8_0 entry is rounded to a half
// float.
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr int warps = threads / 32;
constexpr int rows = 16;            // of a block
constexpr int warp_positions = 16;  // of a warp at once
static_assert(warps * warp_positions == attention_few_positions);
constexpr int joined_dims = 64;  // that are joined at once
constexpr int fragments = 4;     // of a chunk of queries: two steps, each in two half floats

// What is left of two values beside their half floats.
__device__ __forceinline__ std::uint32_t rests_of(float first, float second) {
  return halves_of(first - half_to_float(float_to_half(first)),
                   second - half_to_float(float_to_half(second)));
}

// A row's eight dimensions from `first` on, each multiplied by the scale; zero where there are none.
__device__ __forceinline__ void load_query(const Queries& queries, const QueryRow& row, int first,
                                           float (&out)[8]) {
  const Attention& op = queries.s.op;
  const int dim = static_cast<int>(op.pages.head_dim);
  const float* const q = op.q + row.token * op.q_stride + row.head * dim;
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i] = row.there && first + i < dim ? q[first + i] * op.scale : 0.0F;
}

// The left sides of the products with keys, as each lane wants them: [chunk, fragment, lane, 4 words]. A
// chunk is 32 dimensions, of which lane t of four has eight; step h multiplies words 2 h and 2 h + 1 of each.
template <int dims>
__device__ __forceinline__ void make_fragments(const Queries& queries, std::int64_t first_row,
                                               std::uint32_t* out) {
  for (int i = static_cast<int>(threadIdx.x); i < dims; i += static_cast<int>(threads)) {
    const int chunk = i / 32;
    const int lane = i % 32;
    float q[2][8];
#pragma unroll
    for (int r = 0; r < 2; ++r)
      load_query(queries, query_row(queries, first_row + lane / 4 + 8 * r), 32 * chunk + lane % 4 * 8, q[r]);
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      Words4 whole;
      Words4 rest;
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const float(&row)[8] = q[word % 2];
        const int at = 4 * step + word / 2 * 2;
        whole.v[word] = halves_of(row[at], row[at + 1]);
        rest.v[word] = rests_of(row[at], row[at + 1]);
      }
      store(out + ((chunk * fragments + step) * 32 + lane) * 4, whole);
      store(out + ((chunk * fragments + 2 + step) * 32 + lane) * 4, rest);
    }
  }
}

// A lane's share of 16 keys: eight of each 32 dimensions of positions lane / 4 and 8 + lane / 4.
template <int dims>
struct Keys {
  Words4 v[2][dims / 32];
};
template <Type type, int dims>
__device__ __forceinline__ void load_keys(const KvPages& pages, const Range& at, int first_dim,
                                          Keys<dims>& keys) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const std::int64_t position = at.begin + 8 * j + lane / 4;
    const std::byte* const from =
        position < at.end ? entry<type>(pages, pages.keys, position, blockIdx.y) : nullptr;
#pragma unroll
    for (int chunk = 0; chunk < dims / 32; ++chunk)
      keys.v[j][chunk] = entry_eight<type, true>(from, first_dim + 32 * chunk + lane % 4 * 8,
                                                 static_cast<int>(pages.head_dim));
  }
}

// `queries`: fragments of the keys' dimensions.
template <int dims>
__device__ __forceinline__ void add_scores(const Keys<dims>& keys, std::uint32_t* queries,
                                           float (&scores)[2][4]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int chunk = 0; chunk < dims / 32; ++chunk) {
#pragma unroll
    for (int fragment = 0; fragment < fragments; ++fragment) {
      const auto words = load<Words4>(queries + ((chunk * fragments + fragment) * 32 + lane) * 4);
      const std::uint32_t a[4] = {words.v[0], words.v[1], words.v[2], words.v[3]};
      const int step = fragment % 2;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t b[2] = {keys.v[j][chunk].v[2 * step], keys.v[j][chunk].v[2 * step + 1]};
        multiply_halves(scores[j], a, b);
      }
    }
  }
}

// Of 16 values: eight of each 64 dimensions at this lane's four positions.
template <int dims>
struct Values {
  Words4 v[dims / 64][4];
};
template <Type type, int dims>
__device__ __forceinline__ void load_values(const KvPages& pages, const Range& at, int first_dim,
                                            Values<dims>& values) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const std::int64_t position = at.begin + p / 2 * 8 + lane % 4 * 2 + p % 2;
    const std::byte* const from =
        position < at.end ? entry<type>(pages, pages.values, position, blockIdx.y) : nullptr;
#pragma unroll
    for (int v = 0; v < dims / 64; ++v)
      values.v[v][p] =
          entry_eight<type, true>(from, first_dim + 64 * v + lane / 4 * 8, static_cast<int>(pages.head_dim));
  }
}

// A lane's sums: [v][j] is the product (mma.h) of the rows with dimensions 64 v + 8 · column + j.
template <int dims>
struct Sums {
  float v[dims / 64][8][4] = {};

  __device__ __forceinline__ void shrink(const float (&factors)[2]) {
#pragma unroll
    for (auto& product : v) {
#pragma unroll
      for (auto& four : product) {
#pragma unroll
        for (int k = 0; k < 4; ++k) four[k] *= factors[k / 2];
      }
    }
  }
};

// The left sides of the products with values: weights as two half floats.
struct Weights {
  std::uint32_t whole[4];
  std::uint32_t rest[4];
};
__device__ __forceinline__ Weights split(const float (&weights)[2][4]) {
  Weights out;
  float rests[2][4];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (int k = 0; k < 4; ++k) rests[j][k] = weights[j][k] - half_to_float(float_to_half(weights[j][k]));
  }
  left_side(weights[0], weights[1], out.whole);
  left_side(rests[0], rests[1], out.rest);
  return out;
}

__device__ __forceinline__ void add_values(const Weights& weights, const Words4 (&values)[4],
                                           float (&sums)[8][4]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned chosen = j % 2 == 0 ? 0x5410U : 0x7632U;
    const std::uint32_t b[2] = {__byte_perm(values[0].v[j / 2], values[1].v[j / 2], chosen),
                                __byte_perm(values[2].v[j / 2], values[3].v[j / 2], chosen)};
    multiply_halves(sums[j], weights.whole, b);
    multiply_halves(sums[j], weights.rest, b);
  }
}

// What the warps have found of the same rows, put together.
template <int dims>
__device__ __forceinline__ void join_warps(const Queries& queries, std::int64_t first_row,
                                           const RowState& state, Sums<dims>& sums) {
  constexpr int part = joined_dims;
  constexpr int stride = part + 4;
  __shared__ alignas(16) float parts[warps * rows * stride];
  __shared__ alignas(16) KvSplit found[warps * rows];
  const KvSplits& s = queries.s;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float total = sum_of_four(state.total[r]);
    if (lane % 4 == 0) found[warp * rows + sum_row(2 * r)] = KvSplit{state.largest[r], total};
  }
  __syncthreads();
  // Of all warps, for a row.
  const auto together = [&](int row) {
    KvSplit all = {-INFINITY, 0};
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const KvSplit one = found[w * rows + row];
      all.largest = fmaxf(all.largest, one.largest);
    }
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const KvSplit one = found[w * rows + row];
      all.total += one.total * weight_of(one.largest, all.largest);
    }
    return all;
  };
  float factor[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) factor[r] = weight_of(state.largest[r], together(sum_row(2 * r)).largest);
  const int columns = s.count == 1 ? static_cast<int>(s.op.pages.head_dim) : s.sum_stride;
#pragma unroll
  for (int begin = 0; begin < dims; begin += part) {
    if (begin > 0) __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = (warp * rows + sum_row(k)) * stride + 8 * sum_column(k);
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        Floats4 four;
#pragma unroll
        for (int i = 0; i < 4; ++i) four.v[i] = sums.v[begin / part][j + i][k] * factor[k / 2];
        store(parts + at + j, four);
      }
    }
    __syncthreads();
    for (int i = thread; i < rows * part; i += static_cast<int>(threads)) {
      const QueryRow row = query_row(queries, first_row + i / part);
      const int column = begin + i % part;
      if (!row.there || column >= columns) continue;
      float sum = 0;
#pragma unroll
      for (int w = 0; w < warps; ++w) sum += parts[(w * rows + i / part) * stride + i % part];
      const KvSplit all = together(i / part);
      row_target(s, row)[column] =
          s.count == 1 ? sum / with_sink(s.op, row.head, all.largest, all.total) : sum;
    }
  }
  if (s.count == 1 || thread >= rows) return;
  const QueryRow row = query_row(queries, first_row + thread);
  if (row.there) row_weight(s, row) = together(thread);
}

// The block that ends last of those of the same rows puts their splits together: a lane for each split, then
// a warp for each row.
template <int dims>
__device__ __forceinline__ void join_splits(const Queries& queries, std::int64_t first_row) {
  __shared__ int is_last;
  __shared__ alignas(16) float factors[warps * max_joined_by_block];
  __shared__ alignas(16) float joined[warps * dims];
  const KvSplits& s = queries.s;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  int* const arrived = s.arrived + blockIdx.z * s.op.pages.kv_heads + blockIdx.y;
  __threadfence();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(arrived, 1) + 1 == static_cast<int>(gridDim.x) ? 1 : 0;
  __syncthreads();
  if (is_last == 0) return;
  __threadfence();
  const int dim = static_cast<int>(s.op.pages.head_dim);
  const std::int64_t group = s.op.heads / s.op.pages.kv_heads;
  const std::int64_t left = queries.tokens * group - first_row;
  for (int r = warp; r - warp < rows && r - warp < left; r += warps) {
    const QueryRow row = query_row(queries, first_row + r);
    const std::int64_t at = ((row.token - s.first_token) * s.op.heads + row.head) * s.count;
    float total = 0;
    if (row.there) {
      const KvSplit mine = lane < s.count ? load_fresh(s.weights + at + lane) : KvSplit{-INFINITY, 0};
      const float largest = largest_of_lanes(mine.largest);
      const float factor = weight_of(mine.largest, largest);
      total = with_sink(s.op, row.head, largest, sum_of_lanes(factor * mine.total));
      if (lane < max_joined_by_block) factors[warp * max_joined_by_block + lane] = factor;
    }
    __syncthreads();
    if (row.there) {
      for (int d = 4 * lane; d < s.sum_stride; d += 128) {
        const float* const parts = s.sums + at * s.sum_stride + d;
        Floats4 sum = {};
        constexpr int at_once = max_joined_by_block / 2;
        for (int first = 0; first < s.count; first += at_once) {
          Floats4 part[at_once];
#pragma unroll
          for (int i = 0; i < at_once; ++i) {
            // Behind the last one any will do: its factor is zero.
            const int split = first + i < s.count ? first + i : first;
            part[i] =
                load_fresh(reinterpret_cast<const Floats4*>(parts + std::int64_t{split} * s.sum_stride));
          }
#pragma unroll
          for (int i = 0; i < at_once; ++i) {
            const float factor = first + i < s.count ? factors[warp * max_joined_by_block + first + i] : 0.0F;
#pragma unroll
            for (int k = 0; k < 4; ++k) sum.v[k] += factor * part[i].v[k];
          }
        }
        store(joined + warp * dims + d, sum);
      }
    }
    __syncthreads();
    const std::int64_t start = (row.token * s.op.heads + row.head) * dim;
    for (int d = lane; row.there && d < dim; d += 32) {
      const float value = joined[warp * dims + d] / total;
      s.op.out[start + d] = value;
      if (s.quantised.q) store_quantised(value, s.quantised, start + d);
    }
  }
  if (thread == 0) *arrived = 0;
}

template <Type type, int dims>
[[maybe_unused]] constexpr int resident = attention_few_resident(type, dims);

template <Type type, int dims>
__global__ void __launch_bounds__(threads, (resident<type, dims>)) attend_few_kernel(Queries queries) {
  wait_for_earlier_kernels();
  __shared__ alignas(16) std::uint32_t fragments_of_queries[dims / 32 * fragments * 32 * 4];
  const KvPages& pages = queries.s.op.pages;
  const std::int64_t first_row = std::int64_t{blockIdx.z} * rows;
  make_fragments<dims>(queries, first_row, fragments_of_queries);
  RowState state = row_state(queries, first_row);
  const Range range = seen_by_rows(queries, first_row, rows, attention_few_positions);
  __syncthreads();

  Sums<dims> sums;
  const std::int64_t warp = threadIdx.x / 32;
  for (std::int64_t begin = range.begin + warp * warp_positions; begin < range.end;
       begin += attention_few_positions) {
    const Range at = {begin, range.end};
    // Of larger heads there are no registers for all at once.
    constexpr bool at_once = dims <= 128;
    constexpr int key_dims = at_once ? dims : 128;
    constexpr int value_dims = at_once ? dims : 64;
    Keys<key_dims> keys;
    Values<value_dims> values;
    float scores[2][4] = {};
    load_keys<type>(pages, at, 0, keys);
    if constexpr (at_once) {
      load_values<type>(pages, at, 0, values);
    }
#pragma unroll
    for (int first = 0; first < dims; first += key_dims) {
      if (first > 0) load_keys<type>(pages, at, first, keys);
      add_scores(keys, fragments_of_queries + first / 32 * fragments * 32 * 4, scores);
    }
    float shrink[2];
    weigh(scores, begin, state, shrink);
    sums.shrink(shrink);
    const Weights weights = split(scores);
#pragma unroll
    for (int v = 0; v < dims / 64; ++v) {
      if (!at_once) load_values<type>(pages, at, 64 * v, values);
      add_values(weights, values.v[at_once ? v : 0], sums.v[v]);
    }
  }
  join_warps<dims>(queries, first_row, state, sums);
  if (queries.s.arrived != nullptr) join_splits<dims>(queries, first_row);
}

template <Type type>
void start(const LaunchShape& shape, const Queries& queries, CudaStream& stream) {
  const std::int64_t dim = queries.s.op.pages.head_dim;
  if (dim <= 64) return launch<attend_few_kernel<type, 64>>(shape, stream, queries);
  if (dim <= 128) return launch<attend_few_kernel<type, 128>>(shape, stream, queries);
  launch<attend_few_kernel<type, max_head_dim_in_tiles>>(shape, stream, queries);
}

std::int64_t row_blocks(const Attention& op, std::int64_t tokens) {
  return quotient_up(tokens * (op.heads / op.pages.kv_heads), rows);
}

}  // namespace

std::int64_t attention_few_blocks(const Attention& op) {
  return op.pages.kv_heads * row_blocks(op, op.tokens);
}

void start_attention_of_few(const KvSplits& s, std::int64_t tokens, CudaStream& stream) {
  const KvPages& pages = s.op.pages;
  const LaunchShape shape = {.grid_x = static_cast<unsigned>(s.count),
                             .grid_y = static_cast<unsigned>(pages.kv_heads),
                             .grid_z = static_cast<unsigned>(row_blocks(s.op, tokens)),
                             .threads = threads,
                             .overlaps = true};
  assert(pages.type == Type::f16 || pages.type == Type::q8_0);
  if (pages.type == Type::f16) {
    start<Type::f16>(shape, {s, tokens}, stream);
  } else {
    start<Type::q8_0>(shape, {s, tokens}, stream);
  }
}

}  // namespace fovea::kernels::cuda
