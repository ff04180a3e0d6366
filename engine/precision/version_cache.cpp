#include "engine/precision/version_cache.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "engine/checkpoint/errors.h"
#include "engine/core/result.h"

namespace fovea::precision {

// Slabs of eight of the largest, so that little is left over at a slab's end; of fewer where there would be
// too few slabs for versions of every size.
ArenaPlan VersionCache::plan(std::int64_t bytes, std::span<const std::int64_t> sizes) {
  constexpr std::int64_t largest_in_slab = 8, slabs_of_a_size = 4;
  std::set<std::int64_t> blocks(sizes.begin(), sizes.end());
  blocks.erase(0);
  if (blocks.empty()) return {};
  const std::int64_t largest = *blocks.rbegin();
  const std::int64_t in_slab = bytes / largest / (slabs_of_a_size * std::ssize(blocks));
  const std::int64_t slab = largest * std::clamp<std::int64_t>(in_slab, 1, largest_in_slab);
  return {.slab_bytes = slab, .slabs = bytes / slab, .block_bytes = {blocks.begin(), blocks.end()}};
}

Result<std::unique_ptr<VersionCache>> VersionCache::create(const kernels::Device& processor,
                                                           std::int64_t bytes, std::int64_t tiers,
                                                           std::vector<std::int64_t> sizes) {
  FOVEA_TRY(Arena arena, Arena::create(processor, plan(bytes, sizes)));
  return std::unique_ptr<VersionCache>(new VersionCache(tiers, std::move(sizes), std::move(arena)));
}

Result<void> VersionCache::read(UnitId unit, TierId tier, std::span<std::byte> memory,
                                const checkpoint::Pace& pace) {
  if (!pace) return inner_->read(unit, tier, memory, pace);
  const std::int64_t version = unit * tiers_ + tier;
  if (find(version, memory)) {
    if (pace(0)) return {};  // nothing of the traffic is taken, and a swap that was given up is so
    return fail(phrases::store_read_place(), errors::store_read_given_up());
  }
  FOVEA_CHECK(inner_->read(unit, tier, memory, pace));
  keep(version, memory);
  return {};
}

bool VersionCache::find(std::int64_t version, std::span<std::byte> memory) {
  const std::scoped_lock lock(mutex_);
  const auto place = places_.find(version);
  if (place == places_.end()) return false;
  entries_.splice(entries_.end(), entries_, place->second);
  place->second->used = ++uses_;
  std::memcpy(memory.data(), place->second->block.memory, memory.size());
  bytes_found_ += std::ssize(memory);
  return true;
}

void VersionCache::keep(std::int64_t version, std::span<const std::byte> memory) {
  const std::scoped_lock lock(mutex_);
  if (places_.contains(version)) return;  // another thread has read it, too
  const Block block = room(size(version));
  if (!block) return;
  std::memcpy(block.memory, memory.data(), memory.size());
  places_[version] = entries_.insert(entries_.end(), {version, block, ++uses_});
  held_bytes_ += size(version);
}

// A version of the same size makes room at once. Where there is none, or the oldest of all has not been used
// for more than twice as long, the oldest goes with all others of its slab, which is then for any size.
Block VersionCache::room(std::int64_t bytes) {
  while (true) {
    if (const Block block = arena_.allocate(bytes)) return block;
    if (entries_.empty()) return {};
    const auto alike =
        std::ranges::find_if(entries_, [&](const Entry& e) { return size(e.version) == bytes; });
    const Entry& oldest = entries_.front();
    if (alike != entries_.end() && 2 * (uses_ - alike->used) >= uses_ - oldest.used) {
      forget(alike);
      continue;
    }
    const std::int32_t slab = oldest.block.slab;
    for (auto each = entries_.begin(); each != entries_.end();) {
      const auto entry = each++;
      if (entry->block.slab == slab) forget(entry);
    }
  }
}

void VersionCache::forget(Entries::iterator entry) {
  arena_.release(entry->block);
  held_bytes_ -= size(entry->version);
  places_.erase(entry->version);
  entries_.erase(entry);
}

VersionCache::Use VersionCache::use() const {
  const std::scoped_lock lock(mutex_);
  return {.held_bytes = held_bytes_, .bytes_found = bytes_found_};
}

}  // namespace fovea::precision
