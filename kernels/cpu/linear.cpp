#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stream.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu {
namespace {

void project(const Linear& op, const Projection& projection, CpuStream& cpu) {
  const Weight& weight = projection.weight;
  auto* const rows = reinterpret_cast<float*>(cpu.scratch(cpu.pool().threads() * weight.columns * 4));
  cpu.pool().for_chunks(weight.rows, 8, [&](std::int64_t begin, std::int64_t end, int thread) {
    float* const row = rows + thread * weight.columns;
    for (std::int64_t r = begin; r < end; ++r) {
      formats::dequantize(weight.type, weight.data + r * row_bytes(weight.type, weight.columns),
                          weight.columns, row);
      for (std::int64_t t = 0; t < op.tokens; ++t) {
        const float* const x = op.x + t * op.columns;
        double sum = projection.bias ? projection.bias[r] : 0;
        for (std::int64_t k = 0; k < op.columns; ++k) sum += static_cast<double>(x[k]) * row[k];
        projection.out[t * projection.out_stride + r] = static_cast<float>(sum);
      }
    }
  });
}

}  // namespace

void linear(const Linear& op, Stream& stream) {
  for (const Projection& projection : op.projections) project(op, projection, on_cpu(stream));
}

}  // namespace fovea::kernels::cpu
