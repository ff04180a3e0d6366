// attention, its form for what tensor cores would not be exact enough for or could not load, and what joins
// KV splits. A block takes the query heads of one key head (up to eight) and one split of the positions, in
// tiles of 32: the tile's keys go to shared memory once for all heads, a lane computes the score of one
// position, the tile's values follow in the same memory, and a lane adds up its dimensions. The softmax is
// kept online. Splits are chosen so that the device is filled; a second kernel joins them, and quantises
// what it writes.
//
// Bound by loads from shared memory, two for each product.
#include "kernels/cuda/activations.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr int warps = threads / 32;
constexpr int tile_positions = 32;
constexpr int block_heads = 8;
constexpr int warp_heads = block_heads / warps;
constexpr std::int64_t fewest_in_tiles = 9;  // queries
constexpr unsigned max_join_threads = 512;
static_assert(max_kv_splits <= max_join_threads);

__device__ __forceinline__ Range range_of(const KvSplits& s, std::int64_t token) {
  const std::int64_t end = first_position(s.op) + token + 1;
  const std::int64_t begin = s.op.window > 0 && end > s.op.window ? end - s.op.window : 0;
  return kv_split_of({begin, end}, s.count, tile_positions);
}

template <Type type>
__device__ __forceinline__ void load_tile(const KvPages& pages, std::byte* const* list, std::int64_t head,
                                          const Range& tile, float* out, int stride) {
  const int dim = static_cast<int>(pages.head_dim);
  for (int p = static_cast<int>(threadIdx.x / 32); p < tile_positions; p += warps) {
    const bool there = tile.begin + p < tile.end;
    const std::byte* const from = there ? entry<type>(pages, list, tile.begin + p, head) : nullptr;
    for (int i = static_cast<int>(threadIdx.x % 32); i < dim; i += 32)
      out[p * stride + i] = there ? entry_element<type>(from, i) : 0.0F;
  }
}

// What a warp knows of one head.
template <int lane_dims>
struct HeadState {
  float largest = -INFINITY;
  float total = 0;
  float sums[lane_dims] = {};  // of dimensions lane, lane + 32 …
};

template <Type type, int max_dim>
__global__ void __launch_bounds__(threads, 1) attend_kernel(KvSplits s) {
  constexpr int lane_dims = max_dim / 32;
  wait_for_earlier_kernels();
  const KvPages& pages = s.op.pages;
  const int dim = static_cast<int>(pages.head_dim);
  const int stride = dim + 1;  // so that lanes that read one dimension of 32 positions meet 32 banks
  float* const tile = dynamic_shared<float>(0);
  float* const queries = dynamic_shared<float>((tile_positions * 4 * (dim + 1) + 15) / 16 * 16);
  __shared__ alignas(16) float weights[block_heads * tile_positions];

  const std::int64_t token = s.first_token + std::int64_t{blockIdx.z};
  const int group = static_cast<int>(s.op.heads / pages.kv_heads);
  const int blocks = (group + block_heads - 1) / block_heads;  // for each key head
  const std::int64_t kv_head = blockIdx.y / static_cast<unsigned>(blocks);
  const int first_head = static_cast<int>(blockIdx.y % static_cast<unsigned>(blocks)) * block_heads;
  const int heads = group - first_head < block_heads ? group - first_head : block_heads;
  const std::int64_t query = kv_head * group + first_head;  // the first of this block
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);

  for (int i = static_cast<int>(threadIdx.x); i < heads * dim; i += static_cast<int>(threads))
    queries[i] = s.op.q[token * s.op.q_stride + query * dim + i] * s.op.scale;

  HeadState<lane_dims> state[warp_heads];
  const Range range = range_of(s, token);
  for (std::int64_t begin = range.begin; begin < range.end; begin += tile_positions) {
    const Range at = {begin, range.end};
    __syncthreads();
    load_tile<type>(pages, pages.keys, kv_head, at, tile, stride);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < warp_heads; ++k) {
      const int head = warp + k * warps;
      if (head >= heads) break;
      float score = 0;
      for (int i = 0; i < dim; ++i) score += queries[head * dim + i] * tile[lane * stride + i];
      if (begin + lane >= range.end) score = -INFINITY;
      const float largest = fmaxf(state[k].largest, largest_of_lanes(score));
      const float shrink = weight_of(state[k].largest, largest);
      const float weight = weight_of(score, largest);
      state[k].largest = largest;
      state[k].total = state[k].total * shrink + sum_of_lanes(weight);
#pragma unroll
      for (int d = 0; d < lane_dims; ++d) state[k].sums[d] *= shrink;
      weights[head * tile_positions + lane] = weight;
    }
    __syncthreads();
    load_tile<type>(pages, pages.values, kv_head, at, tile, stride);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < warp_heads; ++k) {
      const int head = warp + k * warps;
      if (head >= heads) break;
      for (int p = 0; p < tile_positions; ++p) {
        const float weight = weights[head * tile_positions + p];
#pragma unroll
        for (int d = 0; d < lane_dims; ++d) {
          if (lane + 32 * d < dim) state[k].sums[d] += weight * tile[p * stride + lane + 32 * d];
        }
      }
    }
  }

