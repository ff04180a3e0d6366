#include "tests/kernels/cuda/emulation/memory.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include "tests/kernels/cuda/emulation/sanitizer.h"

namespace fovea::kernels::cuda::emulation {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t guard_bytes = 16 * page_bytes;  // on both sides
constexpr int fresh_byte = 0xFF;
constexpr std::byte tail_byte{0xA5};  // between an allocation's end and the end of its last page

}  // namespace

DeviceMemory::~DeviceMemory() {
  while (!allocations_.empty()) release(allocations_.begin()->first);
}

void DeviceMemory::protect(const Allocations::value_type& entry, bool readable) {
  mprotect(entry.first, entry.second.whole_pages, readable ? PROT_READ | PROT_WRITE : PROT_NONE);
}

std::byte* DeviceMemory::allocate(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  assert(bytes >= 0);
  const auto size = static_cast<std::size_t>(bytes);
  if (size > std::size_t{1} << 46) return nullptr;
  const std::size_t pages = std::max(page_bytes, (size + page_bytes - 1) / page_bytes * page_bytes);
  void* const mapping =
      mmap(nullptr, pages + 2 * guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  std::byte* const memory = static_cast<std::byte*>(mapping) + guard_bytes;
  const auto [entry, _] = allocations_.insert({memory, {bytes, pages, ++made_}});
  bytes_ += bytes;
  protect(*entry, true);
  std::memset(memory, fresh_byte, size);
  std::fill(memory + size, memory + pages, tail_byte);
  forbid(memory + size, pages - size);
  if (!open_) protect(*entry, false);
  return memory;
}

void DeviceMemory::poison(std::byte* memory) {
  open(memory);
  std::memset(memory, fresh_byte, static_cast<std::size_t>(allocations_.at(memory).bytes));
  close();
}

void DeviceMemory::release(std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  const auto entry = allocations_.find(memory);
  assert(!memory || entry != allocations_.end());
  if (entry == allocations_.end()) return;
  permit(memory, entry->second.whole_pages);
  munmap(memory - guard_bytes, entry->second.whole_pages + 2 * guard_bytes);
  bytes_ -= entry->second.bytes;
  allocations_.erase(entry);
}

std::int64_t DeviceMemory::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

void DeviceMemory::protect_opened(bool readable) {
  if (!only_) {
    for (const auto& entry : allocations_) protect(entry, readable);
    return;
  }
  const auto entry = owner(only_, 0);
  if (entry != allocations_.end()) protect(*entry, readable);
}

void DeviceMemory::open(const void* only) {
  mutex_.lock();
  only_ = only;
  go_on();
}

void DeviceMemory::open_later() {
  mutex_.lock();
  only_ = nullptr;
}

void DeviceMemory::go_on() {
  if (open_) return;
  open_ = true;
  protect_opened(true);
}

void DeviceMemory::close() {
  if (open_) protect_opened(false);
  open_ = false;
  mutex_.unlock();
}

std::string DeviceMemory::damage() const {
  if (address_sanitizer) return {};
  for (const auto& [memory, allocation] : allocations_) {
    const std::byte* const end = memory + allocation.bytes;
    const std::byte* const stop = memory + allocation.whole_pages;
    const std::byte* const spoiled =
        std::find_if(end, stop, [](std::byte byte) { return byte != tail_byte; });
    if (spoiled == stop) continue;
    const std::string where = describe(spoiled);
    std::fill(memory + allocation.bytes, memory + allocation.whole_pages, tail_byte);
    return "something wrote " + where;
  }
  return {};
}

DeviceMemory::Allocations::const_iterator DeviceMemory::owner(const void* address, std::size_t margin) const {
  const auto byte = reinterpret_cast<std::uintptr_t>(address);
  const auto near = [&](const Allocations::value_type& entry) {
    const auto begin = reinterpret_cast<std::uintptr_t>(entry.first);
    return byte + margin >= begin && byte < begin + entry.second.whole_pages + margin;
  };
  // The last that begins at or before the address, or the one behind it.
  auto entry = allocations_.upper_bound(static_cast<std::byte*>(const_cast<void*>(address)));
  if (entry != allocations_.begin() && near(*std::prev(entry))) return std::prev(entry);
  return entry != allocations_.end() && near(*entry) ? entry : allocations_.end();
}

bool DeviceMemory::holds(const std::byte* memory, std::int64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  const auto entry = owner(memory, 0);
  return entry != allocations_.end() && memory + bytes <= entry->first + entry->second.bytes;
}

int DeviceMemory::number(const void* address) const {
  const std::scoped_lock lock(mutex_);
  const auto entry = owner(address, 0);
  return entry == allocations_.end() ? 0 : entry->second.number;
}

std::string DeviceMemory::describe(const void* address) const {
  const std::scoped_lock lock(mutex_);
  const auto entry = owner(address, guard_bytes);
  if (entry == allocations_.end()) return {};
  const auto at = static_cast<const std::byte*>(address) - entry->first;
  const std::string size = std::to_string(entry->second.bytes) + " bytes of device memory (allocation " +
                           std::to_string(entry->second.number) + ")";
  if (at < 0) return std::to_string(-at) + " bytes before " + size;
  if (at >= entry->second.bytes)
    return std::to_string(at - entry->second.bytes) + " bytes after the end of " + size;
  return "byte " + std::to_string(at) + " of " + size;
}

std::byte* PinnedMemory::allocate(std::int64_t bytes) {
  const auto size = (static_cast<std::size_t>(bytes) + page_bytes) / page_bytes * page_bytes;  // never 0
  void* const memory = std::aligned_alloc(page_bytes, size);
  if (!memory) return nullptr;
  std::memset(memory, fresh_byte, size);
  const std::scoped_lock lock(mutex_);
  allocations_[static_cast<std::byte*>(memory)] = {bytes, ++made_};
  return static_cast<std::byte*>(memory);
}

void PinnedMemory::release(std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  allocations_.erase(memory);
  std::free(memory);
}

void PinnedMemory::add(const std::byte* memory, std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  allocations_[memory] = {bytes, ++made_};
}

void PinnedMemory::remove(const std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  allocations_.erase(memory);
}

int PinnedMemory::number(const std::byte* memory, std::int64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  auto entry = allocations_.upper_bound(memory);
  if (entry == allocations_.begin()) return 0;
  --entry;
  return memory + bytes <= entry->first + entry->second.bytes ? entry->second.number : 0;
}

}  // namespace fovea::kernels::cuda::emulation
