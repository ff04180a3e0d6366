// The emulated device's memory. Outside kernels and copies nobody can read or write it: the host that tries
// is stopped. Each allocation stands between pages that nobody may touch, and is filled with ones (NaN), as
// is the host's pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace fovea::kernels::cuda::emulation {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* allocate(std::int64_t bytes);  // aligned to 4096; null when there is not enough
  void release(std::byte* memory);          // what allocate gave, or null
  void poison(std::byte* memory);           // makes an allocation as if it were new
  std::int64_t bytes() const;               // allocated now

  // Kernels and copies run between these, one host thread at a time. A copy opens only what it touches.
  void open(const void* only = nullptr);
  void close();
  // Instead of open(): whoever works is not to touch it before go_on().
  void open_later();
  void go_on();
  bool is_open() const { return open_; }
  // What was written after an allocation's end; empty: nothing. Only while open. The address sanitizer stops
  // such a write itself, and this finds nothing.
  std::string damage() const;

  // Whether all of [memory, memory + bytes) belongs to one allocation.
  bool holds(const std::byte* memory, std::int64_t bytes) const;
  int number(const void* address) const;  // of the allocation that it lies in; 0: in none
  // "byte 404 of an allocation of 400 bytes (the 3rd that was made)"; empty for an address that is near none.
  std::string describe(const void* address) const;

 private:
  struct Allocation {
    std::int64_t bytes = 0;
    std::size_t whole_pages = 0;  // bytes of the pages that hold it
    int number = 0;
  };
  using Allocations = std::map<std::byte*, Allocation>;

  static void protect(const Allocations::value_type&, bool readable);
  void protect_opened(bool readable);
  Allocations::const_iterator owner(const void* address, std::size_t margin) const;

  mutable std::recursive_mutex mutex_;
  Allocations allocations_;
  std::int64_t bytes_ = 0;
  int made_ = 0;
  bool open_ = false;
  const void* only_ = nullptr;
};

// Host memory that copies reach without a detour.
class PinnedMemory {
 public:
  std::byte* allocate(std::int64_t bytes);  // aligned to 4096; null when there is not enough
  void release(std::byte* memory);          // what allocate gave, or null
  void add(const std::byte* memory, std::int64_t bytes);  // of others
  void remove(const std::byte* memory);
  // Of the allocation that all of [memory, memory + bytes) lies in; 0: in none.
  int number(const std::byte* memory, std::int64_t bytes) const;

 private:
  struct Allocation {
    std::int64_t bytes = 0;
    int number = 0;
  };

  mutable std::mutex mutex_;
  std::map<const std::byte*, Allocation> allocations_;  // mutex_
  int made_ = 0;                                        // mutex_
};

}  // namespace fovea::kernels::cuda::emulation
