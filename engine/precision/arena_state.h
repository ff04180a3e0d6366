// The arena's books. Only arena.cpp, and the test that plants errors in them, look inside.
#pragma once

#include <algorithm>
#include <set>

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
  // Any mix: each pool has a region of its own, small blocks first; in place of slabs.
  struct Region {
    std::int64_t low = 0, high = 0;  // bytes of the arena; equal: empty, and nowhere
    std::set<std::int64_t> unused;   // where blocks between them begin
    bool is_empty() const { return low == high; }
  };
  bool any_mix = false;
  std::int64_t mix_bytes = 0;   // the arena's
  std::vector<Region> regions;  // [pools]
  // The pool that room was made for last and that has not taken it yet: nobody grows towards it meanwhile.
  std::int32_t wishes = none;
  // What is being emptied of a pool's region: what begins before `until`, or from there on.
  struct Emptied {
    std::int32_t pool = none;
    bool at_low = true;
    std::int64_t until = 0;
    bool holds(std::int32_t of, std::int64_t offset) const {
      return of == pool && (at_low ? offset < until : offset >= until);
    }
  } emptied;
  std::int64_t used_bytes = 0;
  std::function<void(std::span<std::byte>)> on_release;

  ~State() {
    if (memory) device->release(memory, bytes());
  }
  std::int64_t bytes() const {
    return any_mix ? mix_bytes : static_cast<std::int64_t>(slabs.size()) * slab_bytes;
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

  Region& region_at(std::int32_t pool) { return regions[static_cast<std::size_t>(pool)]; }
  const Region& region_at(std::int32_t pool) const { return regions[static_cast<std::size_t>(pool)]; }
  // Where the regions before and behind a pool's end and begin.
  std::int64_t floor_of(std::int32_t pool) const;
  std::int64_t ceiling_of(std::int32_t pool) const;
  // Bytes by which its region may grow at this end, in whole blocks.
  std::int64_t growth(std::int32_t pool, bool at_low) const;
  std::int64_t free_in_region(std::int32_t pool) const;  // blocks
  Block allocate_in_region(std::int32_t pool);
  void release_in_region(const Block& block);
  bool begin_emptying_beside(std::int32_t pool, bool at_low);
  Result<void> audit_regions() const;

  void make_books(const ArenaPlan& plan);
  Result<void> audit() const;
  Result<std::int64_t> audit_slab(std::int32_t slab, std::vector<PoolUse>& counted) const;
  Result<void> audit_chains() const;
};

}  // namespace fovea::precision
