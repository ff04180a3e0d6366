// A small world for the residency: units whose bytes are a pattern of unit and tier, a device whose copies
// and passes lag behind, a source that fails on purpose, and passes that look at every byte they were
// promised.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "engine/precision/residency.h"

namespace fovea::tests {

using precision::TierId;
using precision::UnitId;

// Reads that fail, in per cent, and what else goes wrong.
struct Faults {
  int io_error = 0;
  int checksum_error = 0;
  int meet = 0;               // a read ends only when so many have been under way at once
  int slow = 0;               // reads and copies that take a moment
  int holds = 0;              // versions that the source holds in memory of its own
  bool wrong_unit = false;    // planted: the bytes of the next unit
  bool early_events = false;  // planted: an event says that the passes have ended as soon as it is recorded
  bool early_copies = false;  // planted: waiting for a copy does not wait
};

// The word at `index` of a version.
std::uint64_t pattern_word(UnitId unit, TierId tier, std::size_t index);
void fill_pattern(UnitId unit, TierId tier, std::span<std::byte> memory);
bool has_pattern(UnitId unit, TierId tier, std::span<const std::byte> memory);

class TestClock final : public precision::Clock {
 public:
  double now() const override;
  void sleep(double seconds, std::stop_token stop) override;

 private:
  mutable std::mutex mutex_;
  double now_seconds_ = 0;
};

// What moved, and when.
struct Movement {
  double seconds = 0;
  std::int64_t bytes = 0;
};
// The first window in which more than `burst_bytes` + time · `bytes_per_second` moved, as a sentence; empty
// when there is none.
std::string overfull_window(std::span<const Movement> movements, double bytes_per_second,
                            std::int64_t burst_bytes);

// Memory and transfers of a device. Memory of its own: copies are only done when somebody waits for them.
class LaggingDevice : public kernels::Device {
 public:
  static constexpr std::int64_t memory_bytes = 64 << 20;
  LaggingDevice(bool host_memory, const Faults& faults) : host_memory_(host_memory), faults_(faults) {}

  std::string name() const override { return "lagging"; }
  std::string instruction_set() const override { return "none"; }
  kernels::DeviceFacts facts() const override { return {}; }
  const kernels::OperationTable& operations() const override;
  std::unique_ptr<kernels::Stream> make_stream(const kernels::StreamOptions&) const override;
  kernels::Packing preferred_packing(kernels::Type, std::int64_t, std::int64_t) const override {
    return kernels::Packing::rows;
  }
  std::int64_t packed_bytes(kernels::Packing, kernels::Type type, std::int64_t rows,
                            std::int64_t columns) const override {
    return rows * kernels::row_bytes(type, columns);
  }
  void pack(kernels::Packing, kernels::Type, std::int64_t, std::int64_t, const std::byte*, std::int64_t,
            std::int64_t, std::byte*) const override {}
  std::int64_t pack_granularity(kernels::Packing) const override { return 1; }
  std::byte* allocate(std::int64_t bytes) const override;
  void release(std::byte* memory, std::int64_t bytes) const override;
  bool memory_is_host() const override { return host_memory_; }
  std::byte* allocate_host(std::int64_t bytes) const override;
  void release_host(std::byte* memory, std::int64_t bytes) const override;
  bool pin(std::byte*, std::int64_t) const override { return true; }
  void unpin(std::byte*) const override {}
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes, kernels::Stream&) const override;
  void read_back(std::byte*, const std::byte*, std::int64_t, kernels::Stream&) const override;
  void copy_within(std::byte*, const std::byte*, std::int64_t, std::int64_t, std::int64_t,
                   kernels::Stream&) const override;
  std::unique_ptr<kernels::Event> make_event() const override;
  void record(kernels::Event&, kernels::Stream&) const override;

  std::int64_t allocated() const { return allocated_; }
  std::int64_t max_allocated() const { return max_allocated_; }
  std::int64_t host_allocated() const { return host_allocated_; }
  std::function<void(std::int64_t bytes)> on_copy;  // on the copying thread
  std::atomic<bool> gives_streams = true;           // and events; false: as a device that has failed
  std::atomic<bool> loses_copies = false;           // and says so

 private:
  bool host_memory_;
  Faults faults_;
  // Written by the test's thread alone.
  mutable std::int64_t allocated_ = 0, max_allocated_ = 0, host_allocated_ = 0;
};

// The stream that passes run in: a launched pass ends later, when the test lets it or somebody waits.
class PassStream final : public kernels::Stream {
 public:
  // What a pass was promised when it was launched.
  struct Promise {
    UnitId unit = 0;
    TierId tier = 0;
    const std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  void begin_pass(std::vector<Promise> promises) { running_.push_back(std::move(promises)); }
  void end_oldest();
  void synchronize() override;
  std::size_t running() const { return running_.size(); }
  std::int64_t launched() const { return ended_ + std::ssize(running_); }
  std::int64_t ended() const { return ended_; }
  // What the passes saw that they should not have seen; empty when all was well.
  const std::string& complaint() const { return complaint_; }

