#include <cstring>
#include <span>

#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/fields.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/pack.h"

namespace fovea::kernels::cuda {
namespace {

void part_nibbles(std::span<std::byte> words) {
  for (std::size_t i = 0; i < words.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, words.data() + i, 4);
    word = parted_nibbles(word);
    std::memcpy(words.data() + i, &word, 4);
  }
}

// One tile of `rows` rows.
template <Type type>
void pack_tile(std::int64_t rows, std::int64_t columns, const std::byte* source, std::byte* packed) {
  static_assert(planes_are_whole<type>());
  const std::int64_t blocks = rows * (columns / elements_of<type>);
  for (const Field& field : Fields<type>::planes) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::memcpy(packed, source + block * bytes_of<type> + field.offset,
                  static_cast<std::size_t>(field.bytes));
      if (has_parted_nibbles<type>(field)) part_nibbles({packed, static_cast<std::size_t>(field.bytes)});
      packed += field.bytes;
    }
  }
}

void pack_tile(Type type, std::int64_t rows, std::int64_t columns, const std::byte* source,
               std::byte* packed) {
  assert(is_quantised(type));
  dispatch(type, [&]<Type known>() {
    if constexpr (is_quantised(known)) pack_tile<known>(rows, columns, source, packed);
  });
}

}  // namespace

Packing preferred_packing(Type type) {
  return is_quantised(type) ? Packing::tiles : Packing::rows;
}

std::int64_t pack_granularity(Packing packing) {
  return packing == Packing::tiles ? tile_rows : 1;
}

void pack(Packing packing, Type type, [[maybe_unused]] std::int64_t rows, std::int64_t columns,
          const std::byte* source, std::int64_t first, std::int64_t count, std::byte* packed) {
  const std::int64_t bytes = row_bytes(type, columns);
  if (packing == Packing::rows) {
    std::memcpy(packed + first * bytes, source, static_cast<std::size_t>(count * bytes));
    return;
  }
  assert(first % tile_rows == 0 && first + count <= rows &&
         (count % tile_rows == 0 || first + count == rows));
  for (std::int64_t row = 0; row < count; row += tile_rows) {
    pack_tile(type, count - row < tile_rows ? count - row : tile_rows, columns, source + row * bytes,
              packed + (first + row) * bytes);
  }
}

}  // namespace fovea::kernels::cuda
