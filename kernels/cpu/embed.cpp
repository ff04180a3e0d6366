#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void embed_rows(const EmbedRows& op, Stream& stream) {
  const std::int64_t columns = op.table.columns;
  const std::int64_t bytes = row_bytes(op.table.type, columns);
  on_cpu(stream).pool().for_chunks(op.tokens, 16, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      formats::dequantize(op.table.type, op.table.data + op.ids[t] * bytes, columns, op.out + t * columns);
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
