// A device that only has memory: enough for a KV cache.
#pragma once

#include <cstdlib>
#include <cstring>

#include "kernels/api/host_device.h"

namespace fovea::tests {

class NoStream final : public kernels::Stream {
 public:
  void synchronize() override {}
};

class HeapDevice final : public kernels::HostDevice {
 public:
  std::string name() const override { return "heap"; }
  std::string instruction_set() const override { return "none"; }
  const kernels::OperationTable& operations() const override { std::abort(); }
  std::unique_ptr<kernels::Stream> make_stream(const kernels::StreamOptions&) const override {
    return std::make_unique<NoStream>();
  }
  kernels::Packing preferred_packing(kernels::Type, std::int64_t, std::int64_t) const override {
    return kernels::Packing::rows;
  }
  std::int64_t packed_bytes(kernels::Packing, kernels::Type, std::int64_t, std::int64_t) const override {
    return 0;
  }
  void pack(kernels::Packing, kernels::Type, std::int64_t, std::int64_t, const std::byte*, std::int64_t,
            std::int64_t, std::byte*) const override {}
  std::int64_t pack_granularity(kernels::Packing) const override { return 1; }

  std::byte* allocate(std::int64_t bytes) const override {
    allocated_ += bytes;
    return static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(bytes), 1));
  }
  void release(std::byte* memory, std::int64_t bytes) const override {
    allocated_ -= bytes;
    std::free(memory);
  }
  std::int64_t allocated() const { return allocated_; }

 private:
  mutable std::int64_t allocated_ = 0;
};

inline kernels::Stream& no_stream() {
  static NoStream stream;
  return stream;
}
inline const HeapDevice& heap_device() {
  static const HeapDevice device;
  return device;
}

}  // namespace fovea::tests
