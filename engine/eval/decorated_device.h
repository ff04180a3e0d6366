// A device on which a model computes otherwise than its weights say, to be measured: with experts that
// somebody chose instead of the routers, since random weights route almost evenly, which no trained model
// does; or without a part, to see what that part takes. Graphs that are captured on it do the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/api/forwarding_device.h"

namespace fovea::eval {

// What the routers are to have chosen for the next tokens: [layers with experts, tokens, experts_used], valid
// until the next call.
using Routing = std::function<const std::int32_t*(std::int64_t tokens)>;

class DecoratedDevice final : public kernels::Forwarding<kernels::Device> {
 public:
  // Of passes that a stream runs; none: the routers choose. One stream at a time may run passes.
  struct Choices {
    Routing routing;
    std::int64_t layers = 0, used = 0;
    std::int64_t max_tokens = 0;   // of a pass
    bool host_reads_them = false;  // it computes some of the experts
  };
  explicit DecoratedDevice(const kernels::Device& inner) : Forwarding(inner) {}
  ~DecoratedDevice() override;
  DecoratedDevice(const DecoratedDevice&) = delete;
  DecoratedDevice& operator=(const DecoratedDevice&) = delete;

  // False: there is no memory for them. Before the first pass.
  bool choose(Choices choices);
  // From now on; who has captured graphs must capture them again. What is computed is worth nothing.
  enum class Part : std::uint8_t { none, experts, attention, linear };
  void leave_out(Part part) { left_out_ = part; }

  const kernels::OperationTable& operations() const override;
  std::unique_ptr<kernels::Stream> make_stream(const kernels::StreamOptions& options) const override;

  kernels::DeviceFacts facts() const override { return inner_.facts(); }
  kernels::Bf16Products bf16_products() const override { return inner_.bf16_products(); }
  kernels::DeviceCeiling measure_ceiling(kernels::Stream& stream) const override;
  kernels::Failure failure() const override { return inner_.failure(); }
  std::string switched_off() const override { return inner_.switched_off(); }
  bool memory_is_host() const override { return inner_.memory_is_host(); }
  std::byte* allocate_host(std::int64_t bytes) const override { return inner_.allocate_host(bytes); }
  void release_host(std::byte* memory, std::int64_t bytes) const override {
    inner_.release_host(memory, bytes);
  }
  bool pin(std::byte* memory, std::int64_t bytes) const override { return inner_.pin(memory, bytes); }
  void unpin(std::byte* memory) const override { inner_.unpin(memory); }
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes,
            kernels::Stream& stream) const override;
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                 kernels::Stream& stream) const override;
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, kernels::Stream& stream) const override;
  std::unique_ptr<kernels::Event> make_event() const override { return inner_.make_event(); }
  void record(kernels::Event& event, kernels::Stream& stream) const override;

 private:
  class Stream;
  std::int64_t bytes() const;

  std::atomic<Part> left_out_ = Part::none;
  Choices choices_;
  std::byte* on_host_ = nullptr;    // [layers, tokens, used], pinned; the next pass's
  std::byte* on_device_ = nullptr;  // the same for the kernels; the host's where that is one
};

}  // namespace fovea::eval
