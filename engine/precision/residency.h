// Which version of each unit is published, and the swaps that change it:
//
//   read (store → transient buffer) → upload (→ block of the arena) → publish (between passes) → reclaim
//
// The engine's thread requests, publishes and reclaims and never waits; a reader thread and, where the
// device's memory is not the host's, an uploader thread do the waiting. Until publish the old version serves.
//
// What it is made of; each has a state of its own, and says in its header which threads may touch it:
//
//   VersionTable    which version is published, in which block; blocks that wait for their last readers
//   SwapQueue       the swaps from request to publish: their order and every limit
//   OnDemandCache   units on disk alone: what a pass waits for, and who makes room
//   VersionLoader   reads that somebody waits for: the first filling, and the on-demand cache's
//   SwapPipeline    the threads behind the swaps, and TrafficLimit, which slows them down
//
// The first three are the rules. A replay runs the very same ones, over a disk that takes modelled time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/progress.h"
#include "engine/api/snapshot.h"
#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/precision/arena.h"
#include "engine/precision/policy.h"
#include "engine/precision/swap_events.h"
#include "engine/precision/swap_queue.h"
#include "engine/precision/tiers.h"
#include "engine/precision/traffic_limit.h"
#include "engine/precision/version_io.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// Where a unit's weights for the next pass are written: its Weight structs in the model. [units, 3], null for
// parts that a unit does not have.
using Handles = std::vector<std::array<kernels::Weight*, 3>>;

struct ResidencySettings {
  SwapLimits swaps = {};
  std::int32_t reads_at_once = 4;     // by need()
  std::int64_t on_demand_blocks = 0;  // that units on disk alone may take; 0: what the arena has left
  double bytes_per_second = 0;        // limit of the pipeline's reads and copies; 0: none
  Clock* clock = nullptr;             // null: the real one
};

class Residency {
 public:
  struct Parts {
    const UnitTable* units = nullptr;
    const TierSet* tiers = nullptr;
    const kernels::Device* device = nullptr;
    VersionSource* source = nullptr;
    Handles handles;
    // The stream that the passes run in, where they may still run after the host has gone on. Null: a pass
    // has ended when end_pass() is called.
    kernels::Stream* stream = nullptr;
    std::function<void(UnitId)> on_publish = {};  // a unit's handles have changed; on the engine's thread
    // [units]: computed by the host for ever, which keeps its own weights of them. They have no tier, take no
    // block, and cannot be requested. Empty: none.
    std::vector<bool> on_host = {};
    // The host has the others, too: behind the tiers there is one that takes no block, at which it computes
    // them.
    bool host_place = false;
  };
  static Result<std::unique_ptr<Residency>> create(Parts parts, Arena arena,
                                                   const ResidencySettings& settings);
  ~Residency();  // cancels what is in flight and joins

  // Reads the first versions before the first pass, with progress; cancellable. no_tier: the unit is the
  // host's, or stays on disk alone and need() brings it. Once; after an error nothing is published and it may
  // be tried again. `order`: of all units, in which they take their blocks; empty: by number.
  Result<void> fill(std::span<const TierId> tiers, int threads, const ProgressSink& progress,
                    std::stop_token stop, std::span<const UnitId> order = {});

  // --- between passes, on the engine's thread ---
  // False: refused (counted): the queue is full, the unit is already in flight or at this tier, or there is
  // no such tier. A request that is taken may still be refused later, for want of a block; see on_event.
  // Target no_tier gives the unit's memory back and leaves it on disk alone.
  bool request(const Decision& decision);
  // Publishes what is ready and reclaims old blocks whose readers have ended. Never waits, unless
  // deterministic. Call once after each pass.
  void end_pass();
  // No pass follows for a while: publishes and reclaims what is ready, and starts what waits, as end_pass()
  // does, without counting a pass. False: nothing is under way any more, or only further passes publish it
  // (deterministic). Never waits.
  bool rest();
  // As rest(), and waits for what is on its way, so that swaps follow one another although there are few
  // spare blocks: for so many seconds and the version that is being read then.
  void settle(double seconds);
  // Gives up everything that is not published yet. What a thread is just reading ends when it has been read.
  void cancel_all();
  // Waits until nothing is in flight and publishes it: tests and the first token of a fixed map.
  void drain();
  // Makes units that live on disk alone present at the lowest tier: the counted stall. What is missing is
  // read together, a few at once. The units stay until other such units need their room; who is likely
  // needed last goes first. Called inside a pass, before the layer reads its experts: all of `units` are
  // present afterwards, until the next call. ErrorKind::memory, and nothing is read, when they are more than
  // have room at once; ::io and ::format when a version cannot be read.
  Result<void> need(std::span<const UnitId> units);
  bool may_need() const;  // some units live on disk alone
  bool on_host(UnitId unit) const;

  std::span<const TierId> tiers() const;            // published, [units]
  std::span<const TierId> tiers_or_target() const;  // in flight counts as arrived: what policies look at
  std::int64_t passes() const;
  const SwapCounters& counters() const;
  const Arena& arena() const;
  SwapQueue::Lengths queues() const;
  double mean_bits_per_weight() const;
  std::int64_t transfer_bytes() const;              // host memory that the transient buffer takes
  std::function<void(const SwapEvent&)>& on_event;  // on the engine's thread; must not call back
  Result<void> audit() const;                       // every invariant, counted again

 private:
  friend struct ResidencyBooks;  // the test that plants errors
  struct State;
  explicit Residency(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fovea::precision
