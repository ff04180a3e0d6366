#include <span>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu {

void router(const Router& op, Stream& stream) {
  const Projection products[] = {
      {.weight = op.weight, .bias = op.bias, .out = op.logits, .out_stride = op.weight.rows},
      {.weight = op.shared_gate, .out = op.shared_weights, .out_stride = 1},
  };
  linear({.x = op.x,
          .tokens = op.tokens,
          .columns = op.weight.columns,
          .projections = std::span(products).first(op.shared_gate ? 2 : 1)},
         stream);
  on_cpu(stream).kernels().choose_experts(op, stream);
}

}  // namespace fovea::kernels::cpu
