// What the emulation tells the address and thread sanitizers, and nothing where there is none.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FOVEA_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FOVEA_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define FOVEA_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FOVEA_THREAD_SANITIZER 1
#endif
#endif

#if defined(FOVEA_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FOVEA_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace fovea::kernels::cuda::emulation {

#if defined(FOVEA_ADDRESS_SANITIZER)
constexpr bool address_sanitizer = true;
inline void forbid(const void* memory, std::size_t bytes) {
  __asan_poison_memory_region(memory, bytes);
}
inline void permit(const void* memory, std::size_t bytes) {
  __asan_unpoison_memory_region(memory, bytes);
}
#else
constexpr bool address_sanitizer = false;
inline void forbid(const void*, std::size_t) {}
inline void permit(const void*, std::size_t) {}
#endif

}  // namespace fovea::kernels::cuda::emulation
