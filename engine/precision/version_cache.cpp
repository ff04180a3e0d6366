#include "engine/precision/version_cache.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/checkpoint/errors.h"
#include "engine/core/log.h"
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

VersionCache::VersionCache(const kernels::Device& device, std::int64_t tiers, std::vector<std::int64_t> sizes,
                           Arena arena)
    : device_(device),
      tiers_(tiers),
      sizes_(std::move(sizes)),
      arena_(std::move(arena)),
      pinned_(static_cast<std::size_t>(arena_.slab_bytes() > 0 ? arena_.bytes() / arena_.slab_bytes() : 0)) {}

Result<std::unique_ptr<VersionCache>> VersionCache::create(const kernels::Device& processor,
                                                           const kernels::Device& device, std::int64_t bytes,
                                                           std::int64_t tiers,
                                                           std::vector<std::int64_t> sizes) {
  FOVEA_TRY(Arena arena, Arena::create(processor, plan(bytes, sizes)));
  return std::unique_ptr<VersionCache>(new VersionCache(device, tiers, std::move(sizes), std::move(arena)));
}

VersionCache::~VersionCache() {
  for (std::size_t slab = 0; slab < pinned_.size(); ++slab)
    if (pinned_[slab]) device_.unpin(arena_.slab(static_cast<std::int32_t>(slab)).data());
}

Result<void> VersionCache::read(UnitId unit, TierId tier, std::span<std::byte> memory,
                                const checkpoint::Pace& pace) {
  return inner_->read(unit, tier, memory, pace);
}

Result<HeldVersion> VersionCache::hold(UnitId unit, TierId tier, const checkpoint::Pace& pace) {
  const std::int64_t version = unit * tiers_ + tier;
  std::unique_lock lock(mutex_);
  if (const auto place = places_.find(version); place != places_.end()) {
    const Entries::iterator entry = place->second;
    if (!entry->is_read) return HeldVersion();  // another thread is reading it
    ++entry->holders;
    lock.unlock();
    HeldVersion found = held(entry);
    // Nothing of the traffic is taken, and a swap that was given up is so.
    if (!pace(0)) return fail(phrases::store_read_place(), errors::store_read_given_up());
    lock.lock();
    entry->used = ++uses_;
    entries_.splice(entries_.end(), entries_, entry);
    bytes_found_ += size(version);
    return found;
  }
  const Block block = room(size(version));
  if (!block) return HeldVersion();
  const auto entry = entries_.insert(entries_.end(), {version, block, ++uses_, 1});
  places_[version] = entry;
  held_bytes_ += size(version);
  lock.unlock();
  HeldVersion mine = held(entry);
  auto read = inner_->read(unit, tier, {block.memory, static_cast<std::size_t>(size(version))}, pace);
  lock.lock();
  entry->is_read = read.has_value();
  if (read) return mine;
  lock.unlock();
  mine.reset();
  return std::unexpected(std::move(read).error());
}

// For one who is counted already; without the lock, which it takes when it is let go. Whoever lets go last of
// a version that could not be read forgets it.
HeldVersion VersionCache::held(Entries::iterator entry) {
  return {entry->block.memory, [this, entry](const std::byte*) {
            const std::scoped_lock lock(mutex_);
            if (--entry->holders == 0 && !entry->is_read) forget(entry);
          }};
}

Block VersionCache::room(std::int64_t bytes) {
  while (true) {
    if (const Block block = arena_.allocate(bytes)) {
      if (pin(block.slab)) return block;
      arena_.release(block);
    }
    if (!make_room(bytes)) return {};
  }
}

bool VersionCache::pin(std::int32_t slab) {
  const auto at = static_cast<std::size_t>(slab);
  if (pinned_[at] || !can_pin_) return pinned_[at];
  const std::span<std::byte> memory = arena_.slab(slab);
  pinned_[at] = can_pin_ = device_.pin(memory.data(), std::ssize(memory));
  if (!can_pin_)
    log::warning("precision", "no more main memory could be pinned than the ", held_bytes_,
                 " bytes of versions that are kept in it: these change places from now on");
  return can_pin_;
}

// A version of the same size makes room at once. Where there is none, or the oldest of all has not been used
// for more than twice as long, the oldest goes with all others of its slab, which is then for any size. What
// somebody holds stays, and its slab. False: there is nothing to forget.
bool VersionCache::make_room(std::int64_t bytes) {
  std::set<std::int32_t> kept;  // slabs
  for (const Entry& entry : entries_)
    if (entry.holders > 0) kept.insert(entry.block.slab);
  const auto alike = std::ranges::find_if(
      entries_, [&](const Entry& e) { return e.holders == 0 && size(e.version) == bytes; });
  const auto oldest =
      std::ranges::find_if(entries_, [&](const Entry& e) { return !kept.contains(e.block.slab); });
  if (alike != entries_.end() &&
      (oldest == entries_.end() || 2 * (uses_ - alike->used) >= uses_ - oldest->used)) {
    forget(alike);
    return true;
  }
  if (oldest == entries_.end()) return false;
  const std::int32_t slab = oldest->block.slab;
  for (auto each = entries_.begin(); each != entries_.end();) {
    const auto entry = each++;
    if (entry->block.slab == slab) forget(entry);
  }
  return true;
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
