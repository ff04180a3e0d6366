// The budgeted device memory for published versions: an arena of equal slabs; a slab serves one pool, whose
// blocks all have one size, and when empty it goes back to the free slabs, for any pool. Everything is O(1)
// and nothing is allocated after start-up.
//
// A pool takes a slab only when all of its slabs are full. So a pool whose use never exceeds n blocks never
// holds more than ⌈n / blocks of a slab⌉ slabs, and a plan that counts those for every tier's capacity and
// spare block cannot be starved by the order of what happens.
//
// Where any mix shall have room (ArenaPlan::any_mix) there are no slabs: each pool has a region, and between
// two regions what is free of both. Where a pool needs room that lies elsewhere, its neighbour's blocks move
// out of the way (begin_emptying), so that nothing is lost but less than a block between two regions.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/planner.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// Aligned to 4,096 bytes.
struct Block {
  std::byte* memory = nullptr;  // null in an arena without memory
  std::int32_t pool = -1;
  std::int32_t slab = -1;
  std::int32_t index = -1;  // in the slab; of a region the page of the arena where it begins

  explicit operator bool() const { return slab >= 0; }
};

class Arena {
 public:
  // Takes plan.bytes() from the device, at once. ErrorKind::memory.
  static Result<Arena> create(const kernels::Device& device, const ArenaPlan& plan);
  // The same blocks, of which no device holds a byte: for a replay.
  static Result<Arena> without_memory(const ArenaPlan& plan);
  Arena(Arena&&) noexcept;
  Arena& operator=(Arena&&) noexcept;
  ~Arena();

  // A block of the pool whose blocks have exactly `bytes`; an empty Block when pool and free slabs are used
  // up.
  Block allocate(std::int64_t bytes);
  void release(const Block& block);

  struct PoolUse {
    std::int64_t block_bytes = 0, slabs = 0, blocks = 0, used = 0;
  };
  std::span<const PoolUse> pools() const;
  // Blocks that the pool has; where its arena serves any mix, with all that it could have now.
  std::int64_t reach(std::size_t pool) const;
  std::int64_t slab_bytes() const;
  std::span<std::byte> slab(std::int32_t slab) const;  // its memory
  std::int64_t bytes() const;                          // of all slabs
  std::int64_t used_bytes() const;                     // of the blocks in use
  std::int64_t free_slabs() const;
  std::int64_t available(std::int64_t bytes) const;  // blocks of this size that allocate() would give now

  bool any_mix() const;
  // Where any mix shall have room: begins to empty the end of a region, so that a pool beside it has room for
  // such a block, or is nearer to it. allocate() gives none of its blocks any more; when the last one is
  // released the region ends before them, and that room is kept for the pool until it takes it or another one
  // asks. One at a time. False: nothing has so much room, or there is room now.
  bool begin_emptying(std::int64_t bytes);
  bool is_emptying() const;
  bool empties(const Block& block) const;  // which is to move
  void stop_emptying();                    // they serve again

  // Called with a block's bytes when it is released, before it can be given out again: tests poison them.
  void on_release(std::function<void(std::span<std::byte>)> observer);
  // Counts everything again and compares with the running numbers; a debug build does so after each
  // operation. ErrorKind::internal names the difference.
  Result<void> audit() const;

 private:
  friend struct ArenaBooks;  // the test that plants errors
  struct State;
  explicit Arena(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fovea::precision
