// Memory of a device that gives itself back.
#pragma once

#include <cstddef>
#include <new>
#include <span>

#include "kernels/api/device.h"

namespace fovea::precision {

class DeviceMemory {
 public:
  // std::bad_alloc when there is not enough.
  DeviceMemory(const kernels::Device& device, std::int64_t bytes) : device_(device), bytes_(bytes) {
    if (bytes > 0) memory_ = device.allocate(bytes);
    if (bytes > 0 && memory_ == nullptr) throw std::bad_alloc();
  }
  ~DeviceMemory() {
    if (memory_ != nullptr) device_.release(memory_, bytes_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::span<std::byte> first(std::int64_t bytes) const { return {memory_, static_cast<std::size_t>(bytes)}; }

 private:
  const kernels::Device& device_;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_;
};

}  // namespace fovea::precision
