// router. Of few tokens one launch: a block computes one expert's logit of one token, and the block that ends
// last chooses the token's experts. Bound by latency: the matrix is some hundred kilobytes, read by as many
// blocks as there are experts. Of many tokens the product is linear's, and a warp chooses for each token.
//
// The chosen experts are found one after the other, each as the next in the order (larger logit first, then
// lower index) after the one before, so that nothing is marked or stored: `used` rounds of ten shuffles.
#include "kernels/cuda/grid.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/row_product.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr unsigned tokens_at_once = threads / 32;
// Blocks on a multiprocessor. Without it ptxas takes so few registers that it spills.
[[maybe_unused]] constexpr int resident = 4;

struct Candidate {
  float logit;
  int id;
};

// Whether `a` stands before `b` in the order.
FOVEA_DEVICE bool before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

FOVEA_DEVICE Candidate first_of_lanes(Candidate mine) {
  for (unsigned apart = 16; apart > 0; apart /= 2) {
    const Candidate other = {shuffle_xor(mine.logit, apart), shuffle_xor(mine.id, apart)};
    if (before(other, mine)) mine = other;
  }
  return mine;
}

// The first after `last`. What is not a number counts as the smallest: each must be some expert.
FOVEA_DEVICE Candidate next_after(const Candidate& last, const float* logits, int experts) {
  Candidate best = {-INFINITY, experts};
  for (int i = static_cast<int>(thread_index() % 32); i < experts; i += 32) {
    const float logit = load_fresh(logits + i);
    const Candidate one = {logit == logit ? logit : -INFINITY, i};
    if (before(last, one) && before(one, best)) best = one;
  }
  return first_of_lanes(best);
}

// The whole warp calls it.
FOVEA_DEVICE void choose_experts(const Router& op, std::int64_t token) {
  const int lane = static_cast<int>(thread_index() % 32);
  const int experts = static_cast<int>(op.weight.rows);
  const float* const logits = op.logits + token * experts;
  Candidate chosen = {INFINITY, -1};
  float largest = 0;
  float chosen_sum = 0;
  for (int j = 0; j < op.used; ++j) {
    chosen = next_after(chosen, logits, experts);
    if (j == 0) largest = chosen.logit;
    const float weight = expf(chosen.logit - largest);
    chosen_sum += weight;
    if (lane == 0) {
      op.ids[token * op.used + j] = chosen.id;
      op.weights[token * op.used + j] = weight;
    }
  }
  float all = chosen_sum;
  if (!op.normalise) {
    all = 0;
    for (int i = lane; i < experts; i += 32) all += expf(load_fresh(logits + i) - largest);
    all = sum_of_lanes(all);
  }
  // Lane 0 wrote the weights.
  if (lane == 0) {
    for (int j = 0; j < op.used; ++j) {
      float& weight = op.weights[token * op.used + j];
      weight = weight / all * op.scale;
    }
  }
}

FOVEA_DEVICE float sigmoid(float x) {
  return 1.0F / (1.0F + expf(-x));
}

// Block x is an expert, or behind them the shared expert's gate; block y a token, whose blocks that have
// ended arrived[y] counts.
FOVEA_KERNEL_RESIDENT(threads, resident) router_kernel(Router op, Quantised quantised, int* arrived) {
  wait_for_earlier();
  FOVEA_SHARED(int, is_last, 1);
  const std::int64_t token = block_y();
  const std::int64_t experts = op.weight.rows;
  const bool is_gate = block_x() == experts;
  const float product = sum_of_block(row_product(
      is_gate ? op.shared_gate : op.weight, is_gate ? 0 : std::int64_t{block_x()},
      op.x + token * op.weight.columns, quantised, token, static_cast<int>(thread_index()), threads));
  if (thread_index() == 0) {
    if (is_gate) {
      op.shared_weights[token] = sigmoid(product);
    } else {
      op.logits[token * experts + block_x()] = product;
    }
    fence_device();
    is_last[0] = atomic_add(arrived + token, 1) + 1 == static_cast<int>(grid_x()) ? 1 : 0;
  }
  sync_block();
  if (is_last[0] == 0 || thread_index() >= 32) return;
  fence_device();
  choose_experts(op, token);
  if (thread_index() == 0) arrived[token] = 0;
}

// A warp for each token; the shared weights are products yet.
FOVEA_KERNEL(threads) choose_kernel(Router op) {
  const std::int64_t token = std::int64_t{block_x()} * tokens_at_once + thread_index() / 32;
  if (token >= op.tokens) return;
  choose_experts(op, token);
  if (op.shared_gate.data && thread_index() % 32 == 0)
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
      x = image_or_quantised(op.image, op.x, op.tokens, op.weight.columns, scratch, cuda);
    launch<router_kernel>({.grid_x = static_cast<unsigned>(op.weight.rows + gates),
                           .grid_y = static_cast<unsigned>(op.tokens),
                           .threads = threads,
                           .overlaps = true},
                          cuda, op, x, cuda.counters());
    return;
  }
  const Projection products[] = {
      {.weight = op.weight, .out = op.logits, .out_stride = op.weight.rows},
      {.weight = op.shared_gate, .out = op.shared_weights, .out_stride = 1},
  };
  linear({.x = op.x,
          .tokens = op.tokens,
          .columns = op.weight.columns,
          .projections = {products, static_cast<std::size_t>(1 + gates)}},
         stream);
  launch<choose_kernel>({.grid_x = blocks_for(op.tokens, tokens_at_once), .threads = threads}, cuda, op);
}

}  // namespace fovea::kernels::cuda