#pragma unroll
  for (int k = 0; k < warp_heads; ++k) {
    const int head = warp + k * warps;
    if (head >= heads) break;
    const bool whole = s.count == 1;
    const std::int64_t at = ((std::int64_t{blockIdx.z} * s.op.heads) + query + head) * s.count + blockIdx.x;
    float* const out =
        whole ? s.op.out + (token * s.op.heads + query + head) * dim : s.sums + at * s.sum_stride;
    const float factor =
        whole ? 1.0F / with_sink(s.op, query + head, state[k].largest, state[k].total) : 1.0F;
#pragma unroll
    for (int d = 0; d < lane_dims; ++d) {
      if (lane + 32 * d < (whole ? dim : s.sum_stride)) out[lane + 32 * d] = state[k].sums[d] * factor;
    }
    if (!whole && lane == 0) s.weights[at] = {state[k].largest, state[k].total};
  }
}

// Joins the splits of one head of one token: a thread finds what one split counts, and each warp adds up its
// share of them, 16 bytes of one in each lane.
__global__ void __launch_bounds__(max_join_threads, 1) join_kv_splits_kernel(KvSplits s) {
  wait_for_earlier_kernels();
  const int join_warps = static_cast<int>(blockDim.x) / 32;
  __shared__ alignas(16) float factors[max_kv_splits];
  float* const sums = dynamic_shared<float>(0);
  const int dim = static_cast<int>(s.op.pages.head_dim);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t head = std::int64_t{blockIdx.y} * s.op.heads + blockIdx.x;
  const KvSplit* const found = s.weights + head * s.count;
  const KvSplit mine = thread < s.count ? found[thread] : KvSplit{-INFINITY, 0};
  const float largest = largest_of_block(mine.largest);
  const float factor = weight_of(mine.largest, largest);
  factors[thread] = factor;
  const float total = with_sink(s.op, blockIdx.x, largest, sum_of_block(factor * mine.total));
  const float* const parts = s.sums + head * s.count * s.sum_stride;
  for (int d = thread % 32 * 4; d < s.sum_stride; d += 32 * 4) {
    Floats4 sum = {};
    for (int i = thread / 32; i < s.count; i += join_warps) {
      const auto part = load_written<Floats4>(parts + std::int64_t{i} * s.sum_stride + d);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum.v[k] += factors[i] * part.v[k];
    }
    store(sums + thread / 32 * s.sum_stride + d, sum);
  }
  __syncthreads();
  const std::int64_t start = ((s.first_token + std::int64_t{blockIdx.y}) * s.op.heads + blockIdx.x) * dim;
  for (int d = thread; d < dim; d += 32 * join_warps) {
    float sum = 0;
    for (int w = 0; w < join_warps; ++w) sum += sums[w * s.sum_stride + d];
    s.op.out[start + d] = sum / total;
    if (s.quantised.q) store_quantised(sum / total, s.quantised, start + d);
  }
}

// A warp for each split up to sixteen, and a thread for each.
unsigned join_threads(int splits) {
  return splits < 16 ? 32 * static_cast<unsigned>(splits) : max_join_threads;
}

std::int64_t blocks_of_token(const Attention& op) {
  return op.pages.kv_heads * quotient_up(op.heads / op.pages.kv_heads, block_heads);
}

template <int max_dim>
void launch_one_by_one(const LaunchShape& shape, const KvSplits& s, CudaStream& stream) {
  switch (s.op.pages.type) {
    case Type::f32:
      return launch<attend_kernel<Type::f32, max_dim>>(shape, stream, s);
    case Type::f16:
      return launch<attend_kernel<Type::f16, max_dim>>(shape, stream, s);
    default:
      assert(s.op.pages.type == Type::q8_0);
      return launch<attend_kernel<Type::q8_0, max_dim>>(shape, stream, s);
  }
}

void start_one_by_one(const KvSplits& s, std::int64_t tokens, CudaStream& stream) {
  const std::int64_t dim = s.op.pages.head_dim;
  const auto tile_bytes = static_cast<unsigned>(quotient_up(tile_positions * 4 * (dim + 1), 16) * 16);
  const LaunchShape shape = {.grid_x = static_cast<unsigned>(s.count),
                             .grid_y = static_cast<unsigned>(blocks_of_token(s.op)),
                             .grid_z = static_cast<unsigned>(tokens),
                             .threads = threads,
                             .shared_bytes = tile_bytes + static_cast<unsigned>(block_heads * 4 * dim),
                             .overlaps = true};
  if (dim <= max_head_dim_in_tiles) return launch_one_by_one<max_head_dim_in_tiles>(shape, s, stream);
  launch_one_by_one<static_cast<int>(max_head_dim)>(shape, s, stream);
}

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

