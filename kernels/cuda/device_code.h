// What kernels use beside CUDA's own words: single instructions that CUDA has no name for, loads and stores
// of several words at once, words that the host reads and writes, and how kernels are launched.
//
// Kernels say __launch_bounds__(threads, 1) at least: without the 1 ptxas keeps registers for more blocks
// than may ever come, and spills.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
#include <string>
#include <type_traits>

#include "kernels/cuda/kernel_name.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/words.h"

namespace fovea::kernels::cuda {

constexpr unsigned whole_warp = 0xFFFFFFFFU;  // the mask of all its lanes

// The same value, of which the compiler does not know it: what follows from it is computed anew where it is
// needed again, and takes no registers meanwhile; where it came from, need not be kept.
__device__ __forceinline__ unsigned anew(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ int anew(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// --- shared memory ---

// That of the launch (LaunchShape::shared_bytes), from so many bytes on.
template <typename T>
__device__ __forceinline__ T* dynamic_shared(std::int64_t offset_bytes) {
  extern __shared__ uint4 fovea_dynamic_shared[];
  return reinterpret_cast<T*>(reinterpret_cast<char*>(fovea_dynamic_shared) + offset_bytes);
}

// What a function that stays a call is given in the place of a pointer, which could as well be one to device
// memory.
using SharedPlace = unsigned;
__device__ __forceinline__ SharedPlace place_of(const void* shared) {
  return static_cast<SharedPlace>(__cvta_generic_to_shared(shared));
}
template <typename T>
__device__ __forceinline__ T* at_place(SharedPlace place) {
  return static_cast<T*>(__cvta_shared_to_generic(place));
}

// Several words at once; the address must be aligned to their size.
template <typename Vector>
__device__ __forceinline__ Vector load(const void* shared) {
  return *static_cast<const Vector*>(shared);
}
template <typename Vector>
__device__ __forceinline__ void store(void* shared, Vector vector) {
  *static_cast<Vector*>(shared) = vector;
}

// 16 bytes, or 4, from device memory, which are there behind wait_for_copies and a barrier; with `wanted`
// false, zeros.
template <int bytes = 16>
__device__ __forceinline__ void copy_async(void* shared, const void* source, bool wanted = true) {
  static_assert(bytes == 16 || bytes == 4);
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place_of(shared)), "l"(source),
                 "r"(wanted ? 16 : 0)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place_of(shared)), "l"(source),
                 "r"(wanted ? 4 : 0)
                 : "memory");
  }
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int groups_left>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups_left) : "memory");
}

// --- numbers ---

// As __byte_perm, but a nibble of the selector from 8 on fills its byte with the highest bit of the byte that
// the nibble less 8 selects.
__device__ __forceinline__ unsigned permute_or_fill(unsigned low, unsigned high, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
  return result;
}
__device__ __forceinline__ float half_to_float(std::uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ __forceinline__ std::uint16_t float_to_half(float value) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// Rounds to nearest even.
__device__ __forceinline__ std::uint16_t float_to_bfloat16(float value) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// A warp together; mma.h says which lane holds what. volatile: not to be moved to where some lanes go alone.
// c += a · b
__device__ __forceinline__ void multiply_halves(float (&c)[4], const std::uint32_t (&a)[4],
                                                const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void multiply_bfloat16(float (&c)[4], const std::uint32_t (&a)[4],
                                                  const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// c = base + a · b
__device__ __forceinline__ void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[4],
                                               const std::uint32_t (&b)[2], const int (&base)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(base[0]), "r"(base[1]),
        "r"(base[2]), "r"(base[3]));
}
__device__ __forceinline__ void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[2],
                                               const std::uint32_t (&b)[1], const int (&base)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(base[0]), "r"(base[1]), "r"(base[2]), "r"(base[3]));
}
// Four matrices of 8 rows of 16 bytes. Each lane names a row by its first word, lane l row l % 8 of matrix
// l / 8, and gets word l % 4 of row l / 4 of each: what products take (mma.h).
__device__ __forceinline__ void load_matrices(const std::uint32_t* words, int row, std::uint32_t (&out)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(place_of(words + row))
               : "memory");
}
// --- kernels that come one after the other ---

