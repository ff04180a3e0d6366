#include <math.h>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void rms_norm(const RmsNorm& op, Stream& stream) {
  on_cpu(stream).pool().for_chunks(op.rows, 16, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const x = op.x + row * op.columns;
      float* const out = op.out + row * op.columns;
      if (op.residual) {
        const float* const residual = op.residual + row * op.columns;
        for (std::int64_t i = 0; i < op.columns; ++i) x[i] += residual[i];
      }
      double squares = 0;
      for (std::int64_t i = 0; i < op.columns; ++i) squares += static_cast<double>(x[i]) * x[i];
      const float scale =
          1.0F / sqrtf(static_cast<float>(squares / static_cast<double>(op.columns)) + op.eps);
      for (std::int64_t i = 0; i < op.columns; ++i) out[i] = x[i] * scale * op.weight[i];
    }
  });
}

void sigmoid(const Sigmoid& op, Stream&) {
  for (std::int64_t i = 0; i < op.count; ++i) op.x[i] = 1.0F / (1.0F + expf(-op.x[i]));
}

void add(const Add& op, Stream&) {
  for (std::int64_t i = 0; i < op.count; ++i) op.x[i] += op.y[i];
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
