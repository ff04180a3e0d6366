// The arena's books. Only arena.cpp, and the test that plants errors in them, look inside.
#pragma once

#include <algorithm>

#include "engine/precision/arena.h"

namespace fovea::precision {

// A slab that serves a pool. Of its blocks those from `fresh` on were never handed out; the free ones before
// them are a chain of indices.
struct Slab {
  static constexpr std::int32_t none = -1;
  std::int32_t pool = none;
  std::int32_t used = 0;
  std::int32_t fresh = 0;
  std::int32_t first_free = none;
  // In the chain of the pool's slabs with free blocks, or, by `next` alone, of the free slabs.
  std::int32_t previous = none, next = none;
};

struct Arena::State {
  static constexpr std::int32_t none = Slab::none;

  const kernels::Device* device = nullptr;
  std::byte* memory = nullptr;
  std::int64_t slab_bytes = 0;
  std::vector<Slab> slabs;
  std::vector<std::int32_t> next_free;  // [slabs, max_blocks]: the chain of a slab's free blocks
  std::vector<bool> in_use;             // [slabs, max_blocks]
  std::int64_t max_blocks = 0;          // in a slab of the smallest blocks
  std::int32_t first_free_slab = none;
  std::int64_t free_slabs = 0;
  std::vector<PoolUse> pools;
  std::vector<std::int32_t> open_slabs;  // [pools]: first of those with free blocks
  bool any_mix = false;
  // Paged: blocks that come and go one by one, in place of slabs.
  bool paged = false;
  struct Loose {
    std::vector<std::byte*> memory;  // by a block's index
    std::vector<bool> used;
    std::vector<std::int32_t> unused;  // indices
  };
  std::vector<Loose> loose;      // [pools]
  std::int64_t loose_bytes = 0;  // of all that may be in use at once
  bool out_of_memory = false;    // the device had none when it was asked last; until a block is released
  std::int32_t emptying = none;  // in no chain, whatever is free there
  std::int64_t used_bytes = 0;
  std::function<void(std::span<std::byte>)> on_release;

  ~State() {
    for (std::size_t pool = 0; pool < loose.size(); ++pool)
      for (std::byte* const block : loose[pool].memory)
        if (block) device->release(block, pools[pool].block_bytes);
    if (memory) device->release(memory, bytes());
  }
  std::int64_t bytes() const {
    return paged ? loose_bytes : static_cast<std::int64_t>(slabs.size()) * slab_bytes;
  }
  std::int64_t blocks_per_slab(std::int32_t pool) const { return slab_bytes / pool_at(pool).block_bytes; }
  Slab& slab_at(std::int32_t slab) { return slabs[static_cast<std::size_t>(slab)]; }
  const Slab& slab_at(std::int32_t slab) const { return slabs[static_cast<std::size_t>(slab)]; }
  PoolUse& pool_at(std::int32_t pool) { return pools[static_cast<std::size_t>(pool)]; }
  const PoolUse& pool_at(std::int32_t pool) const { return pools[static_cast<std::size_t>(pool)]; }
  std::int32_t& open_at(std::int32_t pool) { return open_slabs[static_cast<std::size_t>(pool)]; }
  std::size_t slot(std::int32_t slab, std::int32_t block) const {
    return static_cast<std::size_t>(slab * max_blocks + block);
  }

  std::int32_t pool_of(std::int64_t block_bytes) const {
    const auto found = std::ranges::lower_bound(pools, block_bytes, {}, &PoolUse::block_bytes);
    if (found == pools.end() || found->block_bytes != block_bytes) return none;
    return static_cast<std::int32_t>(found - pools.begin());
  }

  bool has_free(const Slab& slab) const {
    return slab.first_free != none || slab.fresh < blocks_per_slab(slab.pool);
  }
  // Puts a slab into, or takes it out of, its pool's chain of those with free blocks.
  void open(std::int32_t slab) {
    Slab& s = slab_at(slab);
    s.previous = none;
    s.next = open_at(s.pool);
    if (s.next != none) slab_at(s.next).previous = slab;
    open_at(s.pool) = slab;
  }
  void close(std::int32_t slab) {
    const Slab& s = slab_at(slab);
    (s.previous == none ? open_at(s.pool) : slab_at(s.previous).next) = s.next;
    if (s.next != none) slab_at(s.next).previous = s.previous;
  }

  std::int64_t free_blocks(const Slab& slab) const {
    return slab.pool == none ? 0 : blocks_per_slab(slab.pool) - slab.used;
  }

  // Gives a free slab to the pool.
  bool adopt(std::int32_t pool) {
    if (first_free_slab == none) return false;
    const std::int32_t slab = first_free_slab;
    Slab& s = slab_at(slab);
    first_free_slab = s.next;
    --free_slabs;
    s = {.pool = pool};
    open(slab);
    ++pool_at(pool).slabs;
    pool_at(pool).blocks += blocks_per_slab(pool);
    return true;
  }
  void disown(std::int32_t slab) {
    Slab& s = slab_at(slab);
    --pool_at(s.pool).slabs;
    pool_at(s.pool).blocks -= blocks_per_slab(s.pool);
    s = {};
    s.next = first_free_slab;
    first_free_slab = slab;
    ++free_slabs;
  }

  Block allocate_loose(std::int32_t pool);
  void release_loose(const Block& block);
  Result<void> audit_loose() const;

  void make_books(const ArenaPlan& plan);
  Result<void> audit() const;
  Result<std::int64_t> audit_slab(std::int32_t slab, std::vector<PoolUse>& counted) const;
  Result<void> audit_chains() const;
};

}  // namespace fovea::precision
