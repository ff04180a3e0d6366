#include <algorithm>
#include <cassert>
#include <cstring>

#include "kernels/cpu/chunks.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu {
namespace {

// A tile of one of the operation's matrices, numbered through all of them.
struct OutputTile {
  const Projection* projection;
  std::int64_t tile;
};

OutputTile output_tile(const Linear& op, std::int64_t item) {
  for (const Projection& projection : op.projections) {
    const std::int64_t tiles = tile_count(projection.weight.rows);
    if (item < tiles) return {&projection, item};
    item -= tiles;
  }
  assert(false);
  return {};
}

void write_tile(const OutputTile& target, const float* y, std::int64_t first, std::int64_t tokens) {
  const Projection& projection = *target.projection;
  const int rows = rows_in_tile(projection.weight, target.tile);
  const float* const bias = projection.bias ? projection.bias + target.tile * tile_rows : nullptr;
  float* out = projection.out + first * projection.out_stride + target.tile * tile_rows;
  for (std::int64_t t = 0; t < tokens; ++t, out += projection.out_stride, y += tile_rows) {
    std::memcpy(out, y, static_cast<std::size_t>(rows) * sizeof(float));
    for (int r = 0; bias && r < rows; ++r) out[r] += bias[r];
  }
}

void multiply_all(const Linear& op, CpuStream& cpu) {
  const int threads = cpu.pool().threads();
  std::int64_t tiles = 0;
  std::int64_t spare = 0;
  std::int64_t at_once = max_tokens_at_once;
  Panel panel(op.x, op.tokens, op.columns);
  for (const Projection& projection : op.projections) {
    assert(projection.weight.columns == op.columns);
    tiles += tile_count(projection.weight.rows);
    spare = std::max(spare, spare_bytes(projection.weight));
    const ActivationForm form = cpu.kernels().activation_form(projection.weight.type);
    panel.want(form);
    at_once = std::min(at_once, tokens_at_once(form, op.columns));
  }

  ScratchLayout layout;
  panel.lay_out(layout);
  spare = (spare + 63) / 64 * 64;
  const std::int64_t spare_at = layout.add(spare * threads);
  std::byte* const scratch = cpu.scratch(layout.bytes());
  const Activations x = panel.fill(scratch, cpu);

  const auto multiply = [&](std::int64_t begin, std::int64_t end, int thread) {
    alignas(64) float y[max_tokens_at_once * tile_rows];
    for (std::int64_t first = 0; first < op.tokens; first += at_once) {
      const std::int64_t tokens = std::min(at_once, op.tokens - first);
      for (std::int64_t item = begin; item < end; ++item) {
        const OutputTile target = output_tile(op, item);
        const Weight& weight = target.projection->weight;
        const std::byte* const tile = tile_of(weight, target.tile, scratch + spare_at + thread * spare);
        cpu.kernels().multiply_tile(weight.type)(
            {.tile = tile, .columns = op.columns, .x = x, .first = first, .tokens = tokens, .y = y});
        write_tile(target, y, first, tokens);
      }
    }
  };
  if (op.tokens == 1) {
    const ShrinkingChunks chunks(tiles, threads, tiles);
    cpu.pool().for_chunks(chunks.count(), 1, [&](std::int64_t chunk, std::int64_t, int thread) {
      multiply(chunks.begin(chunk), chunks.end(chunk), thread);
    });
    return;
  }
  // Enough chunks to even out the threads' speeds, and small ones: their weights must stay in the cache.
  const std::int64_t grain = std::clamp<std::int64_t>(tiles / (threads * 8), 1, 8);
  cpu.pool().for_chunks(tiles, grain, multiply);
}

}  // namespace

void linear(const Linear& op, Stream& stream) {
  multiply_all(op, on_cpu(stream));
  if (op.then) on_cpu(stream).kernels().operations.rms_norm(op.then, stream);
}

}  // namespace fovea::kernels::cpu
