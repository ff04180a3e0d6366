// The emulation's half of platform.h.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cuda/kernel_name.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/words.h"
#include "kernels/formats/half.h"
#include "tests/kernels/cuda/emulation/block.h"
#include "tests/kernels/cuda/emulation/matrices.h"
#include "tests/kernels/cuda/emulation/queue.h"

#define FOVEA_KERNEL(max_threads) void
#define FOVEA_KERNEL_RESIDENT(max_threads, blocks) void
#define FOVEA_DEVICE inline
#define FOVEA_ANYWHERE inline
#define FOVEA_DEVICE_CALL inline
#define FOVEA_UNROLL
#define FOVEA_LOOP

#define FOVEA_SHARED(T, name, count)                                                                    \
  static const char name##_key = 0;                                                                     \
  const ::fovea::kernels::cuda::Shared<T> name {                                                        \
    ::fovea::kernels::cuda::emulation::Block::current()->shared_array(&name##_key, #name, sizeof(T),    \
                                                                      static_cast<std::int64_t>(count)) \
  }
#define FOVEA_DYNAMIC_SHARED(T, name, offset_bytes, count)                      \
  static const char name##_key = 0;                                             \
  const ::fovea::kernels::cuda::Shared<T> name {                                \
    ::fovea::kernels::cuda::emulation::Block::current()->dynamic_array(         \
        &name##_key, #name, static_cast<std::int64_t>(offset_bytes), sizeof(T), \
        static_cast<std::int64_t>(count))                                       \
  }

namespace fovea::kernels::cuda {

using Location = std::source_location;

inline unsigned thread_index() {
  return emulation::here.thread;
}
inline unsigned block_threads() {
  return emulation::here.threads;
}
inline unsigned block_x() {
  return emulation::here.block.x;
}
inline unsigned block_y() {
  return emulation::here.block.y;
}
inline unsigned block_z() {
  return emulation::here.block.z;
}
inline unsigned grid_x() {
  return emulation::here.grid.x;
}
inline unsigned grid_z() {
  return emulation::here.grid.z;
}

inline unsigned anew(unsigned value) {
  return value;
}
inline int anew(int value) {
  return value;
}

template <typename T>
class Shared {
 public:
  using Place = Shared;

  explicit Shared(emulation::SharedArray& array, std::int64_t first = 0) : array_(&array), first_(first) {}
  Place place() const { return *this; }
  emulation::SharedElement<T> operator[](std::int64_t i) const { return {*array_, first_ + i}; }
  Shared operator+(std::int64_t elements) const { return Shared(*array_, first_ + elements); }

  template <typename Vector>
  Vector load(std::int64_t i) const {
    alignas(Vector) T values[sizeof(Vector) / sizeof(T)];
    check_alignment(i, sizeof(Vector));
    for (std::size_t k = 0; k < sizeof(Vector) / sizeof(T); ++k)
      values[k] = (*this)[i + static_cast<std::int64_t>(k)];
    Vector vector;
    std::memcpy(&vector, values, sizeof vector);
    return vector;
  }
  template <typename Vector>
  void store(std::int64_t i, Vector vector) const {
    T values[sizeof(Vector) / sizeof(T)];
    check_alignment(i, sizeof(Vector));
    std::memcpy(values, &vector, sizeof vector);
    for (std::size_t k = 0; k < sizeof(Vector) / sizeof(T); ++k)
      (*this)[i + static_cast<std::int64_t>(k)] = values[k];
  }
  // 16 bytes, or 4, from device memory; with `wanted` false, zeros.
  template <int bytes = 16>
  void copy_async(std::int64_t i, const void* source, bool wanted = true) const {
    static_assert(bytes == 16 || bytes == 4);
    check_alignment(i, bytes);
    if (reinterpret_cast<std::uintptr_t>(source) % bytes != 0)
      emulation::Block::current()->fail("copies asynchronously to " + array_->name() +
                                        " from an odd address");
    emulation::Block::current()->begin_copy(*array_, first_ + i, bytes / sizeof(T), wanted ? source : nullptr,
                                            bytes);
  }

 private:
  void check_alignment(std::int64_t i, std::size_t bytes) const {
    if (static_cast<std::size_t>(first_ + i) * sizeof(T) % bytes == 0) return;
    emulation::Block::current()->fail("reaches " + std::to_string(bytes) + " bytes at " + array_->name() +
                                      "[" + std::to_string(first_ + i) + "], which are not aligned");
  }

