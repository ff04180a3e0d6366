// Which version of each unit is published, in which block it lies, and where a swap takes it. What a page
// table is to a buffer pool: it decides nothing, and everybody who decides looks here.
//
// A block has one owner at any time: whoever allocated it, until it is published or given back; the unit,
// while its version is published; and after that the list of retired blocks, until every pass that may read
// it has ended. Only then can the arena give it out again.
//
// Everything belongs to the engine's thread. Other threads write into allocated blocks and see nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/arena.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "engine/precision/version_io.h"
#include "kernels/api/device.h"

namespace fovea::precision {

class VersionTable {
 public:
  struct Parts {
    const UnitTable* units = nullptr;
    std::vector<std::string> tiers = {};   // names, high to low
    std::vector<std::int64_t> bytes = {};  // [units, tiers] of a version's block; 0: it needs none
    std::vector<bool> on_host = {};        // [units]: without a version, for ever; empty: none
    // The stream that the passes run in, where they may still run after the host has gone on. Null: every
    // pass has ended when a version is published.
    const kernels::Device* device = nullptr;
    kernels::Stream* stream = nullptr;
    std::int64_t max_retired = 0;  // blocks at once
    // A unit has another version. Where it needs none the block is empty.
    std::function<void(UnitId unit, TierId from, TierId to, const Block& block)> on_change = {};
  };
  // ErrorKind::device when the device makes no events.
  static Result<std::unique_ptr<VersionTable>> create(Parts parts, Arena arena);

  const UnitTable& table() const { return *parts_.units; }
  std::int64_t units() const { return std::ssize(tiers_); }
  std::string name(UnitId unit) const { return parts_.units->name(unit); }
  bool is_unit(UnitId unit) const { return unit >= 0 && unit < units(); }
  bool is_tier(TierId tier) const { return tier < parts_.tiers.size(); }
  TierId lowest() const { return static_cast<TierId>(parts_.tiers.size() - 1); }
  bool on_host(UnitId unit) const { return !parts_.on_host.empty() && parts_.on_host[at(unit)]; }
  std::int64_t bytes_of(UnitId unit, TierId tier) const;  // of a version's block; no_tier: 0
  const Arena& arena() const { return arena_; }

  // --- blocks ---
  // For a version of the unit; empty where the arena has no room.
  Block allocate(UnitId unit, TierId tier) { return arena_.allocate(bytes_of(unit, tier)); }
  void give_back(const Block& block) { arena_.release(block); }  // that no pass has seen
  bool begin_emptying(UnitId unit, TierId tier) { return arena_.begin_emptying(bytes_of(unit, tier)); }
  void stop_emptying() { arena_.stop_emptying(); }
  // Blocks for the first version of every unit that shall have one, tier after tier and unit after unit or in
  // `order`; answers them in the order of the store. ErrorKind::memory names the one that finds no room; then
  // none is taken.
  Result<std::vector<VersionLoad>> reserve(std::span<const TierId> first, std::span<const UnitId> order = {});

  // --- what is published ---
  TierId tier(UnitId unit) const { return tiers_[at(unit)]; }
  std::span<const TierId> tiers() const { return tiers_; }
  // From now on passes see this version: no_tier with an empty block for none. The old one's block is
  // retired.
  void publish(UnitId unit, TierId tier, const Block& block);
  // Takes the version away, and its block at once: waits for the passes that may read it.
  void take_away(UnitId unit);
  bool retires_late() const { return parts_.stream != nullptr; }  // old blocks wait for passes
  // Copies the version that is published into another block of its size, which passes see from now on. Where
  // no pass is under way it waits for the copy. False: there is none, or its old block would be one too many
  // to retire.
  bool move(UnitId unit);
  const Block& block(UnitId unit) const { return blocks_[at(unit)]; }
  // What reserve() gave, now that it is read, and what needs no block. From then on swaps may begin.
  void publish_first(std::span<const VersionLoad> loads, std::span<const TierId> first);
  bool filled() const { return filled_; }

  // --- retired blocks ---
  std::int64_t retired() const { return retired_count_; }
  bool retires(std::int64_t bytes) const;  // a block of this size
  void reclaim();                          // those whose passes have ended
  void reclaim_all();                      // waits for their passes

  // --- what a swap takes elsewhere ---
  bool in_flight(UnitId unit) const { return in_flight_[at(unit)] != 0; }
  std::span<const TierId> targets() const { return targets_; }  // in flight counts as arrived
  void begin_swap(UnitId unit, TierId target);
  void give_up_swap(UnitId unit) { targets_[at(unit)] = tiers_[at(unit)]; }  // still in flight
  void end_swap(UnitId unit);

  // Counted again: each unit has one version or none, in a block of its size, and no block has two owners.
  // `unpublished`: the blocks that others have allocated.
  Result<void> audit(std::span<const Block> unpublished) const;

 private:
  friend struct ResidencyBooks;  // the test that plants errors
  struct Retired {
    Block block;  // empty: unused
    std::unique_ptr<kernels::Event> readers_ended;
  };
  VersionTable(Parts parts, Arena arena);
  static std::size_t at(UnitId unit) { return static_cast<std::size_t>(unit); }
  std::int64_t block_bytes(const Block& block) const {
    return arena_.pools()[static_cast<std::size_t>(block.pool)].block_bytes;
  }
  Block exchange(UnitId unit, TierId tier, const Block& block);
  void retire(const Block& block);
  void free(Retired& retired);
  Result<void> audit_owners(std::span<const Block> unpublished) const;

  Parts parts_;
  Arena arena_;
  std::vector<TierId> tiers_;                // [units] published
  std::vector<TierId> targets_;              // [units]
  std::vector<Block> blocks_;                // [units]
  std::vector<std::uint8_t> in_flight_;      // [units]
  std::vector<Retired> retired_;             // [max_retired] where there is a stream
  std::unique_ptr<kernels::Stream> moving_;  // of a device whose memory is out of reach, where there is none
  std::int64_t retired_count_ = 0;
  bool filled_ = false;
};

}  // namespace fovea::precision
