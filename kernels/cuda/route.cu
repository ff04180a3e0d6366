// route: one warp for each token. The chosen experts are found one after the other, each as the next in the
// order (larger logit first, then lower index) after the one before, so that nothing is marked or stored.
// Bound by the latency of `used` rounds of ten shuffles.
#include "kernels/cuda/grid.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr unsigned tokens_at_once = threads / 32;

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

// The first after `last`.
FOVEA_DEVICE Candidate next_after(const Candidate& last, const float* logits, int experts) {
  Candidate best = {-INFINITY, experts};
  for (int i = static_cast<int>(thread_index() % 32); i < experts; i += 32) {
    const Candidate one = {logits[i], i};
    if (before(last, one) && before(one, best)) best = one;
  }
  return first_of_lanes(best);
}

FOVEA_KERNEL(threads) route_kernel(Route op) {
  const std::int64_t token = std::int64_t{block_x()} * tokens_at_once + thread_index() / 32;
  if (token >= op.tokens) return;
  const int lane = static_cast<int>(thread_index() % 32);
  const int experts = static_cast<int>(op.experts);
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
    for (int i = lane; i < experts; i += 32) all += expf(logits[i] - largest);
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

}  // namespace

void route(const Route& op, Stream& stream) {
  if (op.tokens == 0) return;
  launch<route_kernel>({.grid_x = blocks_for(op.tokens, tokens_at_once), .threads = threads}, on_cuda(stream),
                       op);
}

}  // namespace fovea::kernels::cuda
