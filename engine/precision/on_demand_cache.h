// Units that live on disk alone: a pass that needs some waits until they are read. What was brought stays in
// the arena until others of its kind need the room; who is likely to be needed last goes first.
//
// Free memory is taken first, up to the cache's share; then the room of those that are needed last;
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

// How soon units are likely needed again: each pass visits the layers in order, and in a visit a unit is
// needed with a probability that is estimated by how often and how lately it was: the share of its layer's
// visits that needed it, which fades by half in 50 visits, + 0.1 / (1 + the visits since). docs/swaps.md has
// what each of these parts is worth. Where a prompt needs every unit it is the layers' order alone that
// decides: the layer just passed is the last to come again.
class Demand {
 public:
  explicit Demand(const UnitTable& units);
  void visit(std::int64_t layer);  // whose units are now needed
  void needs(UnitId unit);         // of that layer
  bool just_needed(UnitId unit) const { return of(unit).visit == now_; }
  // Passes until it is likely needed.
  double wait(UnitId unit) const;

 private:
  struct Use {
    double share = 0;               // of visits, at the last need
    std::int64_t layer_visit = -1;  // its layer's visit that needed it last; −1: none
    std::uint64_t visit = 0;        // the same of all visits; 0: none
  };
  const Use& of(UnitId unit) const { return uses_[static_cast<std::size_t>(unit)]; }

  std::vector<std::int32_t> layer_of_;  // [units]
  std::vector<std::int64_t> visits_;    // [layers]
  std::vector<Use> uses_;               // [units]
  std::int64_t layer_ = 0;              // visited last
  std::uint64_t now_ = 0;               // visits of all layers
};

class OnDemandCache {
 public:
  // `max_blocks` is the cache's share of the arena; 0: what the arena has left. All must outlive the cache.
  OnDemandCache(VersionTable& versions, VersionReader& reader, SwapRecorder& recorder,
                std::int64_t max_blocks);

  // The first versions are published: units without one, but for the host's, live on disk alone.
  void begin();
  // `units` are of one layer. Afterwards all of them that live on disk alone are present, until the next
  // call, or the error says which are not: see Residency::need.
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
