// The transfers of a device whose memory is the host's own and whose operations return when they are done.
#pragma once

#include <cstring>
#include <memory>

#include "kernels/api/device.h"

namespace fovea::kernels {

class HostDevice : public Device {
 public:
  DeviceFacts facts() const override { return {}; }
  bool memory_is_host() const override { return true; }
  std::byte* allocate_host(std::int64_t bytes) const override { return allocate(bytes); }
  void release_host(std::byte* memory, std::int64_t bytes) const override { release(memory, bytes); }
  bool pin(std::byte*, std::int64_t) const override { return true; }
  void unpin(std::byte*) const override {}
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream&) const override {
    std::memcpy(target, host, static_cast<std::size_t>(bytes));
  }
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes, Stream&) const override {
    std::memcpy(host, source, static_cast<std::size_t>(bytes));
  }
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, Stream&) const override {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(target + i * stride, source + i * stride, static_cast<std::size_t>(bytes));
  }
  std::unique_ptr<Event> make_event() const override { return std::make_unique<EndedEvent>(); }
  void record(Event&, Stream&) const override {}

 private:
  class EndedEvent final : public Event {
   public:
    bool done() const override { return true; }
    void wait() const override {}
  };
};

}  // namespace fovea::kernels
