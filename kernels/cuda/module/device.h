// One NVIDIA GPU behind kernels/api. Host code only; kernels are started by the operations.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kernels/api/device.h"
#include "kernels/cuda/module/switches.h"
#include "kernels/cuda/pack.h"

namespace fovea::kernels::cuda {

// "out of memory (cudaErrorMemoryAllocation)"; `code` is a cudaError_t.
std::string said_of(int code);

// For how long one wait may last: no work of a pass takes near as long, so a kernel hangs.
constexpr std::chrono::milliseconds usual_patience = std::chrono::seconds(60);
// Of each stream that computes, for intermediate values.
constexpr std::int64_t usual_scratch_bytes = std::int64_t{64} << 20;

// How a thread waits: asking all the time, which learns of the end at once, or now and then.
enum class Rest : std::uint8_t { none, sleep };

// What the parts of one device share: which one it is, and its first error. The driver keeps none of a
// context's work after one, so every stream reports it.
class Context {
 public:
  explicit Context(int ordinal, std::chrono::milliseconds patience = usual_patience)
      : ordinal_(ordinal), patience_(patience) {}

  int ordinal() const { return ordinal_; }
  // Makes the device the calling thread's, as launches want it. Any other call of a thread that has chosen
  // none would take memory on the first device. False also when the device hangs: what is given to it then,
  // and what would be given back, waits for ever.
  bool select();
  bool hangs() const { return hangs_.load(std::memory_order_acquire); }
  // Asks `query`, which gives a cudaError_t, until it no longer says that the device is not ready; true when
  // all went well. Patience has an end, and the device has failed then; what it says names `last_kernel`.
  bool wait(const std::function<int()>& query, Rest rest, const char* last_kernel);
  // True when the call went well. `code` is a cudaError_t.
  bool check(int code, Action action);
  // Launches say nothing themselves: the runtime library notes a refused one for its thread, until somebody
  // asks or another error replaces it. So this comes before calls that may fail without harm.
  bool check_launches();
  // The first one counts.
  void fail(Failure failure);
  Failure failure() const;

 private:
  const int ordinal_;
  const std::chrono::milliseconds patience_;
  std::atomic<bool> hangs_ = false;
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;
  Failure failure_;  // mutex_
};

class CudaDevice final : public Device {
 public:
  // Learns the device's facts without taking memory on it.
  explicit CudaDevice(int ordinal, const Switches& switches = Switches::get(),
                      std::chrono::milliseconds patience = usual_patience,
                      std::int64_t scratch_bytes = usual_scratch_bytes);

  // Why the kernels of this build do not run on it; empty: they do.
  Obstacle why_not() const;
  // Without asking how much memory is free, which would take some of it.
  const DeviceFacts& known_facts() const { return facts_; }

  std::string name() const override;
  std::string instruction_set() const override;
  DeviceFacts facts() const override;
  const OperationTable& operations() const override;
  std::unique_ptr<Stream> make_stream(const StreamOptions& options) const override;
  Bf16Products bf16_products() const override;
  Failure failure() const override { return context_.failure(); }
  std::string switched_off() const override { return switches_.off(); }
  DeviceCeiling measure_ceiling(Stream& stream) const override;

  Packing preferred_packing(Type type, std::int64_t, std::int64_t) const override {
    return cuda::preferred_packing(type);
  }
  std::int64_t packed_bytes(Packing packing, Type type, std::int64_t rows,
                            std::int64_t columns) const override;
  void pack(Packing packing, Type type, std::int64_t rows, std::int64_t columns, const std::byte* source,
            std::int64_t first, std::int64_t count, std::byte* packed) const override;
  std::int64_t pack_granularity(Packing packing) const override { return cuda::pack_granularity(packing); }

  std::byte* allocate(std::int64_t bytes) const override;
  void release(std::byte* memory, std::int64_t bytes) const override;
  bool memory_is_host() const override { return false; }
  std::byte* allocate_host(std::int64_t bytes) const override;
  void release_host(std::byte* memory, std::int64_t bytes) const override;
  bool pin(std::byte* memory, std::int64_t bytes) const override;
  void unpin(std::byte* memory) const override;
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream& stream) const override;
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes, Stream& stream) const override;
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, Stream& stream) const override;
  std::unique_ptr<Event> make_event() const override;
  void record(Event& event, Stream& stream) const override;

 private:
  int major_ = 0, minor_ = 0;
  int multiprocessors_ = 1;
  DeviceFacts facts_;
  const Switches switches_;
  const std::int64_t scratch_bytes_;
  mutable Context context_;
  mutable std::mutex mutex_;
  mutable std::map<std::byte*, void*> allocated_;  // mutex_; aligned address → the driver's
};

}  // namespace fovea::kernels::cuda