// The first thing that a kernel does whose launch `overlaps`, but for hints (prefetch): earlier kernels have
// ended behind it and what they wrote is seen, and the next kernel's blocks may come to wait in turn where
// there is room for them.
//
// Each kernel waits for the whole of the one before, which has waited itself: so all earlier ones have ended.
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// --- the host ---

// Words of memory that the host reaches, too, around all caches.
__device__ __forceinline__ void tell_host(std::uint32_t* word, std::uint32_t value) {
  *static_cast<volatile std::uint32_t*>(word) = value;
}
__device__ __forceinline__ float load_from_host(const float* address) {
  return *static_cast<const volatile float*>(address);
}
// Whether the host has written the value in time; then all is seen that it wrote before. Where it has not,
// `late` is told the name, and it is not waited for again before somebody makes that zero.
__device__ __forceinline__ bool wait_for_host(const std::uint32_t* word, std::uint32_t value,
                                              std::uint32_t* late, std::uint32_t name) {
  const auto now = [] {
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
  };
  const std::uint64_t start = now();
  while (*static_cast<const volatile std::uint32_t*>(word) != value) {
    if (*static_cast<const volatile std::uint32_t*>(late) != 0) return false;
    if (now() - start > std::uint64_t{1000000000} * host_patience_s) {
      tell_host(late, name);
      return false;
    }
    asm volatile("nanosleep.u32 100;");
  }
  __threadfence_system();
  return true;
}

// --- device memory ---

// A hint that the 128 bytes around the address will be read soon: they come into the second-level cache.
__device__ __forceinline__ void prefetch(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
// A value that no kernel writes while this one runs or waits: weights. The compiler may load it at any time,
// and from a cache that is not told of writes. Its address must be aligned to its size.
template <typename T>
__device__ __forceinline__ T load_constant(const void* address) {
  if constexpr (sizeof(T) == 16) {
    const uint4 value = __ldg(static_cast<const uint4*>(address));
    return *reinterpret_cast<const T*>(&value);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 value = __ldg(static_cast<const uint2*>(address));
    return *reinterpret_cast<const T*>(&value);
  } else {
    return __ldg(static_cast<const T*>(address));
  }
}

// What earlier kernels have written, of any size that a register has. Its address must be aligned to its
// size.
template <typename T>
__device__ __forceinline__ T load_written(const void* address) {
  if constexpr (sizeof(T) == 16) {
    const uint4 value = *static_cast<const uint4*>(address);
    return *reinterpret_cast<const T*>(&value);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 value = *static_cast<const uint2*>(address);
    return *reinterpret_cast<const T*>(&value);
  } else {
    return *static_cast<const T*>(address);
  }
}
// A value that another block of the same launch has written, behind a fence of both.
template <typename T>
__device__ __forceinline__ T load_fresh(const T* address) {
  if constexpr (sizeof(T) == 16) {
    const uint4 value = __ldcg(reinterpret_cast<const uint4*>(address));
    return *reinterpret_cast<const T*>(&value);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 value = __ldcg(reinterpret_cast<const uint2*>(address));
    return *reinterpret_cast<const T*>(&value);
  } else {
    return __ldcg(address);
  }
}

struct LaunchShape {
  unsigned grid_x = 1;
  unsigned grid_y = 1;
  unsigned grid_z = 1;
  unsigned threads = 1;  // of a block
  unsigned shared_bytes = 0;
  bool overlaps = false;  // the kernel begins with wait_for_earlier_kernels()
};

// Starts a kernel in the stream's order: launch<add_kernel>({.grid_x = …, .threads = …}, stream, arguments…).
template <auto kernel, typename... Arguments>
void launch(const LaunchShape& shape, CudaStream& stream, Arguments... arguments) {
  static const std::string name = kernel_name(__PRETTY_FUNCTION__);
  stream.note_kernel(name.c_str());
  if (shape.shared_bytes > 48 << 10) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(shape.shared_bytes));
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(shape.grid_x, shape.grid_y, shape.grid_z);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream.handle());
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &overlap;
  config.numAttrs = shape.overlaps && stream.overlaps() ? 1 : 0;
  // What a launch reports is the stream's failure: its owner asks the driver.
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace fovea::kernels::cuda
