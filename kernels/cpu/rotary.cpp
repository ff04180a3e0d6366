#include <math.h>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void rotary(const Rotary& op, Stream& stream) {
  on_cpu(stream).pool().for_chunks(op.tokens, 16, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      for (std::int64_t i = 0; i < op.rotary / 2; ++i) {
        // A float angle would be wrong by 6e-8 of itself, which is a lot at position 100,000.
        const double angle =
            static_cast<double>(op.positions[t]) * static_cast<double>(op.inverse_frequency[i]);
        const float cosine = static_cast<float>(cos(angle)) * op.magnitude;
        const float sine = static_cast<float>(sin(angle)) * op.magnitude;
        const bool halves = op.style == RotaryStyle::half_split;
        const std::int64_t first = halves ? i : 2 * i;
        const std::int64_t second = halves ? i + op.rotary / 2 : 2 * i + 1;
        for (std::int64_t head = 0; head < op.heads; ++head) {
          float* const x = op.x + t * op.stride + head * op.head_dim;
          const float a = x[first];
          const float b = x[second];
          x[first] = a * cosine - b * sine;
          x[second] = a * sine + b * cosine;
        }
      }
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
