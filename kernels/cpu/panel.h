// What linear and feed_forward share: scratch layout, activation panels, tiles of any packing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu {

// Adds up the parts of a scratch request, each aligned to 64 bytes; the offsets are valid in what
// CpuStream::scratch(bytes()) returns.
class ScratchLayout {
 public:
  std::int64_t add(std::int64_t bytes) {
    const std::int64_t offset = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return offset;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

// Tokens that a tile is multiplied with at a time: their sums fit the first-level cache, their activations
// the second. Of floats a multiple of what a register tile takes.
constexpr std::int64_t max_tokens_at_once = 64;
inline std::int64_t tokens_at_once(ActivationForm form, std::int64_t columns) {
  constexpr std::int64_t panel_bytes = 384 << 10;
  const std::int64_t bytes_per_column = form == ActivationForm::floats ? 4 : 2;
  const std::int64_t fit = panel_bytes / (columns * bytes_per_column);
  if (form == ActivationForm::blocks) return std::clamp<std::int64_t>(fit, 16, max_tokens_at_once);
  return std::clamp<std::int64_t>(fit, 24, 48) / 24 * 24;
}
static_assert(sizeof(ActivationBlock) == 2 * block_columns);

inline std::int64_t tile_bytes(const Weight& weight) {
  return tile_rows * row_bytes(weight.type, weight.columns);
}

// What tile_of needs as its spare memory.
inline std::int64_t spare_bytes(const Weight& weight) {
  return weight.packing == Packing::tiles ? 0 : tile_bytes(weight);
}

// The tile of a matrix; one in the file's order is packed into `spare` first.
const std::byte* tile_of(const Weight& weight, std::int64_t tile, std::byte* spare);

// Where a tile that will be read soon lies; null when it has to be packed first.
inline const std::byte* address_of_tile(const Weight& weight, std::int64_t tile) {
  return weight.packing == Packing::tiles ? weight.data + tile * tile_bytes(weight) : nullptr;
}

inline int rows_in_tile(const Weight& weight, std::int64_t tile) {
  return static_cast<int>(std::min<std::int64_t>(tile_rows, weight.rows - tile * tile_rows));
}

// Elements from one row of a panel to the next, a multiple of 64 bytes. Rows that are a multiple of 2 KiB
// apart would share a few sets of the first-level cache.
constexpr std::int64_t panel_stride(std::int64_t columns, std::int64_t element_bytes) {
  const std::int64_t bytes = (columns * element_bytes + 63) / 64 * 64;
  return (bytes % 2048 == 0 ? bytes + 64 : bytes) / element_bytes;
}

// Activations [tokens, columns] in one form; `columns` of blocks is a multiple of 32.
inline std::int64_t panel_bytes(ActivationForm form, std::int64_t tokens, std::int64_t columns) {
  switch (form) {
    case ActivationForm::floats:
      return tokens * panel_stride(columns, 4) * 4;
    case ActivationForm::bfloat16:
      return tokens * panel_stride(columns, 2) * 2;
    case ActivationForm::blocks:
      return tokens * (columns / block_columns) * static_cast<std::int64_t>(sizeof(ActivationBlock));
  }
  return 0;
}

// The input of an operation in every form that one of its matrices reads. want() for each matrix, then
// lay_out(), then fill().
class Panel {
 public:
  Panel(const float* x, std::int64_t tokens, std::int64_t columns);

  void want(ActivationForm form);
  void lay_out(ScratchLayout& layout);
  Activations fill(std::byte* scratch, CpuStream& stream) const;

 private:
  static constexpr int forms = 3;

  const float* x_;
  std::int64_t tokens_;
  std::int64_t columns_;
  bool wanted_[forms] = {};
  std::int64_t place_[forms] = {};
};

}  // namespace fovea::kernels::cpu
