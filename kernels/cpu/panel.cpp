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

Panel::Panel(const float* x, std::int64_t tokens, std::int64_t columns)
    : x_(x), tokens_(tokens), columns_(columns) {}

void Panel::want(ActivationForm form) {
  // Floats are read where they are, unless their rows would fight for the same sets of the cache.
  const bool in_place =
      form == ActivationForm::floats && (tokens_ == 1 || panel_stride(columns_, 4) - columns_ < 16);
  if (!in_place) wanted_[static_cast<int>(form)] = true;
}

void Panel::lay_out(ScratchLayout& layout) {
  for (int form = 0; form < forms; ++form) {
    if (wanted_[form])
      place_[form] = layout.add(panel_bytes(static_cast<ActivationForm>(form), tokens_, columns_));
  }
}

Activations Panel::fill(std::byte* scratch, CpuStream& stream) const {
  // Below this many values for a chunk, waking the other threads costs more than it saves.
  constexpr std::int64_t values_per_chunk = 16384;
  const std::int64_t grain = std::max<std::int64_t>(1, values_per_chunk / columns_);
  const auto memory = [&]<typename Element>(ActivationForm form, Element*& first) {
    const int i = static_cast<int>(form);
    if (wanted_[i]) first = reinterpret_cast<Element*>(scratch + place_[i]);
  };
  float* floats = nullptr;
  std::uint16_t* bfloat16 = nullptr;
  ActivationBlock* blocks = nullptr;
  memory(ActivationForm::floats, floats);
  memory(ActivationForm::bfloat16, bfloat16);
  memory(ActivationForm::blocks, blocks);
  const Activations out{.floats = floats ? floats : x_,
                        .bfloat16 = bfloat16,
                        .blocks = blocks,
                        .floats_stride = floats ? panel_stride(columns_, 4) : columns_,
                        .bfloat16_stride = panel_stride(columns_, 2),
                        .tokens = tokens_};
  if (!floats && !bfloat16 && !blocks) return out;
  const Kernels& kernels = stream.kernels();
  stream.pool().for_chunks(tokens_, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      const float* const x = x_ + t * columns_;
      if (floats) std::copy_n(x, columns_, floats + t * out.floats_stride);
      if (bfloat16) kernels.round_activations(x, columns_, bfloat16 + t * out.bfloat16_stride);
      if (blocks) kernels.quantize_activations(x, columns_, blocks + t, tokens_);
    }
  });
  return out;
}

}  // namespace fovea::kernels::cpu
