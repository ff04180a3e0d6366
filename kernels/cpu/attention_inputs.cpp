#include "kernels/cpu/attention_inputs.h"

#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void attention_inputs(const AttentionInputs& op, Stream& stream) {
  const KvPages& pages = op.pages;
  // A token of a large model is some microseconds' work: fewer are not worth waking a thread for.
  on_cpu(stream).pool().for_chunks(op.tokens, 8, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      float* const q = op.q + t * op.q_stride;
      float* const k = op.k + t * op.k_stride;
      if (op.q_norm) norm_rows(q, op.q_norm, op.eps, op.heads, pages.head_dim, q);
      if (op.k_norm) norm_rows(k, op.k_norm, op.eps, pages.kv_heads, pages.head_dim, k);
      turn_heads(op, op.positions[t], q, k);
      store_heads(pages, pages.keys, op.positions[t], k);
      store_heads(pages, pages.values, op.positions[t], op.v + t * op.v_stride);
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
