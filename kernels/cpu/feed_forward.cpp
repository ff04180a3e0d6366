#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu {
namespace {

void add_expert(const FeedForward& op, std::int64_t token, const Expert& expert, float share,
                Stream& stream) {
  const std::int64_t width = expert.gate.rows;
  std::vector<float> gate(static_cast<std::size_t>(width));
  std::vector<float> up(gate.size());
  std::vector<float> down(static_cast<std::size_t>(op.d));
  const float* const x = op.x + token * op.d;
  const Projection inner[] = {{expert.gate, nullptr, gate.data(), width},
                              {expert.up, nullptr, up.data(), width}};
  linear({x, 1, op.d, inner}, stream);
  for (std::size_t i = 0; i < gate.size(); ++i) up[i] *= gate[i] / (1 + std::exp(-gate[i]));
  const Projection outer[] = {{expert.down, nullptr, down.data(), op.d}};
  linear({up.data(), 1, width, outer}, stream);
  float* const out = op.out + token * op.d;
  for (std::int64_t i = 0; i < op.d; ++i) out[i] += share * down[static_cast<std::size_t>(i)];
}

}  // namespace

void feed_forward(const FeedForward& op, Stream& stream) {
  for (std::int64_t t = 0; t < op.tokens; ++t) {
    std::fill_n(op.out + t * op.d, op.d, 0.0F);
    for (std::int64_t j = 0; j < op.used; ++j) {
      const std::int64_t slot = t * op.used + j;
      add_expert(op, t, op.experts[static_cast<std::size_t>(op.ids[slot])], op.weights[slot], stream);
    }
    if (op.shared) add_expert(op, t, *op.shared, op.shared_weights ? op.shared_weights[t] : 1.0F, stream);
  }
}

}  // namespace fovea::kernels::cpu
