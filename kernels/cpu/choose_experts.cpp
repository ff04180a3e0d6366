#include <math.h>

#include "kernels/cpu/numeric.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Σ exp(logits − highest)
float sum_of_exponentials(const float* logits, std::int64_t count, float highest) {
  const Floats origin = set_floats(highest);
  Floats sums = set_floats(0);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    sums = add_floats(sums, exp_of(subtract(load_floats(logits + i), origin)));
  }
  float sum = sum_of(sums);
  for (; i < count; ++i) sum += expf(logits[i] - highest);
  return sum;
}

void route_token(const Router& op, const float* logits, std::int32_t* ids, float* weights) {
  float highest = logits[0];
  for (std::int64_t e = 1; e < op.weight.rows; ++e) highest = logits[e] > highest ? logits[e] : highest;
  const float sum = sum_of_exponentials(logits, op.weight.rows, highest);
  // Insertion into the list of the best: a later expert goes behind an equal one.
  std::int64_t held = 0;
  for (std::int64_t e = 0; e < op.weight.rows; ++e) {
    std::int64_t at = held;
    while (at > 0 && logits[e] > logits[ids[at - 1]]) --at;
    if (at == op.used) continue;
    if (held < op.used) ++held;
    for (std::int64_t i = held - 1; i > at; --i) ids[i] = ids[i - 1];
    ids[at] = static_cast<std::int32_t>(e);
  }
  float chosen = 0;
  for (std::int64_t i = 0; i < op.used; ++i) {
    weights[i] = expf(logits[ids[i]] - highest) / sum;
    chosen += weights[i];
  }
  const float factor = op.normalise ? op.scale / chosen : op.scale;
  for (std::int64_t i = 0; i < op.used; ++i)
    weights[i] *= op.expert_scales ? factor * op.expert_scales[ids[i]] : factor;
}

}  // namespace

void choose_experts(const Router& op, Stream& stream) {
  on_cpu(stream).pool().for_chunks(op.tokens, 16, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      route_token(op, op.logits + t * op.weight.rows, op.ids + t * op.used, op.weights + t * op.used);
    }
    for (std::int64_t t = begin; op.shared_gate.data != nullptr && t < end; t += lanes) {
      const std::int64_t count = end - t < lanes ? end - t : lanes;
      store_first(op.shared_weights + t, sigmoid_of(load_first(op.shared_weights + t, count)), count);
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
