// What kernels use of CUDA, and nothing else of it: the same sources are compiled by nvcc for the device and
// by the host's compiler for the emulation, which checks what they do (tests/kernels/cuda/emulation). Host
// code of kernel sources (what starts them) is compiled by both.
//
//   FOVEA_KERNEL(256) name(…)        a kernel for blocks of at most 256 threads; parameters are plain values
//   FOVEA_KERNEL_RESIDENT(256, 2) …  likewise, with registers for two such blocks on a multiprocessor
//   FOVEA_DEVICE                     before a function that kernels call
//   FOVEA_DEVICE_CALL                likewise, where it stays a call, which keeps its registers apart
//   FOVEA_ANYWHERE                   before one that the host calls, too
//   FOVEA_UNROLL, FOVEA_LOOP         before a for: unrolled; not unrolled, where that would only be more code
//   FOVEA_SHARED(float, sums, 32)    an array in shared memory, in a kernel's or device function's body
//   FOVEA_DYNAMIC_SHARED(…)          likewise, in the launch's shared_bytes, at an offset that 16 divides
#pragma once

#if defined(__CUDACC__)

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
#include <type_traits>

#include "kernels/cuda/kernel_name.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/words.h"

// The 1: without it ptxas keeps registers for more blocks than may ever come, and spills.
#define FOVEA_KERNEL(max_threads) __global__ void __launch_bounds__(max_threads, 1)
#define FOVEA_KERNEL_RESIDENT(max_threads, blocks) __global__ void __launch_bounds__(max_threads, blocks)
#define FOVEA_DEVICE __device__ __forceinline__
#define FOVEA_ANYWHERE __host__ __device__ __forceinline__
#define FOVEA_DEVICE_CALL static __device__ __noinline__
#define FOVEA_UNROLL _Pragma("unroll")
#define FOVEA_LOOP _Pragma("unroll 1")

#define FOVEA_SHARED(T, name, count)             \
  __shared__ alignas(16) T name##_memory[count]; \
  const ::fovea::kernels::cuda::Shared<T> name { \
    name##_memory                                \
  }
#define FOVEA_DYNAMIC_SHARED(T, name, offset_bytes, count)                                 \
  const ::fovea::kernels::cuda::Shared<T> name {                                           \
    reinterpret_cast<T*>(::fovea::kernels::cuda::dynamic_shared_memory() + (offset_bytes)) \
  }

namespace fovea::kernels::cuda {

FOVEA_DEVICE unsigned thread_index() {
  return threadIdx.x;
}
FOVEA_DEVICE unsigned block_threads() {
  return blockDim.x;
}
FOVEA_DEVICE unsigned block_x() {
  return blockIdx.x;
}
FOVEA_DEVICE unsigned block_y() {
  return blockIdx.y;
}
FOVEA_DEVICE unsigned block_z() {
  return blockIdx.z;
}
FOVEA_DEVICE unsigned grid_x() {
  return gridDim.x;
}
FOVEA_DEVICE unsigned grid_z() {
  return gridDim.z;
}

// The same value, of which the compiler does not know it: what follows from it is computed anew where it is
// needed again, and takes no registers meanwhile; where it came from, need not be kept.
FOVEA_DEVICE unsigned anew(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}
FOVEA_DEVICE int anew(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

FOVEA_DEVICE char* dynamic_shared_memory() {
  extern __shared__ uint4 fovea_dynamic_shared[];
  return reinterpret_cast<char*>(fovea_dynamic_shared);
}

template <typename T>
class Shared {
 public:
  // What a function that stays a call is given in its place: a pointer could as well be one to device memory.
  using Place = unsigned;

  FOVEA_DEVICE explicit Shared(T* memory) : memory_(memory) {}
  FOVEA_DEVICE explicit Shared(Place place) : memory_(static_cast<T*>(__cvta_shared_to_generic(place))) {}
  FOVEA_DEVICE Place place() const { return static_cast<Place>(__cvta_generic_to_shared(memory_)); }
  FOVEA_DEVICE T& operator[](std::int64_t i) const { return memory_[i]; }
  FOVEA_DEVICE Shared operator+(std::int64_t elements) const { return Shared(memory_ + elements); }

  template <typename Vector>
  FOVEA_DEVICE Vector load(std::int64_t i) const {
    return *reinterpret_cast<const Vector*>(memory_ + i);
  }
  template <typename Vector>
  FOVEA_DEVICE void store(std::int64_t i, Vector vector) const {
    *reinterpret_cast<Vector*>(memory_ + i) = vector;
  }
  // 16 bytes, or 4, from device memory; with `wanted` false, zeros.
  template <int bytes = 16>
  FOVEA_DEVICE void copy_async(std::int64_t i, const void* source, bool wanted = true) const {
    static_assert(bytes == 16 || bytes == 4);
    const auto target = static_cast<unsigned>(__cvta_generic_to_shared(memory_ + i));
    if constexpr (bytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
                   "r"(wanted ? 16 : 0)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(source),
                   "r"(wanted ? 4 : 0)
                   : "memory");
    }
  }

 private:
  T* memory_;
};

FOVEA_DEVICE void sync_block() {
  __syncthreads();
}
FOVEA_DEVICE void sync_warp(unsigned mask = 0xFFFFFFFFU) {
  __syncwarp(mask);
}
FOVEA_DEVICE void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int groups_left>
FOVEA_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups_left) : "memory");
}

