#include "tests/kernels/cuda/emulation/device.h"

#include <atomic>
#include <cassert>
#include <cstring>

#include "kernels/cuda/ceiling.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/pack.h"
#include "kernels/cuda/stream.h"
#include "kernels/formats/half.h"
#include "tests/kernels/cuda/emulation/faults.h"
#include "tests/kernels/cuda/emulation/queue.h"

namespace fovea::kernels::cuda::emulation {
namespace {

// What a library would do.
std::string multiply(const DeviceMemory& memory, const Bfloat16Product& p) {
  const auto holds = [&memory](const auto* values, std::int64_t count) {
    return memory.holds(reinterpret_cast<const std::byte*>(values),
                        count * static_cast<std::int64_t>(sizeof *values));
  };
  if (!holds(p.weights, 2 * p.rows * p.columns) || !holds(p.x, p.tokens * p.x_stride / 2) ||
      !holds(p.out, (p.tokens - 1) * p.out_stride + p.rows))
    return "multiply_bfloat16: not device memory";
  const auto* const weights = reinterpret_cast<const std::uint16_t*>(p.weights);
  const auto* const x = reinterpret_cast<const std::uint16_t*>(p.x);
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    for (std::int64_t r = 0; r < p.rows; ++r) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.columns; ++k)
        sum += static_cast<double>(formats::bfloat16_to_float(weights[r * p.columns + k])) *
               formats::bfloat16_to_float(x[t * p.x_stride + k]);
      p.out[t * p.out_stride + r] = static_cast<float>(sum);
    }
  }
  return {};
}

class EmulatedStream final : public CudaStream {
 public:
  EmulatedStream(Machine& machine, std::unique_ptr<Queue> queue, std::byte* scratch,
                 const EmulationOptions& options, bool multiplies)
      : CudaStream(queue.get(), scratch, options.scratch_bytes, options.multiprocessors,
                   {.overlaps = true, .prefetches = true}),
        captures_(options.captures),
        multiplies_(multiplies),
        machine_(machine),
        queue_(std::move(queue)) {
    queue_->push([this]() -> std::string {
      std::memset(counters(), 0, static_cast<std::size_t>(counter_bytes));
      return {};
    });
  }
  ~EmulatedStream() override {
    synchronize();
    const std::scoped_lock lock(machine_.mutex);
    machine_.spare_scratch.push_back(scratch());
  }

  void synchronize() override {
    if (!Queue::spoils_capture(machine_, "waits for a stream")) queue_->finish(queue_->pushed());
  }
  Failure failure() const override { return queue_->failure(); }
  bool begin_capture() override {
    if (captures_) queue_->begin_capture();
    return captures_;
  }
  std::unique_ptr<Graph> end_capture(std::string& why) override { return queue_->end_capture(why); }
  void launch(const Graph& graph) override { queue_->launch(graph); }
  bool multiply_bfloat16(const Bfloat16Product& p) override {
    if (multiplies_) queue_->push([this, p] { return multiply(machine_.memory, p); });
    return multiplies_;
  }

  Queue& queue() { return *queue_; }

 private:
  const bool captures_;
  const bool multiplies_;
  Machine& machine_;
  std::unique_ptr<Queue> queue_;
};

EmulatedStream& emulated(Stream& stream) {
  return static_cast<EmulatedStream&>(stream);
}

class EmulatedEvent final : public Event {
 public:
  explicit EmulatedEvent(const Machine& machine) : machine_(machine) {}
  bool done() const override {
    return Queue::spoils_capture(machine_, "asks an event") || !queue_ || queue_->done(count_);
  }
  void wait() const override {
    if (!Queue::spoils_capture(machine_, "waits for an event") && queue_) queue_->finish(count_);
  }
  void record(Queue& queue) {
    if (Queue::spoils_capture(machine_, "records an event")) return;
    queue_ = &queue;
    count_ = queue.pushed();
  }

