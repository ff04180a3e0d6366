// attention_inputs: one launch for what would be two norms, two rotary embeddings and a store, each of a few
// kilobytes and bound by its launch. A warp takes one head of a token: a query's goes back where it was, a
// key's and a value's into the cache. The angles' sines and cosines are found once for a block's heads.
#include "kernels/cuda/attention.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 256;
constexpr int warps = threads / 32;

struct Turns {
  float* cosines;  // [rotary / 2]
  float* sines;
};

// position · frequency less whole turns, within about ±π. A product in one float would be wrong by 0.06 at
// position 10^6; here it and 2π are two floats each, which costs cards less than doubles. What is left of the
// product is exact, so that one rounding of a number of that size remains.
__device__ __forceinline__ float angle_of(std::int32_t position, float frequency) {
  constexpr float turn = 6.28318548F, rest_of_turn = -1.7484556e-7F;
  const auto p = static_cast<float>(position);  // exact below 2^24
  const float product = p * frequency;
  const float rest = fmaf(p, frequency, -product);
  const float turns = rintf(product / turn);
  return fmaf(turns, -turn, product) + fmaf(turns, -rest_of_turn, rest);
}

__device__ __forceinline__ void find_turns(const AttentionInputs& op, std::int32_t position,
                                           const Turns& turns) {
  for (int i = static_cast<int>(threadIdx.x); i < op.rotary / 2; i += static_cast<int>(threads)) {
    const float angle = angle_of(position, op.inverse_frequency[i]);
    turns.cosines[i] = cosf(angle) * op.magnitude;
    turns.sines[i] = sinf(angle) * op.magnitude;
  }
}

// A lane's elements of a head: lane, lane + 32 ….
constexpr int lane_elements = static_cast<int>(max_head_dim) / 32;
__device__ __forceinline__ void load_elements(const float* from, int dim, float (&out)[lane_elements]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) out[k] = lane + 32 * k < dim ? from[lane + 32 * k] : 0.0F;
}

// The whole warp calls it.
__device__ __forceinline__ float norm_factor(const float (&x)[lane_elements], float eps, int dim) {
  float squares = 0;
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) squares += x[k] * x[k];
  return rsqrtf(sum_of_lanes(squares) / static_cast<float>(dim) + eps);
}

// Puts a head into `row` [head_dim], normed where it has weights. Lanes read what other lanes have put there
// behind a sync_warp.
__device__ __forceinline__ void put_head(const float (&x)[lane_elements], const float* weight, float eps,
                                         int dim, float* row) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  float weights[lane_elements];
  if (weight) load_elements(weight, dim, weights);
  const float factor = norm_factor(x, eps, dim);
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) {
    if (lane + 32 * k < dim) row[lane + 32 * k] = weight ? x[k] * factor * weights[k] : x[k];
  }
}

__device__ __forceinline__ float turned(const AttentionInputs& op, float* head, const Turns& turns, int i) {
  const float value = head[i];
  if (i >= op.rotary) return value;
  const int half = static_cast<int>(op.rotary / 2);
  const bool split = op.style == RotaryStyle::half_split;
  const int pair = split ? (i < half ? i : i - half) : i / 2;
  const bool is_first = split ? i < half : i % 2 == 0;
  const float other = head[split ? (is_first ? i + half : i - half) : i ^ 1];
  const float cosine = turns.cosines[pair];
  const float sine = turns.sines[pair];
  return is_first ? value * cosine - other * sine : other * sine + value * cosine;
}

// Element i of an entry. The whole warp calls it, with 32 adjacent elements.
template <Type type>
__device__ __forceinline__ void store(float value, bool wanted, std::byte* entry, int i) {
  if constexpr (type == Type::f32) {
    if (wanted) reinterpret_cast<float*>(entry)[i] = value;
  } else if constexpr (type == Type::f16) {
    if (wanted) reinterpret_cast<std::uint16_t*>(entry)[i] = float_to_half(value);
  } else {
    // head_dim is a multiple of 32: the warp holds a block.
    const float scale = largest_of_lanes(fabsf(value)) / 127.0F;
    const int q = scale > 0.0F ? __float2int_rn(value / scale) : 0;
    if (!wanted) return;
    auto* const block = reinterpret_cast<formats::BlockQ8_0*>(entry) + i / 32;
    block->qs[i % 32] = static_cast<std::int8_t>(q);
    if (i % 32 == 0) block->d = float_to_half(scale);
  }
}

