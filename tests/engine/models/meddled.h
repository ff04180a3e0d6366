// A device that goes wrong where it is told to.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/api/device.h"
#include "kernels/api/forwarding_device.h"

namespace fovea::tests {

class DeafEvent final : public kernels::Event {
 public:
  DeafEvent(std::unique_ptr<kernels::Event> inner, const bool& deaf)
      : inner_(std::move(inner)), deaf_(deaf) {}
  bool done() const override { return inner_->done(); }
  void wait() const override {
    if (!deaf_) inner_->wait();
  }
  kernels::Event& inner() { return *inner_; }

 private:
  std::unique_ptr<kernels::Event> inner_;
  const bool& deaf_;
};

// A device, which keeps what it gives out in lists, to be lost before its time.
class Meddled final : public kernels::ForwardingDevice {
 public:
  explicit Meddled(const kernels::Device& inner) : kernels::ForwardingDevice(inner) {}

  mutable std::vector<std::byte*> device_memory, host_memory;  // in the order in which they were given out
  std::size_t unpinned = ~std::size_t{0};                      // of host memory: not pinned
  bool deaf = false;                                           // nobody waits for events
  bool pins = true;                                            // memory of others
  bool mute = false;                                           // no answer of the host's is heard
  struct Read {
    const std::byte* host;
    std::int64_t bytes;
  };
  mutable std::vector<Read> reads;  // what was to be read back so far

  void lose_device_memory(std::size_t index) {
    inner_.release(std::exchange(device_memory[index], nullptr), 0);
  }
  ~Meddled() override { inner_.release_host(silence_, 0); }
  Meddled(const Meddled&) = delete;
  Meddled& operator=(const Meddled&) = delete;

  const kernels::OperationTable& operations() const override {
    meddled_ = this;
    operations_ = inner_.operations();
    operations_.add_answer = [](const kernels::HostAnswer& answer, kernels::Stream& s) {
      kernels::HostAnswer heard = answer;
      if (meddled_->mute) heard.answered = reinterpret_cast<const std::uint32_t*>(meddled_->silence_);
      meddled_->inner_.operations().add_answer(heard, s);
    };
    return operations_;
  }
  bool memory_is_host() const override { return false; }
  kernels::DeviceFacts facts() const override { return inner_.facts(); }
  std::byte* allocate(std::int64_t bytes) const override {
    return device_memory.emplace_back(inner_.allocate(bytes));
  }
  void release(std::byte* memory, std::int64_t bytes) const override {
    if (std::erase(device_memory, memory) > 0) inner_.release(memory, bytes);
  }
  std::byte* allocate_host(std::int64_t bytes) const override {
    if (host_memory.size() == unpinned) {
      unpinned_.resize(static_cast<std::size_t>(bytes));
      return host_memory.emplace_back(unpinned_.data());
    }
    return host_memory.emplace_back(inner_.allocate_host(bytes));
  }
  void release_host(std::byte* memory, std::int64_t bytes) const override {
    if (std::erase(host_memory, memory) > 0 && memory != unpinned_.data()) inner_.release_host(memory, bytes);
  }
  bool pin(std::byte* memory, std::int64_t bytes) const override { return pins && inner_.pin(memory, bytes); }
  void unpin(std::byte* memory) const override { inner_.unpin(memory); }
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, kernels::Stream& s) const override {
    inner_.copy(target, host, bytes, s);
  }
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                 kernels::Stream& s) const override {
    reads.push_back({host, bytes});
    inner_.read_back(host, source, bytes, s);
  }
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, kernels::Stream& s) const override {
    inner_.copy_within(target, source, bytes, stride, count, s);
  }
  std::unique_ptr<kernels::Event> make_event() const override {
    return std::make_unique<DeafEvent>(inner_.make_event(), deaf);
  }
  void record(kernels::Event& event, kernels::Stream& s) const override {
    inner_.record(static_cast<DeafEvent&>(event).inner(), s);
  }

 private:
  static inline const Meddled* meddled_ = nullptr;
  mutable kernels::OperationTable operations_;
  mutable std::vector<std::byte> unpinned_;
  std::byte* silence_ = inner_.allocate_host(64);
};

// New memory of tests' devices is filled with ones, which no number is.
inline std::size_t fresh_words(const Meddled::Read& read) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(read.bytes) / 4);
  std::memcpy(words.data(), read.host, words.size() * 4);
  return static_cast<std::size_t>(std::ranges::count(words, ~std::uint32_t{0}));
}

}  // namespace fovea::tests