enum class Form : std::uint8_t { one_by_one, few, tiles };

// A cache in 32-bit floats is what one chooses for exact scores, which half floats would not give. Of few
// queries a tile of 64 rows would be almost empty. Of larger heads (Gemma 4's global layers) neither the sums
// fit into registers nor a tile into shared memory.
Form form_of(const Attention& op) {
  if (op.pages.type == Type::f32 || op.pages.head_dim > max_head_dim_in_tiles) return Form::one_by_one;
  if (op.tokens >= fewest_in_tiles) return Form::tiles;
  return op.pages.head_dim % 8 == 0 ? Form::few : Form::one_by_one;
}

// Into how many KV splits, so that with `blocks` blocks for each there are `wanted` for each multiprocessor,
// and none is shorter than `shortest` positions.
int kv_splits_for(const Attention& op, std::int64_t wanted, std::int64_t blocks, std::int64_t shortest) {
  const std::int64_t longest =
      op.window > 0 ? smaller(op.window, op.first + op.tokens) : op.first + op.tokens;
  return static_cast<int>(
      smaller(max_kv_splits, smaller(wanted > blocks ? wanted / blocks : 1, quotient_up(longest, shortest))));
}
int kv_splits_for(const Attention& op, Form form, const CudaStream& stream) {
  const std::int64_t all = stream.multiprocessors();
  switch (form) {
    case Form::few:
      return kv_splits_for(op, attention_few_resident(op.pages.type, op.pages.head_dim) * all,
                           attention_few_blocks(op), attention_few_positions);
    case Form::tiles:
      return kv_splits_for(op, 4 * all, attention_tile_blocks(op), 2 * attention_tile_positions);
    default:
      return kv_splits_for(op, 4 * all, blocks_of_token(op) * op.tokens, 2 * tile_positions);
  }
}

}  // namespace

void attention(const Attention& op, Stream& stream) {
  CudaStream& cuda = on_cuda(stream);
  const KvPages& pages = op.pages;
  assert(op.heads % pages.kv_heads == 0 && pages.head_dim <= max_head_dim);
  if (op.tokens == 0) return;
  const Form form = form_of(op);
  const Quantised quantised = quantised_arrays(op.quantised, op.tokens, op.heads * pages.head_dim);
  const std::int64_t stride = quotient_up(pages.head_dim, 4) * 4;
  KvSplits s = {.op = op, .count = kv_splits_for(op, form, cuda), .sum_stride = static_cast<int>(stride)};
  // Heads that are no whole warps are quantised apart.
  if (pages.head_dim % 32 == 0) s.quantised = quantised;
  if (form == Form::few && s.count > 1 && s.count <= max_joined_by_block &&
      attention_few_blocks(op) <= counter_count)
    s.arrived = cuda.counters();
  const std::int64_t token_parts = op.heads * s.count;
  std::int64_t at_once = 65535;
  if (s.count > 1) {
    at_once = smaller(at_once, (cuda.scratch_bytes() - 512) /
                                   (token_parts * (stride * 4 + static_cast<std::int64_t>(sizeof(KvSplit)))));
    assert(at_once > 0);
    Scratch scratch(cuda);
    s.sums = scratch.take<float>(at_once * token_parts * stride);
    s.weights = scratch.take<KvSplit>(at_once * token_parts);
  }
  for (std::int64_t first = 0; first < op.tokens; first += at_once) {
    const std::int64_t tokens = smaller(at_once, op.tokens - first);
    s.first_token = static_cast<int>(first);
    if (form == Form::tiles) {
      start_attention_in_tiles(s, tokens, cuda);
    } else if (form == Form::few) {
      start_attention_of_few(s, tokens, cuda);
    } else {
      start_one_by_one(s, tokens, cuda);
    }
    if (s.count == 1 || s.arrived) continue;
    const unsigned threads = join_threads(s.count);
    launch<join_kv_splits_kernel>({.grid_x = static_cast<unsigned>(op.heads),
                                   .grid_y = static_cast<unsigned>(tokens),
                                   .threads = threads,
                                   .shared_bytes = threads / 32 * static_cast<unsigned>(stride) * 4,
                                   .overlaps = true},
                                  cuda, s);
  }
  if (quantised.q && (s.count == 1 || !s.quantised.q))
    quantise(op.out, op.tokens, Group::of_16, quantised, cuda);
}

}  // namespace fovea::kernels::cuda
