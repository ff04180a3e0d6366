// What stands in for the engine's residency in a replay: the very same VersionTable, SwapQueue and
// OnDemandCache, over a clock that only the replay moves and a disk that takes modelled time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/eval/replay.h"
#include "engine/precision/on_demand_cache.h"
#include "engine/precision/policy.h"
#include "engine/precision/swap_queue.h"
#include "engine/precision/units.h"
#include "engine/precision/version_table.h"

namespace fovea::eval {

class VirtualClock final : public precision::Clock {
 public:
  double now() const override { return now_; }
  void sleep(double seconds, std::stop_token) override { now_ += seconds; }
  void advance_to(double seconds) { now_ = std::max(now_, seconds); }

 private:
  double now_ = 0;
};

// Reads one version after the other, and copies each to the device while the next is read. Who waits for a
// version moves the clock to the moment when it is there.
class ModelledDisk final : public precision::VersionMover, public precision::VersionReader {
 public:
  ModelledDisk(const precision::PolicyWorld& world, const ReplayClock& speeds, VirtualClock& clock)
      : world_(world), speeds_(speeds), clock_(clock) {}

  void submit(precision::Transfer& transfer) override;
  precision::Transfer* take() override;
  precision::Transfer* wait() override;
  std::vector<Result<void>> read(std::span<const precision::VersionLoad> loads) override;

  double busy_seconds() const { return busy_seconds_; }  // of the reader

 private:
  double bring(std::int64_t bytes);

  const precision::PolicyWorld& world_;
  const ReplayClock& speeds_;
  VirtualClock& clock_;
  struct UnderWay {
    precision::Transfer* transfer;
    double ready_seconds;
  };
  std::deque<UnderWay> under_way_;
  double reader_free_ = 0, uploader_free_ = 0, busy_seconds_ = 0;
};

class ReplayResidency {
 public:
  // With the first tiers published. ErrorKind::memory when the arena has no room for them, ::invalid when the
  // transfer buffer has none for a version. World and settings must outlive it.
  static Result<std::unique_ptr<ReplayResidency>> create(const precision::PolicyWorld& world,
                                                         const ReplaySettings& settings,
                                                         std::span<const std::uint8_t> first);
  ReplayResidency(const ReplayResidency&) = delete;
  ReplayResidency& operator=(const ReplayResidency&) = delete;

  void compute(double seconds) { clock_.sleep(seconds, {}); }  // the time of a pass
  precision::SwapQueue& swaps() { return *swaps_; }
  const precision::SwapQueue& swaps() const { return *swaps_; }
  precision::OnDemandCache& cache() { return *cache_; }
  const precision::VersionTable& versions() const { return *versions_; }
  precision::SwapRecorder& recorder() { return recorder_; }
  const SwapCounters& counters() const { return recorder_.counters; }

  double now() const { return clock_.now(); }
  double busy_seconds() const { return disk_.busy_seconds(); }
  // Σ over the units of their bits per weight; what is there on demand counts as on disk.
  double held_bits() const;

 private:
  ReplayResidency(const precision::PolicyWorld& world, const ReplaySettings& settings);

  const precision::PolicyWorld& world_;
  const precision::UnitTable units_;
  VirtualClock clock_;
  ModelledDisk disk_;
  precision::SwapRecorder recorder_;
  double published_bits_ = 0;
  std::unique_ptr<precision::VersionTable> versions_;
  std::optional<precision::OnDemandCache> cache_;
  std::optional<precision::SwapQueue> swaps_;
};

}  // namespace fovea::eval