template <typename T>
FOVEA_DEVICE T shuffle(T value, unsigned lane, unsigned mask = 0xFFFFFFFFU) {
  return __shfl_sync(mask, value, static_cast<int>(lane));
}
template <typename T>
FOVEA_DEVICE T shuffle_xor(T value, unsigned lanes, unsigned mask = 0xFFFFFFFFU) {
  return __shfl_xor_sync(mask, value, static_cast<int>(lanes));
}
FOVEA_DEVICE unsigned ballot(bool value, unsigned mask = 0xFFFFFFFFU) {
  return __ballot_sync(mask, value);
}

// Of all lanes of the warp.
FOVEA_DEVICE std::uint32_t largest_of_warp(std::uint32_t value) {
  return __reduce_max_sync(0xFFFFFFFFU, value);
}

FOVEA_DEVICE int atomic_add(int* at, int value) {
  return atomicAdd(at, value);
}
FOVEA_DEVICE int atomic_add(int& at, int value) {
  return atomicAdd(&at, value);
}
FOVEA_DEVICE void fence_device() {
  __threadfence();
}

FOVEA_DEVICE int dot4(int a, int b, int sum) {
  return __dp4a(a, b, sum);
}
// Four bytes of the eight of high:low, chosen by the nibbles of `selector` (0 … 7).
FOVEA_DEVICE unsigned permute_bytes(unsigned low, unsigned high, unsigned selector) {
  return __byte_perm(low, high, selector);
}
// Likewise, but a nibble of the selector from 8 on fills its byte with the highest bit of the byte that the
// nibble less 8 selects.
FOVEA_DEVICE unsigned permute_or_fill(unsigned low, unsigned high, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
  return result;
}
FOVEA_DEVICE int float_to_int_nearest(float value) {
  return __float2int_rn(value);
}
FOVEA_DEVICE float inverse_root(float value) {
  return rsqrtf(value);
}
FOVEA_DEVICE float half_to_float(std::uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
FOVEA_DEVICE std::uint16_t float_to_half(float value) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// Rounds to nearest even.
FOVEA_DEVICE std::uint16_t float_to_bfloat16(float value) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// A warp together; mma.h says which lane holds what. volatile: not to be moved to where some lanes go alone.
// c += a · b
FOVEA_DEVICE void multiply_halves(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
FOVEA_DEVICE void multiply_bfloat16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// c = base + a · b
FOVEA_DEVICE void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                                 const int (&base)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(base[0]), "r"(base[1]),
        "r"(base[2]), "r"(base[3]));
}
FOVEA_DEVICE void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1],
                                 const int (&base)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(base[0]), "r"(base[1]), "r"(base[2]), "r"(base[3]));
}
// Four matrices of 8 rows of 16 bytes. Each lane names a row by its first word, lane l row l % 8 of matrix
// l / 8, and gets word l % 4 of row l / 4 of each: what products take (mma.h).
FOVEA_DEVICE void load_matrices(const Shared<std::uint32_t>& words, int row, std::uint32_t (&out)[4]) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&words[row]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}
FOVEA_DEVICE float float_of_bits(std::uint32_t bits) {
  return __uint_as_float(bits);
}
FOVEA_DEVICE std::uint32_t bits_of(float value) {
  return __float_as_uint(value);
}
// The first thing that a kernel does whose launch `overlaps`, but for hints (prefetch): earlier kernels have
// ended behind it and what they wrote is seen, and the next kernel's blocks may come to wait in turn where
// there is room for them.
//
// Each kernel waits for the whole of the one before, which has waited itself: so all earlier ones have ended.
FOVEA_DEVICE void wait_for_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// What was written before is seen by the host before what is written behind it.
FOVEA_DEVICE void fence_system() {
  __threadfence_system();
}
// Words of memory that the host reaches, too, around all caches.
FOVEA_DEVICE void tell_host(std::uint32_t* word, std::uint32_t value) {
  *static_cast<volatile std::uint32_t*>(word) = value;
}
FOVEA_DEVICE float load_from_host(const float* address) {
  return *static_cast<const volatile float*>(address);
}
// Whether the host has written the value in time; then all is seen that it wrote before. Where it has not,
// `late` is told the name, and it is not waited for again before somebody makes that zero.
FOVEA_DEVICE bool wait_for_host(const std::uint32_t* word, std::uint32_t value, std::uint32_t* late,
                                std::uint32_t name) {
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

// A hint that the 128 bytes around the address will be read soon: they come into the second-level cache.
FOVEA_DEVICE void prefetch(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
// A value that no kernel writes while this one runs or waits: weights. The compiler may load it at any time,
// and from a cache that is not told of writes. Its address must be aligned to its size.
template <typename T>
FOVEA_DEVICE T load_constant(const void* address) {
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
FOVEA_DEVICE T load_written(const void* address) {
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
FOVEA_DEVICE T load_fresh(const T* address) {
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
  bool overlaps = false;  // the kernel begins with wait_for_earlier()
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

#else

#include "tests/kernels/cuda/emulation/platform.h"

#endif
