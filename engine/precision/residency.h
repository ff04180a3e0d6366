// Which version of each unit is published, and the swap pipeline that changes it:
//
//   read (store → transient buffer) → upload (→ block of the arena) → publish (between passes) → reclaim
//
// The engine's thread requests, publishes and reclaims; one reader thread and one uploader thread do the
// waiting. Until publish the old version serves; a stage that fails leaves it serving and is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/snapshot.h"
#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/precision/arena.h"
#include "engine/precision/policy.h"
#include "engine/precision/tiers.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// Where a unit's weights for the next pass are written: its Weight structs in the model. [units, 3], null for
// parts that a unit does not have.
using Handles = std::vector<std::array<kernels::Weight*, 3>>;

// Where versions are read from. The store, or in tests something that fails on purpose.
class VersionSource {
 public:
  virtual ~VersionSource() = default;
  virtual Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory) = 0;
};

struct ResidencySettings {
  std::int64_t transfer_bytes = 0;         // of the transient buffer: bounds what is in flight
  std::int32_t in_flight = 4;              // swaps between request and publish
  double bytes_per_second = 0;             // limit of the pipeline's traffic; 0: none
  std::int64_t publish_after_passes = -1;  // deterministic: exactly so many passes after the request
};

// What became of a swap, for the events file and the policy.
enum class SwapOutcome : std::uint8_t { published, cancelled, io_error, checksum_error, refused };
struct SwapEvent {
  Decision decision;
  TierId from = no_tier;
  SwapOutcome outcome = SwapOutcome::published;
  std::int64_t bytes = 0;
  std::int64_t pass = 0;  // when it was published or given up
  double seconds = 0;     // from request to outcome
};

class Residency {
 public:
  struct Parts {
    const UnitTable* units = nullptr;
    const TierSet* tiers = nullptr;
    const kernels::Device* device = nullptr;
    VersionSource* source = nullptr;
    Handles handles;
  };
  static Result<std::unique_ptr<Residency>> create(Parts parts, Arena arena,
                                                   const ResidencySettings& settings);
  ~Residency();  // cancels what is in flight and joins

  // Reads the first versions (no_tier: stays on disk alone) before the first pass, with progress;
  // cancellable.
  Result<void> fill(std::span<const TierId> tiers, int threads, const ProgressSink& progress,
                    std::stop_token stop);

  // --- between passes, on the engine's thread ---
  // False: refused (counted): too many in flight, no block, no room in the transient buffer, or the unit is
  // already in flight.
  bool request(const Decision& decision);
  // Publishes what is ready and reclaims old blocks whose readers have ended. Never waits, unless
  // deterministic. Call once after each pass.
  void end_pass();
  void cancel_all();
  // Waits until nothing is in flight and publishes it: tests and the first token of a fixed map.
  void drain();
  // Makes an absent unit present, evicting the least recently needed absent-class unit: the counted stall.
  // Called inside a pass, before the layer reads its experts.
  Result<void> need(std::span<const UnitId> units);

  std::span<const TierId> tiers() const;            // published, [units]
  std::span<const TierId> tiers_or_target() const;  // in flight counts as arrived: what policies look at
  std::int64_t passes() const;
  const SwapCounters& counters() const;
  const Arena& arena() const;
  struct Queues {
    std::int32_t queued = 0, reading = 0, ready = 0;
  };
  Queues queues() const;
  double mean_bits_per_weight() const;
  std::function<void(const SwapEvent&)> on_event;  // on the engine's thread
  Result<void> audit() const;                      // every invariant, counted again

 private:
  struct State;
  explicit Residency(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fovea::precision
