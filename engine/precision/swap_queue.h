// Swaps from request to publish:
//
//   requested ── a block and a slot ──▶ moving ── the mover ──▶ arrived ── between passes ──▶ published
//
// A promotion takes its new block first, from its pool's spare, and the old one is free when every pass that
// could see it has ended. A request that finds no block waits, in order, for a swap that vacates one in the
// same pool: its demotion, which stands right behind it. Others may overtake it. When no swap that is in
// flight or waits could make its room, and nothing can move out of its way, it is refused and counted; so
// nothing waits for ever, and the arena is never exceeded. A stage that fails leaves the old version serving
// and is counted.
//
// What is in the way of another pool is copied into other blocks of its own size, between passes.
//
// Everything belongs to the engine's thread, which never waits but where it says so; the mover sees a slot's
// Transfer and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/on_demand_cache.h"
#include "engine/precision/policy.h"
#include "engine/precision/swap_events.h"
#include "engine/precision/version_io.h"
#include "engine/precision/version_table.h"

namespace fovea::precision {

struct SwapLimits {
  std::int64_t transfer_bytes = 0;  // bounds what is in flight (and is the transient buffer, where the device
                                    // needs one); 0: in_flight of the largest version
  std::int32_t in_flight = 4;       // swaps between the choice of their block and its predecessor's release
  std::int32_t queue = 32;          // requests that wait to be one of them, or for a block
  // Deterministic: a swap that is decided before the call n of end_pass is published by the call n + this
  // one, which waits for it, and for those that wait for the block it vacates. -1: as soon as it is ready.
  std::int64_t publish_after_passes = -1;
};
// How many swaps may be in flight, with versions of at most so many bytes. ErrorKind::invalid when none may,
// or none may wait.
Result<std::int64_t> swaps_in_flight(const SwapLimits& limits, std::int64_t largest_bytes);

class SwapQueue {
 public:
  // `staging`: where the transient buffer has a part for each of `in_flight` swaps; empty where versions are
  // read into their blocks. All must outlive the queue.
  SwapQueue(VersionTable& versions, OnDemandCache& cache, VersionMover& mover, SwapRecorder& recorder,
            const SwapLimits& limits, std::int64_t in_flight, std::span<std::byte* const> staging);

  // What these do is said at Residency, whose calls they are.
  bool request(const Decision& decision);
  void end_pass();
  bool rest();
  void settle(double seconds);
  void cancel_all();
  void drain();

  struct Lengths {
    std::int32_t queued = 0, reading = 0, ready = 0;  // waiting; read or uploaded; arrived or being reclaimed
    std::int32_t sum() const { return queued + reading + ready; }
  };
  Lengths lengths() const;
  // The transient buffer's parts that no swap uses; waits for one if all do. Empty without such a buffer.
  std::vector<std::byte*> idle_staging();

  std::vector<Block> blocks() const;  // that swaps hold
  Result<void> audit() const;

 private:
  friend struct ResidencyBooks;  // the test that plants errors
  // A swap that holds a block for its new version.
  struct Slot {
    enum class Stage : std::uint8_t { free, moving, arrived };
    Stage stage = Stage::free;
    Decision decision;
    Transfer transfer;
    Block block;
    std::int64_t decided_pass = 0;
    double requested_seconds = 0;

    bool cancelled() const { return transfer.cancelled.load(std::memory_order_relaxed); }
    // It has arrived and waits for its decision.
    bool brought() const {
      return stage == Stage::arrived && decision.ahead && !cancelled() &&
             transfer.outcome == SwapOutcome::published;
    }
  };
  using Stage = Slot::Stage;
  struct Waiting {
    Decision decision;
    std::int64_t decided_pass = 0;
    double requested_seconds = 0;
  };

  bool deterministic() const { return limits_.publish_after_passes >= 0; }
  bool is_due(const Slot& slot) const;
  bool any(Stage stage) const;
  bool any_under_way() const;  // what was brought ahead only waits for its decision
  std::int64_t free_slots() const;
  bool keep(const Decision& decision, double requested_seconds);
  bool bring(const Decision& decision);
  bool release(const Decision& decision);
  void start_waiting();
  bool start(const Waiting& request, Slot& slot);
  void give_up(const Waiting& request, SwapOutcome outcome);
  void give_up(Slot& slot, SwapOutcome outcome);
  void collect();
  void mark_arrived(const Transfer& transfer);
  void wait_for_due();
  void settle(Slot& slot);
  void settle_due();
  void publish(Slot& slot);
  bool empty();
  bool has_room(const Decision& decision) const;
  bool vacates(UnitId unit, std::int64_t bytes) const;
  bool vacates(const Slot& slot, std::int64_t bytes) const;
  void refuse_hopeless(int tries = 64);

  VersionTable& versions_;
  OnDemandCache& cache_;
  VersionMover& mover_;
  SwapRecorder& recorder_;
  const SwapLimits limits_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Waiting> waiting_;  // in order
};

}  // namespace fovea::precision
