// How the kernels of attention read the rows of a KV cache's pages.
#pragma once

#include "kernels/api/operations.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

// One vector of a row of the cache, from element `i`, `count` ≤ lanes of them (the others become 0).
template <Type type>
[[gnu::always_inline]] static inline Floats load_entry(const std::byte* row, std::int64_t i,
                                                       std::int64_t count = lanes) {
  if constexpr (type == Type::f32) {
    const auto* const values = reinterpret_cast<const float*>(row) + i;
    return count == lanes ? load_floats(values) : load_first(values, count);
  } else if constexpr (type == Type::f16) {
    if (count == lanes) return load_f16(row + 2 * i);
    std::uint16_t halves[lanes] = {};
    memcpy(halves, row + 2 * i, static_cast<std::size_t>(2 * count));
    return load_f16(halves);
  } else {
    // head_dim is a multiple of the block's 32 elements, those are a multiple of lanes.
    const std::byte* const block = row + i / 32 * 34;
    return multiply(to_floats(load_s8(block + 2 + i % 32)), set_floats(half_at(block)));
  }
}

// Where one head's entries lie.
struct Entries {
  const KvPages& pages;
  std::byte* const* list;
  std::int64_t head_offset;
  std::int64_t row_bytes;

  static Entries keys_of(const KvPages& pages, std::int64_t kv_head) {
    const std::int64_t bytes = bytes_of_row(pages);
    return {pages, pages.keys, kv_head * pages.page_tokens * bytes, bytes};
  }
  static Entries values_of(const KvPages& pages, std::int64_t kv_head) {
    const std::int64_t bytes = bytes_of_row(pages);
    return {pages, pages.values, kv_head * pages.page_tokens * bytes, bytes};
  }

  const std::byte* at(std::int64_t position) const {
    return list[position / pages.page_tokens] + head_offset + position % pages.page_tokens * row_bytes;
  }

 private:
  static std::int64_t bytes_of_row(const KvPages& pages) {
    const BlockShape shape = block_shape(pages.type);
    return pages.head_dim / shape.elements * shape.bytes;
  }
};

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