template <Type type>
__global__ void __launch_bounds__(threads, 1) inputs_kernel(AttentionInputs op) {
  wait_for_earlier_kernels();
  __shared__ alignas(16) float cosines[max_head_dim / 2];
  __shared__ alignas(16) float sines[max_head_dim / 2];
  __shared__ alignas(16) float rows[warps * max_head_dim];
  const KvPages& pages = op.pages;
  const std::int64_t token = blockIdx.x;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int dim = static_cast<int>(pages.head_dim);
  const int heads = static_cast<int>(op.heads);
  const int kv_heads = static_cast<int>(pages.kv_heads);
  // Queries' heads, then keys', then values', where they are not another layer's.
  const int item = static_cast<int>(blockIdx.y) * warps + warp;
  const bool is_query = item < heads;
  const bool is_value = item >= heads + kv_heads;
  const bool there = item < (op.k ? heads + 2 * kv_heads : heads);
  const int head = is_query ? item : (item - heads) % kv_heads;
  const float* const queries = op.gated_q ? op.gated_q + (token * heads + head) * 2 * dim
                                          : op.q + token * op.q_stride + std::int64_t{head} * dim;
  const float* const from = is_query || !there ? queries
                            : is_value         ? op.v + token * op.v_stride + std::int64_t{head} * dim
                                               : op.k + token * op.k_stride + std::int64_t{head} * dim;
  // On its way while the angles are found.
  float x[lane_elements];
  load_elements(from, there ? dim : 0, x);
  const std::int32_t position = op.positions[token];
  const Turns turns = {cosines, sines};
  find_turns(op, position, turns);
  __syncthreads();
  if (!there) return;

  const int whole = (dim + 31) / 32 * 32;
  if (is_value) {
    if (op.v_norm) {
      const float factor = norm_factor(x, op.eps, dim);
#pragma unroll
      for (int k = 0; k < lane_elements; ++k) x[k] *= factor;
    }
    std::byte* const out = entry<type>(pages, pages.values, position, head);
#pragma unroll
    for (int k = 0; k < lane_elements; ++k) {
      if (32 * k < whole) store<type>(x[k], lane + 32 * k < dim, out, lane + 32 * k);
    }
    return;
  }
  float* const row = rows + warp * max_head_dim;
  put_head(x, is_query ? op.q_norm : op.k_norm, op.eps, dim, row);
  __syncwarp();
  std::byte* const out = is_query ? nullptr : entry<type>(pages, pages.keys, position, head);
  for (int i = lane; i < whole; i += 32) {
    const float value = i < dim ? turned(op, row, turns, i) : 0.0F;
    if (!is_query) {
      store<type>(value, i < dim, out, i);
    } else if (i < dim) {
      op.q[token * op.q_stride + std::int64_t{head} * dim + i] = value;
    }
  }
}

}  // namespace

void attention_inputs(const AttentionInputs& op, Stream& stream) {
  assert(op.pages.head_dim <= max_head_dim);
  if (op.tokens == 0) return;
  const LaunchShape shape = {.grid_x = static_cast<unsigned>(op.tokens),
                             .grid_y = blocks_for(op.k ? op.heads + 2 * op.pages.kv_heads : op.heads, warps),
                             .threads = threads,
                             .overlaps = true};
  switch (op.pages.type) {
    case Type::f32:
      return launch<inputs_kernel<Type::f32>>(shape, on_cuda(stream), op);
    case Type::f16:
      return launch<inputs_kernel<Type::f16>>(shape, on_cuda(stream), op);
    default:
      assert(op.pages.type == Type::q8_0);
      return launch<inputs_kernel<Type::q8_0>>(shape, on_cuda(stream), op);
  }
}

}  // namespace fovea::kernels::cuda
