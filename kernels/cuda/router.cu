// router. Of few tokens one launch: a block computes one expert's logit of one token, and the block that ends
// last chooses the token's experts. Bound by latency: the matrix is some hundred kilobytes, read by as many
// blocks as there are experts. Of many tokens the product is linear's, and a warp chooses for each token.
//
// A warp has the logits in shared memory as keys (reduce.h), each lane its own, and takes the largest of them
// one after the other: two reductions of the warp for each.
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/row_product.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr unsigned tokens_at_once = threads / 32;
// Blocks on a multiprocessor. Without it ptxas takes so few registers that it spills.
[[maybe_unused]] constexpr int resident = 2;

// In shared memory: the keys of some tokens, then what their chosen experts weigh.
unsigned shared_bytes(const Router& op, std::int64_t tokens) {
  return static_cast<unsigned>(quotient_up(4 * tokens * op.weight.rows, 16) * 16 + 4 * tokens * op.used);
}

// The whole warp calls it. keys [experts] and found [used] are its own.
__device__ __forceinline__ void choose_experts(const Router& op, std::int64_t token, std::uint32_t* keys,
                                               float* found) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int experts = static_cast<int>(op.weight.rows);
  const float* const logits = op.logits + token * experts;
  std::int32_t* const ids = op.ids + token * op.used;
  float* const weights = op.weights + token * op.used;
  float largest = -INFINITY;
  // Several under way at once.
  constexpr int at_once = 4;
  for (int first = lane; first < experts; first += 32 * at_once) {
    float loaded[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      loaded[k] = first + 32 * k < experts ? load_fresh(logits + first + 32 * k) : -INFINITY;
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const float logit = loaded[k];
      // What is not a number counts as the smallest: each must be some expert.
      if (first + 32 * k < experts) keys[first + 32 * k] = ordered_bits(logit == logit ? logit : -INFINITY);
      largest = fmaxf(largest, logit);
    }
  }
  largest = largest_of_lanes(largest);
  float all = 0;
  for (int i = lane; i < experts && !op.normalise; i += 32) all += expf(float_of_ordered(keys[i]) - largest);
  for (int j = 0; j < op.used; ++j) {
    // The lane's largest and, of equal ones, first.
    std::uint32_t best = 0;
    int best_id = experts;
    for (int i = lane; i < experts; i += 32) {
      const std::uint32_t key = keys[i];
      if (key <= best) continue;
      best = key;
      best_id = i;
    }
    const std::uint32_t chosen = __reduce_max_sync(whole_warp, best);
    const auto id = static_cast<int>(
        ~__reduce_max_sync(whole_warp, best == chosen ? ~static_cast<std::uint32_t>(best_id) : 0U));
    if (id % 32 == lane) keys[id] = 0;  // no logit has this key
    if (j % 32 != lane) continue;
    const float weight = expf(float_of_ordered(chosen) - largest);
    if (op.normalise) all += weight;
    ids[j] = id;
    found[j] = weight * op.scale * (op.expert_scales ? op.expert_scales[id] : 1.0F);
  }
  all = sum_of_lanes(all);
  for (int j = lane; j < op.used; j += 32) weights[j] = found[j] / all;
}

__device__ __forceinline__ float sigmoid(float x) {
  return 1.0F / (1.0F + expf(-x));
}

// A function, without which the compiler chooses between two rows and not between two branches, for which a
// multiprocessor has registers for a block less.
__device__ __forceinline__ unsigned expert_of_block() {
  return blockIdx.x;
}

// Block x is an expert, or behind them the shared expert's gate; block y a token, whose blocks that have
// ended arrived[y] counts.
__global__ void __launch_bounds__(threads, resident)
    router_kernel(Router op, Quantised quantised, int* arrived) {
  wait_for_earlier_kernels();
  __shared__ int is_last;
  const std::int64_t token = blockIdx.y;
  const std::int64_t experts = op.weight.rows;
  const bool is_gate = expert_of_block() == experts;
  const float product = sum_of_block(row_product<4>(
      is_gate ? op.shared_gate : op.weight, is_gate ? 0 : std::int64_t{expert_of_block()},
      op.x + token * op.weight.columns, quantised, token, static_cast<int>(threadIdx.x), threads));
  if (threadIdx.x == 0) {
    if (is_gate) {
      op.shared_weights[token] = sigmoid(product);
    } else {
      op.logits[token * experts + expert_of_block()] =
          op.bias ? product + op.bias[expert_of_block()] : product;
    }
    __threadfence();
    is_last = atomicAdd(arrived + token, 1) + 1 == static_cast<int>(gridDim.x) ? 1 : 0;
  }
  __syncthreads();
  if (is_last == 0 || threadIdx.x >= 32) return;
  __threadfence();
  std::uint32_t* const keys = dynamic_shared<std::uint32_t>(0);
  float* const found = dynamic_shared<float>((4 * experts + 15) / 16 * 16);
  choose_experts(op, token, keys, found);
  if (threadIdx.x == 0) arrived[token] = 0;
}

// A warp for each token; the shared weights are products yet.
__global__ void __launch_bounds__(threads, 1) choose_kernel(Router op) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  const std::int64_t token = std::int64_t{blockIdx.x} * tokens_at_once + warp;
  std::uint32_t* const keys = dynamic_shared<std::uint32_t>(0);
  float* const found = dynamic_shared<float>(tokens_at_once * 4 * op.weight.rows);
  if (token >= op.tokens) return;
  choose_experts(op, token, keys + warp * op.weight.rows, found + warp * op.used);
  if (op.shared_gate.data && threadIdx.x % 32 == 0)
    op.shared_weights[token] = sigmoid(op.shared_weights[token]);
}

}  // namespace

void router(const Router& op, Stream& stream) {
  if (op.tokens == 0) return;
  CudaStream& cuda = on_cuda(stream);
  const std::int64_t gates = op.shared_gate.data ? 1 : 0;
  if (op.tokens < fewest_in_tiles) {
    static_assert(fewest_in_tiles <= counter_count);
    Scratch scratch(cuda);
    Quantised x;
    if (is_quantised(op.weight.type) || (gates > 0 && is_quantised(op.shared_gate.type)))
      x = given_or_quantised(op.quantised, op.x, op.tokens, op.weight.columns, scratch, cuda);
    launch<router_kernel>({.grid_x = static_cast<unsigned>(op.weight.rows + gates),
                           .grid_y = static_cast<unsigned>(op.tokens),
                           .threads = threads,
                           .shared_bytes = shared_bytes(op, 1),
                           .overlaps = true},
                          cuda, op, x, cuda.counters());
    return;
  }
  const Projection products[] = {
      {.weight = op.weight, .bias = op.bias, .out = op.logits, .out_stride = op.weight.rows},
      {.weight = op.shared_gate, .out = op.shared_weights, .out_stride = 1},
  };
  linear({.x = op.x,
          .tokens = op.tokens,
          .columns = op.weight.columns,
          .projections = {products, static_cast<std::size_t>(1 + gates)}},
         stream);
  launch<choose_kernel>({.grid_x = blocks_for(op.tokens, tokens_at_once),
                         .threads = threads,
                         .shared_bytes = shared_bytes(op, tokens_at_once)},
                        cuda, op);
}

}  // namespace fovea::kernels::cuda
