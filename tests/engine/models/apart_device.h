// A device's kernels over memory that the host cannot touch, run as late as a GPU might run them: operations
// and copies wait in their stream until somebody waits for them. A touch of the memory from outside ends the
// program; what reads results too early reads other bytes than it wants, and what overwrites a copy's source
// too early sends them. Otherwise the results are the device's own, bit for bit.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "kernels/api/device.h"
#include "kernels/api/forwarding_device.h"

namespace fovea::tests {

class ApartDevice final : public kernels::Forwarding<kernels::Device> {
 public:
  explicit ApartDevice(const kernels::Device& inner) : kernels::Forwarding<kernels::Device>(inner) {}
  // As if it were this card. Of the facts' free memory what it has allocated itself is taken off.
  ApartDevice(const kernels::Device& inner, std::string name, kernels::DeviceFacts facts)
      : kernels::Forwarding<kernels::Device>(inner), name_(std::move(name)), facts_(std::move(facts)) {}

  std::string name() const override { return name_.empty() ? inner_.name() : name_; }

  // Its streams capture graphs; so many so far.
  struct Graphs {
    int captured = 0;
    int launched = 0;
  };
  Graphs graphs() const;
  void count_graphs(int captured, int launched) const;
  // From now on a graph's launch leaves out its first piece.
  void shorten_graphs() const { shortened_ = true; }
  bool shortens_graphs() const { return shortened_; }

  std::string instruction_set() const override { return inner_.instruction_set() + ", apart"; }
  kernels::DeviceFacts facts() const override;
  const kernels::OperationTable& operations() const override;
  std::unique_ptr<kernels::Stream> make_stream(const kernels::StreamOptions& options) const override;

  std::byte* allocate(std::int64_t bytes) const override;
  void release(std::byte* memory, std::int64_t bytes) const override;
  bool memory_is_host() const override { return false; }
  std::byte* allocate_host(std::int64_t bytes) const override { return inner_.allocate(bytes); }
  void release_host(std::byte* memory, std::int64_t bytes) const override { inner_.release(memory, bytes); }
  bool pin(std::byte*, std::int64_t) const override { return true; }
  void unpin(std::byte*) const override {}
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, kernels::Stream&) const override;
  void read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                 kernels::Stream&) const override;
  void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes, std::int64_t stride,
                   std::int64_t count, kernels::Stream&) const override;
  std::unique_ptr<kernels::Event> make_event() const override;
  void record(kernels::Event& event, kernels::Stream& stream) const override;

  std::int64_t allocated() const;
  // From now on every stream says that it has failed with these words, and computes nothing; empty: no more.
  void fail(std::string words) const;
  kernels::Failure failure() const override;
  // Feed-forward layers that were given to its streams, and those that have run.
  struct FeedForwards {
    int queued = 0, done = 0;
  };
  FeedForwards feed_forwards() const;
  void count_feed_forward(int queued, int done) const;
  std::int64_t copies() const { return copies_; }  // to the device, that its streams were given
  // Runs something that may touch the device's memory.
  void inside(const std::function<void()>& work) const;
  const kernels::Device& inner() const { return inner_; }

 private:
  void protect(int access) const;

  std::string name_;
  kernels::DeviceFacts facts_ = {.description = "host memory, kept apart",
                                 .memory_bytes = std::int64_t{1} << 32,
                                 .memory_free_bytes = std::int64_t{1} << 32,
                                 .bandwidth_gb_per_s = 1};
  mutable std::mutex mutex_;
  mutable std::map<std::byte*, std::int64_t> regions_;  // mutex_
  mutable int inside_ = 0;                              // mutex_
  mutable kernels::Failure failure_;                    // mutex_
  mutable Graphs graphs_;                               // mutex_
  mutable std::atomic<bool> shortened_ = false;
  mutable std::atomic<std::int64_t> copies_ = 0;
  mutable FeedForwards feed_forwards_;  // mutex_
};

}  // namespace fovea::tests
