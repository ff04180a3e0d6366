// Hints that rows of weights will be read soon. A lane reads one unit of 32 weights after the other, as many
// registers as decoding takes forbid to have more under way: a matrix of some hundred bytes for each lane
// would wait for the device's memory at every one. So what a block will read is asked for at once when it
// begins, and waits for it in the second-level cache; of weights that never change even while the kernel
// before still runs.
#pragma once

#include <cstdint>

#include "kernels/cuda/fields.h"
#include "kernels/cuda/platform.h"

namespace fovea::kernels::cuda {

constexpr int max_planes = 4;

// What a block of a type consists of (fields.h).
struct BlockPlanes {
  int elements = 1;
  int bytes[max_planes] = {};  // of each plane; zeros behind the last
};
template <Type type, int i>
constexpr int find_plane_bytes() {
  constexpr int count = sizeof(Fields<type>::planes) / sizeof(Field);
  static_assert(count <= max_planes);
  if constexpr (i < count) return Fields<type>::planes[i].bytes;
  return 0;
}
template <Type type, int i>
constexpr int plane_bytes = find_plane_bytes<type, i>();

FOVEA_DEVICE BlockPlanes planes_of(Type type) {
  switch (type) {
#define FOVEA_CASE(name)                                                                         \
  case Type::name:                                                                               \
    return {elements_of<Type::name>,                                                             \
            {plane_bytes<Type::name, 0>, plane_bytes<Type::name, 1>, plane_bytes<Type::name, 2>, \
             plane_bytes<Type::name, 3>}};
    FOVEA_QUANTISED_TYPES(FOVEA_CASE)
#undef FOVEA_CASE
    case Type::f32:
      return {1, {4}};
    default:
      return {1, {2}};
  }
}

FOVEA_DEVICE void prefetch_bytes(const std::byte* from, int bytes, int lane, int lanes) {
  constexpr int line = 128;
  for (int at = lane * line; at < bytes; at += lanes * line) prefetch(from + at);
}

// Rows [first, first + count) of a matrix, as far as there are any, shared out to `lanes` lanes. One tile
// holds them.
FOVEA_DEVICE void prefetch_rows(const Weight& weight, std::int64_t first, int count, int lane, int lanes) {
  if (first >= weight.rows) return;
  const BlockPlanes planes = planes_of(weight.type);
  const int blocks = static_cast<int>(weight.columns) / planes.elements;
  const int there = weight.rows - first < count ? static_cast<int>(weight.rows - first) : count;
  int block_bytes = 0;
  FOVEA_UNROLL for (int i = 0; i < max_planes; ++i) block_bytes += planes.bytes[i];
  if (weight.packing == Packing::rows)
    return prefetch_bytes(weight.data + first * blocks * block_bytes, there * blocks * block_bytes, lane,
                          lanes);
  const std::int64_t tile = first / tile_rows * tile_rows;
  const int tile_height = weight.rows - tile < tile_rows ? static_cast<int>(weight.rows - tile) : tile_rows;
  const std::byte* plane = weight.data + tile * blocks * block_bytes;
  FOVEA_UNROLL for (int i = 0; i < max_planes; ++i) {
    const int row_bytes = blocks * planes.bytes[i];
    prefetch_bytes(plane + (first - tile) * row_bytes, there * row_bytes, lane, lanes);
    plane += std::int64_t{tile_height} * row_bytes;
  }
}

}  // namespace fovea::kernels::cuda
