#include "kernels/cpu/panel.h"

#include "kernels/cpu/pack.h"

namespace fovea::kernels::cpu {

const std::byte* tile_of(const Weight& weight, std::int64_t tile, std::byte* spare) {
  if (weight.packing == Packing::tiles) return weight.data + tile * tile_bytes(weight);
  const std::int64_t bytes = row_bytes(weight.type, weight.columns);
  pack_tile(weight.type, weight.columns, weight.data + tile * tile_rows * bytes, bytes,
            rows_in_tile(weight, tile), spare);
  return spare;
}

void quantize_panel(const float* x, std::int64_t tokens, std::int64_t columns, ActivationBlock* blocks,
                    CpuStream& stream) {
  // Below this many values for a chunk, waking the other threads costs more than it saves.
  constexpr std::int64_t values_per_chunk = 16384;
  const std::int64_t grain = std::max<std::int64_t>(1, values_per_chunk / columns);
  const auto quantize = stream.kernels().quantize_activations;
  stream.pool().for_chunks(tokens, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) quantize(x + t * columns, columns, blocks + t, tokens);
  });
}

}  // namespace fovea::kernels::cpu
