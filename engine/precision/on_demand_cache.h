// Units that live on disk alone: a pass that needs some waits until they are read. What was brought stays in
// the arena until others of its kind need the room; who is least likely to be needed soon goes first.
//
// Free memory is taken first, up to the cache's share; then the room of those that are least likely needed;
// and rather than fail, a block that is spare. A unit that a swap moves, or that the same call needs, keeps
// its block.
//
// Everything belongs to the engine's thread. The reader may use threads of its own while need() waits for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/swap_events.h"
#include "engine/precision/version_io.h"
#include "engine/precision/version_table.h"

namespace fovea::precision {

// How likely units are needed again, by how often and how lately they were: the share of passes that needed
// one, which fades by half in 50 passes, + 0.1 / (1 + the passes since). Either part alone reads more on some
// routing (docs/swaps.md). A pass is one need of each layer.
class Demand {
 public:
  Demand(std::int64_t units, std::int64_t layers)
      : layers_(static_cast<double>(layers)), uses_(static_cast<std::size_t>(units)) {}
  void next() { ++calls_; }  // another layer's units are needed
  void needs(UnitId unit);
  bool just_needed(UnitId unit) const { return at(unit).last == calls_; }
  double of(UnitId unit) const;

 private:
  struct Use {
    double share = 0;        // of passes, when it was last needed
    std::uint64_t last = 0;  // call that needed it; 0: none
  };
  const Use& at(UnitId unit) const { return uses_[static_cast<std::size_t>(unit)]; }
  double passes_since(const Use& use) const { return static_cast<double>(calls_ - use.last) / layers_; }

  double layers_;
  std::uint64_t calls_ = 0;
  std::vector<Use> uses_;  // [units]
};

class OnDemandCache {
 public:
  // `layers`: that a pass needs units of. `max_blocks` is the cache's share of the arena; 0: what the arena
  // has left. All must outlive the cache.
  OnDemandCache(VersionTable& versions, VersionReader& reader, SwapRecorder& recorder, std::int64_t layers,
                std::int64_t max_blocks);

  // The first versions are published: units without one, but for the host's, live on disk alone.
  void begin();
  // Afterwards all of `units` that live on disk alone are present, until the next call, or the error says
  // which are not: see Residency::need.
  Result<void> need(std::span<const UnitId> units);

  bool may_need() const { return on_disk_count_ > 0; }
  bool on_disk(UnitId unit) const { return on_disk_[at(unit)] != 0; }
  std::int64_t held() const { return std::ssize(held_); }  // units, at the lowest tier
  // A policy has decided where the unit shall be, whoever brought it.
  void decided(UnitId unit, TierId tier);

  Result<void> audit() const;

 private:
  friend struct ResidencyBooks;  // the test that plants errors
  static std::size_t at(UnitId unit) { return static_cast<std::size_t>(unit); }
  void set_on_disk(UnitId unit, bool value);
  bool holds(UnitId unit) const { return place_[at(unit)] != 0; }
  void hold(UnitId unit);
  void let_go(UnitId unit);
  bool touch(std::span<const UnitId> units);
  Result<std::vector<VersionLoad>> make_room(std::span<const UnitId> units, double begun);
  Result<void> bring(std::span<const VersionLoad> loads, double begun);
  Block room_for(UnitId unit);
  bool evict(std::int64_t wanted_bytes);
  Decision decision(UnitId unit, TierId tier) const {
    return {.unit = unit, .target = tier, .reason = SwapReason::absent};
  }

  VersionTable& versions_;
  VersionReader& reader_;
  SwapRecorder& recorder_;
  const std::int64_t max_blocks_;
  std::vector<std::uint8_t> on_disk_;  // [units]: need() may bring it and take it away again
  std::int64_t on_disk_count_ = 0;
  std::vector<UnitId> held_;          // of these, what is present or being read, in no order
  std::vector<std::uint32_t> place_;  // [units]: of what is held, 1 + its place in held_
  Demand demand_;
};

}  // namespace fovea::precision