 private:
  std::deque<std::vector<Promise>> running_;
  std::int64_t ended_ = 0;
  std::string complaint_;
};

class FaultySource final : public precision::VersionSource {
 public:
  FaultySource(unsigned seed, std::int64_t units, const Faults& faults, const precision::Clock* clock)
      : random_(seed), units_(units), faults_(faults), clock_(clock) {}
  Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                    const checkpoint::Pace& pace) override;
  // Poisoned as soon as nobody holds it.
  Result<precision::HeldVersion> hold(UnitId unit, TierId tier, const checkpoint::Pace& pace) override;

  std::function<std::int64_t(UnitId, TierId)> bytes;
  int held() const { return held_; }  // versions, now
  void set_faults(const Faults& faults);
  void note(std::int64_t bytes);  // something moved now
  std::vector<Movement> movements() const;
  void forget_movements();
  int max_at_once() const { return max_at_once_; }  // reads

 private:
  mutable std::mutex mutex_;
  std::mt19937 random_;  // guarded by mutex_
  std::int64_t units_;
  Faults faults_;                    // guarded by mutex_
  std::vector<Movement> movements_;  // guarded by mutex_
  std::atomic<int> at_once_ = 0, max_at_once_ = 0, held_ = 0;
  const precision::Clock* clock_;
};

struct WorldOptions {
  unsigned seed = 1;
  bool host_memory = true;
  bool lagging_passes = false;
  std::int64_t slabs = 20;
  bool any_mix = false;            // see ArenaPlan
  bool paged = false;              // … with as many bytes
  std::vector<TierId> first = {};  // [units]; empty: all at the lowest tier
  std::vector<bool> on_host = {};  // [units], which begin without a tier; empty: none
  Faults faults = {};
  precision::ResidencySettings settings = {};
};

// Two layers of six experts, at 16, 8 and 4 bits; the versions of the second layer have twice the bytes.
class SwapWorld {
 public:
  static constexpr UnitId units = 12;
  static constexpr TierId lowest = 2;
  static constexpr std::int64_t slab_bytes = 24576;

  explicit SwapWorld(const WorldOptions& options);
  ~SwapWorld();
  SwapWorld(const SwapWorld&) = delete;
  SwapWorld& operator=(const SwapWorld&) = delete;

  // Makes the residency; open() fills it as well.
  Result<void> make();
  Result<void> open();
  void close();  // with whatever is in flight

  precision::Residency& residency() { return *residency_; }
  LaggingDevice& device() { return device_; }
  FaultySource& source() { return *source_; }
  PassStream& stream() { return stream_; }
  const precision::TierSet& tiers() const { return tiers_; }
  const precision::UnitTable& table() const { return *table_; }
  std::int64_t bytes(UnitId unit, TierId tier) const;

  bool request(UnitId unit, TierId target) { return residency_->request({.unit = unit, .target = target}); }
  // Launches a pass over every version that is published and was always in memory, and ends older ones until
  // at most `lag` run.
  void pass(std::size_t lag = 0);
  // One over this unit alone, which ends later.
  void begin_pass(UnitId unit) { stream_.begin_pass({promise(unit)}); }
  // Needs these units of the disk, in a pass, and looks at them at once.
  Result<void> need(const std::vector<UnitId>& wanted);
  // What is wrong; empty when every invariant holds: the audit, the budget, the events' story, the passes.
  std::string complaint();

  struct Story {
    std::int64_t accepted = 0;  // requests
    std::int64_t handles = 0;   // that were set, a unit's together
    std::map<precision::SwapOutcome, std::int64_t> outcomes;
    std::vector<precision::SwapEvent> events;
  };
  Story story;

 private:
  // What the unit's handles promise.
  PassStream::Promise promise(UnitId unit);
  void hear(const precision::SwapEvent& event);

  WorldOptions options_;
  checkpoint::TensorInfo tensor_;
  models::WeightPlan plan_;
  std::unique_ptr<precision::UnitTable> table_;
  precision::TierSet tiers_;
  LaggingDevice device_;
  PassStream stream_;
  std::vector<std::array<kernels::Weight, 3>> weights_;  // [units]
  std::unique_ptr<FaultySource> source_;
  std::vector<TierId> told_;      // [units]: published, as the events tell it
  std::vector<bool> was_absent_;  // [units]
  std::string contradiction_;
  std::int64_t arena_bytes_ = 0;
  std::unique_ptr<precision::Residency> residency_;
};

// Passes until nothing is in flight any more.
void settle(SwapWorld& world);

#define VERIFY_WORLD(world)                            \
  do {                                                 \
    const std::string complaint = (world).complaint(); \
    QVERIFY2(complaint.empty(), complaint.c_str());    \
  } while (false)

}  // namespace fovea::tests
