// The KV cache's entries as kernels find them.
#pragma once

#include <cstdint>

#include "kernels/cuda/device_code.h"
#include "kernels/formats/blocks.h"

namespace fovea::kernels::cuda {

// Bytes of one head's key or value at one position.
template <Type type>
__device__ __forceinline__ std::int64_t entry_bytes(std::int64_t head_dim) {
  if constexpr (type == Type::f32) {
    return 4 * head_dim;
  } else if constexpr (type == Type::f16) {
    return 2 * head_dim;
  } else {
    static_assert(type == Type::q8_0);
    return head_dim / 32 * static_cast<std::int64_t>(sizeof(formats::BlockQ8_0));
  }
}

template <Type type>
__device__ __forceinline__ std::byte* entry(const KvPages& pages, std::byte* const* list,
                                            std::int64_t position, std::int64_t head) {
  // In 32 bits: dividing 64 takes a hundred instructions.
  const auto in_page = static_cast<unsigned>(pages.page_tokens);
  const auto at = static_cast<unsigned>(position);
  return list[at / in_page] + (head * in_page + at % in_page) * entry_bytes<type>(pages.head_dim);
}

template <Type type>
__device__ __forceinline__ float entry_element(const std::byte* entry, int i) {
  if constexpr (type == Type::f32) {
    return load_written<float>(entry + 4 * i);
  } else if constexpr (type == Type::f16) {
    return half_to_float(load_written<std::uint16_t>(entry + 2 * i));
  } else {
    const std::byte* const block = entry + i / 32 * static_cast<int>(sizeof(formats::BlockQ8_0));
    return half_to_float(load_written<std::uint16_t>(block)) *
           static_cast<float>(static_cast<std::int8_t>(load_written<std::uint8_t>(block + 2 + i % 32)));
  }
}

}  // namespace fovea::kernels::cuda
