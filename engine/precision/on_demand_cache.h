// Units that live on disk alone: a pass that needs some waits until they are read. What was brought stays in
// the arena until others of its kind need the room; the least recently needed goes first.
//
// Free memory is taken first, up to the cache's share; then the room of those that were not needed for
// longest; and rather than fail, a block that is spare. A unit that a swap moves, or that the same call
// needs, keeps its block.
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

// Units in the order in which they were last needed. Every operation is O(1).
class RecencyList {
 public:
  explicit RecencyList(std::int64_t units) : links_(static_cast<std::size_t>(units)) {}
  bool contains(UnitId unit) const { return at(unit).linked; }
  void insert_newest(UnitId unit);
  void erase(UnitId unit);
  UnitId oldest() const { return oldest_; }  // −1: none
  UnitId newer(UnitId unit) const { return at(unit).newer; }
  std::int64_t size() const { return size_; }

 private:
  struct Link {
    UnitId older = -1, newer = -1;
    bool linked = false;
  };
  Link& at(UnitId unit) { return links_[static_cast<std::size_t>(unit)]; }
  const Link& at(UnitId unit) const { return links_[static_cast<std::size_t>(unit)]; }
  std::vector<Link> links_;  // [units]
  UnitId oldest_ = -1, newest_ = -1;
  std::int64_t size_ = 0;
};

class OnDemandCache {
 public:
  // `max_blocks` is the cache's share of the arena; 0: what the arena has left. All must outlive the cache.
  OnDemandCache(VersionTable& versions, VersionReader& reader, SwapRecorder& recorder,
                std::int64_t max_blocks);

  // The first versions are published: units without one, but for the host's, live on disk alone.
  void begin();
  // Afterwards all of `units` that live on disk alone are present, until the next call, or the error says
  // which are not: see Residency::need.
  Result<void> need(std::span<const UnitId> units);

  bool may_need() const { return on_disk_count_ > 0; }
  bool on_disk(UnitId unit) const { return on_disk_[at(unit)] != 0; }
  std::int64_t held() const { return held_.size(); }  // units, at the lowest tier
  // A policy has decided where the unit shall be, whoever brought it.
  void decided(UnitId unit, TierId tier);

  Result<void> audit() const;

 private:
  friend struct ResidencyBooks;  // the test that plants errors
  static std::size_t at(UnitId unit) { return static_cast<std::size_t>(unit); }
  void set_on_disk(UnitId unit, bool value);
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
  RecencyList held_;                      // of these, what is present or being read
  std::vector<std::uint64_t> needed_in_;  // [units]: the call of need() that last named it
  std::uint64_t calls_ = 0;
};

}  // namespace fovea::precision
