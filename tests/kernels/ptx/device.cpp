#include "device.h"

#include <utility>

#include "kernels/api/forwarding_device.h"
#include "kernels/cuda/ceiling.h"
#include "kernels/cuda/module/device.h"

#include "runtime.h"

namespace fovea::tests::ptx {
namespace {

using kernels::DeviceFacts;
using kernels::Event;
using kernels::Failure;
using kernels::Stream;

class PtxDevice final : public kernels::Device {
 public:
  explicit PtxDevice(DeviceOptions options)
      : ordinal_(add_card({.seed = options.seed,
                           .order = options.order,
                           .watch = options.watch,
                           .multiprocessors = options.multiprocessors,
                           .memory_bytes = static_cast<std::size_t>(options.memory_bytes),
                           .on_error = options.on_error,
                           .aborts = !options.on_error,
                           .on_launch = std::move(options.on_launch)})),
        device_(std::make_unique<kernels::cuda::CudaDevice>(
            ordinal_,
            kernels::cuda::Switches{
                .pdl = options.mechanisms, .graph = options.captures, .prefetch = options.mechanisms},
            kernels::cuda::usual_patience, options.scratch_bytes)) {}
  ~PtxDevice() override {
    device_.reset();
    remove_card(ordinal_);
  }
  PtxDevice(const PtxDevice&) = delete;
  PtxDevice& operator=(const PtxDevice&) = delete;

  int ordinal() const { return ordinal_; }

  std::string name() const override { return "ptx"; }
  std::string instruction_set() const override { return device_->instruction_set(); }
  DeviceFacts facts() const override { return device_->facts(); }
  const kernels::OperationTable& operations() const override { return device_->operations(); }
  kernels::Bf16Products bf16_products() const override { return device_->bf16_products(); }
  std::unique_ptr<Stream> make_stream(const kernels::StreamOptions& options) const override {
    return device_->make_stream(options);
  }
  // Small: this is no yardstick, but what measures one must work.
  kernels::DeviceCeiling measure_ceiling(Stream& stream) const override {
    return kernels::cuda::measure_ceiling(*this, stream,
                                          {.buffer_bytes = std::int64_t{1} << 20,
                                           .min_buffer_bytes = std::int64_t{1} << 20,
                                           .min_seconds = 0,
                                           .repetitions = 1,
                                           .nodes = 20});
  }
  Failure failure() const override { return device_->failure(); }
  kernels::Packing preferred_packing(kernels::Type type, std::int64_t rows,
                                     std::int64_t columns) const override {
    return device_->preferred_packing(type, rows, columns);
  }
  std::int64_t packed_bytes(kernels::Packing packing, kernels::Type type, std::int64_t rows,
                            std::int64_t columns) const override {
    return device_->packed_bytes(packing, type, rows, columns);
  }
  void pack(kernels::Packing packing, kernels::Type type, std::int64_t rows, std::int64_t columns,
            const std::byte* source, std::int64_t first, std::int64_t count,
            std::byte* packed) const override {
    device_->pack(packing, type, rows, columns, source, first, count, packed);
  }
  std::int64_t pack_granularity(kernels::Packing packing) const override {
    return device_->pack_granularity(packing);
  }
  std::byte* allocate(std::int64_t bytes) const override { return device_->allocate(bytes); }
  void release(std::byte* memory, std::int64_t bytes) const override { device_->release(memory, bytes); }
  bool memory_is_host() const override { return false; }
  std::byte* allocate_host(std::int64_t bytes) const override { return device_->allocate_host(bytes); }
  void release_host(std::byte* memory, std::int64_t bytes) const override {
    device_->release_host(memory, bytes);
  }
  bool pin(std::byte* memory, std::int64_t bytes) const override { return device_->pin(memory, bytes); }
  void unpin(std::byte* memory) const override { device_->unpin(memory); }
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream& stream) const override {
    device_->copy(target, host, bytes, stream);
  }
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                 Stream& stream) const override {
    device_->read_back(host, source, bytes, stream);
  }
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, Stream& stream) const override {
    device_->copy_within(target, source, bytes, stride, count, stream);
  }
  std::unique_ptr<Event> make_event() const override { return device_->make_event(); }
  void record(Event& event, Stream& stream) const override { device_->record(event, stream); }

 private:
  const int ordinal_;
  std::unique_ptr<kernels::cuda::CudaDevice> device_;
};

int ordinal_of(const kernels::Device& device) {
  return static_cast<const PtxDevice&>(device).ordinal();
}

}  // namespace

bool is_available() {
  return true;
}

std::unique_ptr<kernels::Device> device(DeviceOptions options) {
  return std::make_unique<PtxDevice>(std::move(options));
}

std::int64_t kernels_run(const kernels::Device& device) {
  return kernels_run(ordinal_of(device));
}
std::int64_t instructions_run(const kernels::Device& device) {
  return instructions_run(ordinal_of(device));
}
std::int64_t waited_unasked(const kernels::Device& device) {
  return waited_unasked(ordinal_of(device));
}

}  // namespace fovea::tests::ptx
