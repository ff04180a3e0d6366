#include <math.h>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// One query head over the positions [begin, end], with the running maximum and sum of an online softmax.
void attend(const Attention& op, const float* q, std::int64_t kv_head, std::int64_t begin, std::int64_t end,
            float* row, float* out) {
  const KvPages& pages = op.pages;
  const std::int64_t bytes = row_bytes(pages.type, pages.head_dim);
  float highest = -INFINITY;
  float sum = 0;
  for (std::int64_t i = 0; i < pages.head_dim; ++i) out[i] = 0;
  for (std::int64_t p = begin; p <= end; ++p) {
    const std::int64_t page = p / pages.page_tokens;
    const std::int64_t place = (kv_head * pages.page_tokens + p % pages.page_tokens) * bytes;
    formats::dequantize(pages.type, pages.keys[page] + place, pages.head_dim, row);
    float score = 0;
    for (std::int64_t i = 0; i < pages.head_dim; ++i) score += q[i] * row[i];
    score *= op.scale;
    const float rescale = score > highest ? expf(highest - score) : 1.0F;
    if (score > highest) highest = score;
    const float weight = expf(score - highest);
    sum = sum * rescale + weight;
    formats::dequantize(pages.type, pages.values[page] + place, pages.head_dim, row);
    for (std::int64_t i = 0; i < pages.head_dim; ++i) out[i] = out[i] * rescale + weight * row[i];
  }
  for (std::int64_t i = 0; i < pages.head_dim; ++i) out[i] /= sum;
}

}  // namespace

void attention(const Attention& op, Stream& stream) {
  CpuStream& cpu = on_cpu(stream);
  const std::int64_t dim = op.pages.head_dim;
  const std::int64_t grouped = op.heads / op.pages.kv_heads;
  auto* const rows = reinterpret_cast<float*>(cpu.scratch(cpu.pool().threads() * dim * 4));
  cpu.pool().for_chunks(op.tokens * op.heads, 1, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t t = item / op.heads;
      const std::int64_t head = item % op.heads;
      const std::int64_t last = op.first + t;
      const std::int64_t from = op.window > 0 && last >= op.window ? last - op.window + 1 : 0;
      attend(op, op.q + t * op.q_stride + head * dim, head / grouped, from, last, rows + thread * dim,
             op.out + item * dim);
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
