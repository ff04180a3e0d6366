// From the file's rows to Packing::tiles (tiles.h says what a tile is).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/types.h"

namespace fovea::kernels::cpu {

// `count` (1 … 16) rows, `row_stride` bytes apart, into one tile; the tile's other rows become zero.
void pack_tile(Type type, std::int64_t columns, const std::byte* rows, std::int64_t row_stride, int count,
               std::byte* tile);

}  // namespace fovea::kernels::cpu