  emulation::SharedArray* array_;
  std::int64_t first_;
};

inline void sync_block(Location location = Location::current()) {
  emulation::Block::current()->wait_for_block(location);
}
inline void sync_warp(unsigned mask = 0xFFFFFFFFU, Location location = Location::current()) {
  emulation::Block::current()->wait_for_warp(mask, location);
}
inline void commit_copies() {
  emulation::Block::current()->commit_copies();
}
template <int groups_left>
void wait_for_copies() {
  emulation::Block::current()->wait_for_copies(groups_left);
}

namespace emulation {

template <typename T>
struct Exchange {
  T value;
  unsigned lane;
  T result;
};

// value and result of each lane; a lane that takes no part gives what it had.
template <typename T>
void exchange(void* const* lanes) {
  for (int i = 0; i < 32; ++i) {
    auto* const mine = static_cast<Exchange<T>*>(lanes[i]);
    if (!mine) continue;
    const auto* const other = static_cast<const Exchange<T>*>(lanes[mine->lane % 32]);
    if (!other) {
      Block::current()->fail("shuffles: lane " + std::to_string(i) + " wants the value of lane " +
                             std::to_string(mine->lane % 32) + ", which takes no part");
    }
    mine->result = other->value;
  }
}

struct Vote {
  bool value;
  unsigned result;
};
inline void count_votes(void* const* lanes) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) {
    if (lanes[i] && static_cast<const Vote*>(lanes[i])->value) result |= 1U << i;
  }
  for (int i = 0; i < 32; ++i) {
    if (lanes[i]) static_cast<Vote*>(lanes[i])->result = result;
  }
}

// A lane's row of a matrix, and its words of all four.
struct MatrixRow {
  Words4 words;
  std::uint32_t (&result)[4];
};
inline void load_together(void* const* lanes) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int m = 0; m < 4; ++m)
      static_cast<MatrixRow*>(lanes[lane])->result[m] =
          static_cast<const MatrixRow*>(lanes[8 * m + lane / 4])->words.v[lane % 4];
  }
}

}  // namespace emulation

inline void load_matrices(const Shared<std::uint32_t>& words, int row, std::uint32_t (&out)[4],
                          Location location = Location::current()) {
  emulation::MatrixRow mine{words.load<Words4>(row), out};
  emulation::Block::current()->act_together(0xFFFFFFFFU, &mine, emulation::load_together, "load_matrices",
                                            location);
}
inline void multiply_halves(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                            Location location = Location::current()) {
  emulation::multiply_together(emulation::Product::halves, c, a, b, "multiply_halves", location);
}
inline void multiply_bfloat16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                              Location location = Location::current()) {
  emulation::multiply_together(emulation::Product::bfloat16, c, a, b, "multiply_bfloat16", location);
}
inline void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                           const int (&base)[4], Location location = Location::current()) {
  for (int k = 0; k < 4; ++k) c[k] = base[k];
  emulation::multiply_together(emulation::Product::bytes, c, a, b, "multiply_bytes", location);
}
inline void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1],
                           const int (&base)[4], Location location = Location::current()) {
  for (int k = 0; k < 4; ++k) c[k] = base[k];
  emulation::multiply_together(emulation::Product::short_bytes, c, a, b, "multiply_bytes", location);
}

template <typename T>
T shuffle(T value, unsigned lane, unsigned mask = 0xFFFFFFFFU, Location location = Location::current()) {
  emulation::Exchange<T> mine{value, lane, value};
  emulation::Block::current()->act_together(mask, &mine, emulation::exchange<T>, "shuffle", location);
  return mine.result;
}
template <typename T>
T shuffle_xor(T value, unsigned lanes, unsigned mask = 0xFFFFFFFFU, Location location = Location::current()) {
  emulation::Exchange<T> mine{value, (emulation::here.thread % 32) ^ lanes, value};
  emulation::Block::current()->act_together(mask, &mine, emulation::exchange<T>, "shuffle_xor", location);
  return mine.result;
}
inline unsigned ballot(bool value, unsigned mask = 0xFFFFFFFFU, Location location = Location::current()) {
  emulation::Vote mine{value, 0};
  emulation::Block::current()->act_together(mask, &mine, emulation::count_votes, "ballot", location);
  return mine.result;
}

inline std::uint32_t largest_of_warp(std::uint32_t value, Location location = Location::current()) {
  for (unsigned apart = 16; apart > 0; apart /= 2)
    value = std::max(value, shuffle_xor(value, apart, 0xFFFFFFFFU, location));
  return value;
}

// Threads take turns only where they wait: these need no more.
inline int atomic_add(int* at, int value) {
  return emulation::add_atomically(at, value);
}
inline int atomic_add(emulation::SharedElement<int> at, int value) {
  return at.fetch_add(value);
}
inline void fence_device() {
  emulation::trace_fence();
}

