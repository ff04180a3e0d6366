#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void kv_store(const KvStore& op, Stream& stream) {
  const KvPages& pages = op.pages;
  const std::int64_t bytes = row_bytes(pages.type, pages.head_dim);
  on_cpu(stream).pool().for_chunks(op.tokens, 16, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t page = (op.first + t) / pages.page_tokens;
      const std::int64_t slot = (op.first + t) % pages.page_tokens;
      for (std::int64_t head = 0; head < pages.kv_heads; ++head) {
        const std::int64_t place = (head * pages.page_tokens + slot) * bytes;
        formats::quantize(pages.type, op.k + t * op.k_stride + head * pages.head_dim, pages.head_dim,
                          pages.keys[page] + place);
        formats::quantize(pages.type, op.v + t * op.v_stride + head * pages.head_dim, pages.head_dim,
                          pages.values[page] + place);
      }
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
