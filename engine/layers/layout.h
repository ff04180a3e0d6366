// Arrays in one piece of memory, each aligned to a cache line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::layers {

// Adds up what arrays take, or gives them their addresses behind `memory`.
struct Layout {
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;
  template <class T>
  void operator()(T*& array, std::int64_t elements) {
    constexpr std::int64_t alignment = 64;
    if (memory != nullptr) array = reinterpret_cast<T*>(memory + bytes);
    bytes += (elements * static_cast<std::int64_t>(sizeof(T)) + alignment - 1) / alignment * alignment;
  }
};

}  // namespace fovea::layers
