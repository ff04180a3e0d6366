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
// the second.
constexpr std::int64_t most_tokens_at_once = 64;
inline std::int64_t tokens_at_once(std::int64_t columns) {
  constexpr std::int64_t panel_bytes = 384 << 10;
  constexpr std::int64_t bytes_per_column = sizeof(ActivationBlock) / block_columns;
  return std::clamp<std::int64_t>(panel_bytes / (columns * bytes_per_column), 16, most_tokens_at_once);
}

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

// Quantises x [tokens, columns] into blocks [columns / 32, tokens].
void quantize_panel(const float* x, std::int64_t tokens, std::int64_t columns, ActivationBlock* blocks,
                    CpuStream& stream);

inline std::int64_t panel_bytes(std::int64_t tokens, std::int64_t columns) {
  return tokens * (columns / block_columns) * static_cast<std::int64_t>(sizeof(ActivationBlock));
}

}  // namespace fovea::kernels::cpu