inline int dot4(int a, int b, int sum) {
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::int8_t>(static_cast<unsigned>(a) >> 8 * i) *
           static_cast<std::int8_t>(static_cast<unsigned>(b) >> 8 * i);
  }
  return sum;
}
// Four bytes of the eight of high:low, chosen by the nibbles of `selector` (0 … 7).
inline unsigned permute_bytes(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= (static_cast<unsigned>(both >> 8 * (selector >> 4 * i & 7U)) & 255U) << 8 * i;
  }
  return result;
}
inline unsigned permute_or_fill(unsigned low, unsigned high, unsigned selector) {
  const unsigned bytes = permute_bytes(low, high, selector);
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned byte = bytes >> 8 * i & 255U;
    const unsigned filled = byte >= 128 ? 255U : 0U;
    result |= ((selector >> 4 * i & 8U) != 0 ? filled : byte) << 8 * i;
  }
  return result;
}
inline int float_to_int_nearest(float value) {
  return static_cast<int>(std::nearbyint(value));
}
inline float inverse_root(float value) {
  return 1.0F / std::sqrt(value);
}
inline float half_to_float(std::uint16_t bits) {
  return formats::half_to_float(bits);
}
inline std::uint16_t float_to_half(float value) {
  return formats::float_to_half(value);
}
inline std::uint16_t float_to_bfloat16(float value) {
  return formats::float_to_bfloat16(value);
}
inline float float_of_bits(std::uint32_t bits) {
  return formats::float_from_bits(bits);
}
inline std::uint32_t bits_of(float value) {
  return formats::bits_of_float(value);
}
inline void wait_for_earlier() {
  emulation::Block::current()->wait_for_earlier();
}
inline void fence_system() {
  emulation::trace_fence();
}
// Words of memory that the host reaches, too.
inline void tell_host(std::uint32_t* word, std::uint32_t value) {
  std::atomic_ref(*word).store(value, std::memory_order_release);
}
inline float load_from_host(const float* address) {
  return *address;
}
inline bool wait_for_host(const std::uint32_t* word, std::uint32_t value, std::uint32_t* late,
                          std::uint32_t name) {
  auto& shared = const_cast<std::uint32_t&>(*word);
  if (std::atomic_ref(shared).load(std::memory_order_acquire) == value) return true;
  if (*late == 0) {
    emulation::Block::current()->wait_for_host();
    tell_host(late, name);
  }
  return false;
}
// A hint reads nothing, but what it names must be there.
inline void prefetch(const void* address) {
  emulation::trace_read(address, 1);
}
// A value that no kernel writes while this one runs or waits. Its address must be aligned to its size.
template <typename T>
T load_constant(const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(T) != 0)
    emulation::Block::current()->fail("reads " + std::to_string(sizeof(T)) + " bytes at an odd address");
  emulation::trace_read(address, sizeof(T));
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

// What earlier kernels have written. Its address must be aligned to its size.
template <typename T>
T load_written(const void* address) {
  return load_constant<T>(address);
}
// A value that another block of the same launch has written, behind a fence of both.
template <typename T>
T load_fresh(const T* address) {
  return *address;
}

struct LaunchShape {
  unsigned grid_x = 1;
  unsigned grid_y = 1;
  unsigned grid_z = 1;
  unsigned threads = 1;  // of a block
  unsigned shared_bytes = 0;
  bool overlaps = false;  // the kernel begins with wait_for_earlier()
};

namespace emulation {

template <typename T>
void add_words(const T& argument, std::vector<const void*>& words) {
  static_assert(std::is_trivially_copyable_v<T>);
  for (std::size_t at = 0; at + sizeof(void*) <= sizeof(T); at += sizeof(void*)) {
    const void* word;
    std::memcpy(&word, reinterpret_cast<const char*>(&argument) + at, sizeof word);
    words.push_back(word);
  }
}

template <auto kernel, typename... Parameters>
void launch(void (*)(Parameters...), const LaunchShape& shape, CudaStream& stream,
            std::type_identity_t<Parameters>... arguments) {
  static const std::string name = kernel_name(__PRETTY_FUNCTION__);
  stream.note_kernel(name.c_str());
  auto* const queue = static_cast<Queue*>(stream.handle());
  Launch launch{name,           {shape.grid_x, shape.grid_y, shape.grid_z},
                shape.threads,  static_cast<std::int64_t>(shape.shared_bytes),
                shape.overlaps, [=] { kernel(arguments...); }};
  if (queue->captures()) (add_words(arguments, launch.words), ...);
  queue->push(std::move(launch));
}

}  // namespace emulation

// Starts a kernel in the stream's order: launch<add_kernel>({.grid_x = …, .threads = …}, stream, arguments…).
template <auto kernel, typename... Arguments>
void launch(const LaunchShape& shape, CudaStream& stream, Arguments... arguments) {
  emulation::launch<kernel>(kernel, shape, stream, arguments...);
}

}  // namespace fovea::kernels::cuda