 private:
  const Machine& machine_;
  Queue* queue_ = nullptr;
  std::uint64_t count_ = 0;
};

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(EmulationOptions options) : options_(std::move(options)), machine_(options_.seed) {
    assert(options_.scratch_bytes >= min_scratch_bytes);
    machine_.on_error = options_.on_error;
    machine_.on_launch = options_.on_launch;
    explain_touches_of(machine_.memory);
  }
  ~EmulatedDevice() override { forget(machine_.memory); }

  std::string name() const override { return "emulated"; }
  std::string instruction_set() const override { return "emulated"; }
  DeviceFacts facts() const override {
    return {.description = "emulated GPU",
            .memory_bytes = options_.memory_bytes,
            .memory_free_bytes = options_.memory_bytes - machine_.memory.bytes()};
  }
  const OperationTable& operations() const override { return cuda::operations(); }

  std::unique_ptr<Stream> make_stream(const StreamOptions& wanted) const override {
    std::byte* const scratch = scratch_memory();
    if (!scratch) return nullptr;
    auto queue = std::make_unique<Queue>(machine_, options_.seed * 1000 + ++streams_);
    return std::make_unique<EmulatedStream>(machine_, std::move(queue), scratch, options_,
                                            wanted.multiplies_bf16);
  }

  Bf16Products bf16_products() const override { return {.library = "a library that is emulated"}; }

  // Small: an emulation is no yardstick, but what measures one must work.
  DeviceCeiling measure_ceiling(Stream& stream) const override {
    return cuda::measure_ceiling(*this, stream,
                                 {.buffer_bytes = std::int64_t{1} << 20,
                                  .min_buffer_bytes = std::int64_t{1} << 20,
                                  .min_seconds = 0,
                                  .repetitions = 1,
                                  .nodes = 20});
  }

  Packing preferred_packing(Type type, std::int64_t, std::int64_t) const override {
    return cuda::preferred_packing(type);
  }
  std::int64_t packed_bytes(Packing, Type type, std::int64_t rows, std::int64_t columns) const override {
    return rows * row_bytes(type, columns);
  }
  void pack(Packing packing, Type type, std::int64_t rows, std::int64_t columns, const std::byte* source,
            std::int64_t first, std::int64_t count, std::byte* packed) const override {
    cuda::pack(packing, type, rows, columns, source, first, count, packed);
  }
  std::int64_t pack_granularity(Packing packing) const override { return cuda::pack_granularity(packing); }

  std::byte* allocate(std::int64_t bytes) const override {
    if (Queue::spoils_capture(machine_, "allocates memory")) return nullptr;
    if (bytes > options_.memory_bytes - machine_.memory.bytes()) return nullptr;
    return machine_.memory.allocate(bytes);
  }
  void release(std::byte* memory, std::int64_t) const override {
    Queue::spoils_capture(machine_, "releases memory");
    machine_.memory.release(memory);
  }

  bool memory_is_host() const override { return false; }
  std::byte* allocate_host(std::int64_t bytes) const override {
    if (Queue::spoils_capture(machine_, "allocates pinned memory")) return nullptr;
    return bytes > options_.memory_bytes ? nullptr : machine_.pinned.allocate(bytes);
  }
  void release_host(std::byte* memory, std::int64_t) const override {
    Queue::spoils_capture(machine_, "releases pinned memory");
    machine_.pinned.release(memory);
  }

  bool pin(std::byte* memory, std::int64_t bytes) const override {
    if (Queue::spoils_capture(machine_, "pins memory")) return false;
    machine_.pinned.add(memory, bytes);
    return true;
  }
  void unpin(std::byte* memory) const override {
    Queue::spoils_capture(machine_, "releases pinned memory");
    machine_.pinned.remove(memory);
  }
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream& stream) const override {
    emulated(stream).queue().push({target, host, bytes}, [this, target, host, bytes]() -> std::string {
      if (!machine_.memory.holds(target, bytes)) return "copy: the target is not device memory";
      std::memcpy(target, host, static_cast<std::size_t>(bytes));
      return {};
    });
  }
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                 Stream& stream) const override {
    emulated(stream).queue().push({source, host, bytes}, [this, host, source, bytes]() -> std::string {
      if (!machine_.memory.holds(source, bytes)) return "read_back: the source is not device memory";
      std::memcpy(host, source, static_cast<std::size_t>(bytes));
      return {};
    });
  }
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, Stream& stream) const override {
    emulated(stream).queue().push([=, this]() -> std::string {
      for (std::int64_t i = 0; i < count; ++i) {
        if (!machine_.memory.holds(target + i * stride, bytes) ||
            !machine_.memory.holds(source + i * stride, bytes))
          return "copy_within: not device memory";
        std::memmove(target + i * stride, source + i * stride, static_cast<std::size_t>(bytes));
      }
      return {};
    });
  }
  std::unique_ptr<Event> make_event() const override { return std::make_unique<EmulatedEvent>(machine_); }
  void record(Event& event, Stream& stream) const override {
    static_cast<EmulatedEvent&>(event).record(emulated(stream).queue());
  }

  std::int64_t kernels_run() const { return machine_.kernels; }

 private:
  // That of a stream that has ended, or new.
  std::byte* scratch_memory() const {
    const std::scoped_lock lock(machine_.mutex);
    if (machine_.spare_scratch.empty()) return machine_.memory.allocate(options_.scratch_bytes);
    std::byte* const scratch = machine_.spare_scratch.back();
    machine_.spare_scratch.pop_back();
    machine_.memory.poison(scratch);
    return scratch;
  }

  EmulationOptions options_;
  mutable Machine machine_;
  mutable std::atomic<unsigned> streams_ = 0;
};

}  // namespace

std::unique_ptr<Device> emulated_device(EmulationOptions options) {
  return std::make_unique<EmulatedDevice>(std::move(options));
}

std::int64_t kernels_run(const Device& device) {
  return static_cast<const EmulatedDevice&>(device).kernels_run();
}

}  // namespace fovea::kernels::cuda::emulation
