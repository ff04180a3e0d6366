#include "engine/precision/version_table.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "engine/core/device_words.h"
#include "engine/precision/errors.h"

namespace fovea::precision {

VersionTable::VersionTable(Parts parts, Arena arena) : parts_(std::move(parts)), arena_(std::move(arena)) {
  const auto units = static_cast<std::size_t>(parts_.units->size());
  tiers_.assign(units, no_tier);
  targets_.assign(units, no_tier);
  blocks_.assign(units, {});
  in_flight_.assign(units, 0);
}

Result<std::unique_ptr<VersionTable>> VersionTable::create(Parts parts, Arena arena) {
  assert(std::ssize(parts.bytes) == parts.units->size() * std::ssize(parts.tiers));
  std::unique_ptr<VersionTable> table(new VersionTable(std::move(parts), std::move(arena)));
  const Parts& p = table->parts_;
  if (!p.stream) return table;
  for (std::int64_t i = 0; i < p.max_retired; ++i) {
    Retired& retired = table->retired_.emplace_back();
    retired.readers_ended = p.device->make_event();
    if (!retired.readers_ended) return device_failed(p.device->name(), p.stream->failure());
  }
  return table;
}

std::int64_t VersionTable::bytes_of(UnitId unit, TierId tier) const {
  return tier == no_tier ? 0 : parts_.bytes[at(unit) * parts_.tiers.size() + tier];
}

Result<std::vector<VersionLoad>> VersionTable::reserve(std::span<const TierId> first,
                                                       std::span<const UnitId> order) {
  std::vector<UnitId> all(order.begin(), order.end());
  if (all.empty()) {
    all.resize(tiers_.size());
    std::iota(all.begin(), all.end(), 0);
  }
  std::vector<VersionLoad> loads;
  for (TierId tier = 0; is_tier(tier); ++tier)
    for (const UnitId unit : all)
      if (first[at(unit)] == tier && bytes_of(unit, tier) > 0) loads.push_back({unit, tier, {}});
  // Regions lie by their blocks' sizes, one beside the other: each is whole before the next one begins.
  if (arena_.any_mix())
    std::ranges::stable_sort(loads, std::greater(),
                             [this](const VersionLoad& load) { return bytes_of(load.unit, load.tier); });
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto [unit, tier] = std::pair(loads[i].unit, loads[i].tier);
    loads[i].block = allocate(unit, tier);
    if (loads[i].block) continue;
    for (std::size_t given = 0; given < i; ++given) give_back(loads[given].block);
    return fail(phrases::arena_place(),
                errors::no_block_for_first_version(name(unit), parts_.tiers[tier],
                                                   static_cast<std::int64_t>(i) + 1, Bytes{arena_.bytes()}));
  }
  std::ranges::sort(loads, {}, [](const VersionLoad& load) { return std::pair(load.tier, load.unit); });
  return loads;
}

void VersionTable::publish_first(std::span<const VersionLoad> loads, std::span<const TierId> first) {
  for (const VersionLoad& load : loads) publish(load.unit, load.tier, load.block);
  for (UnitId unit = 0; unit < units(); ++unit)
    if (first[at(unit)] != no_tier && bytes_of(unit, first[at(unit)]) == 0)
      publish(unit, first[at(unit)], {});
  filled_ = true;
}

// Answers the old version's block. A unit that no swap takes elsewhere is where it goes.
Block VersionTable::exchange(UnitId unit, TierId tier, const Block& block) {
  const TierId from = tiers_[at(unit)];
  if (targets_[at(unit)] == from) targets_[at(unit)] = tier;
  tiers_[at(unit)] = tier;
  const Block old = std::exchange(blocks_[at(unit)], block);
  if (parts_.on_change) parts_.on_change(unit, from, tier, block);
  return old;
}

void VersionTable::publish(UnitId unit, TierId tier, const Block& block) {
  if (const Block old = exchange(unit, tier, block)) retire(old);
}

void VersionTable::take_away(UnitId unit) {
  if (parts_.stream) parts_.stream->synchronize();
  arena_.release(exchange(unit, no_tier, {}));
}

bool VersionTable::move(UnitId unit) {
  if (parts_.stream && retired_count_ == std::ssize(retired_)) return false;
  const bool apart = parts_.device && !parts_.device->memory_is_host();
  if (apart && !parts_.stream && !moving_)
    moving_ = parts_.device->make_stream({.threads = 1, .background = true});
  kernels::Stream* const stream = parts_.stream ? parts_.stream : moving_.get();
  if (apart && !stream) return false;
  const Block block = allocate(unit, tier(unit));
  if (!block) return false;
  const std::int64_t bytes = bytes_of(unit, tier(unit));
  if (block.memory && stream) {
    parts_.device->copy_within(block.memory, blocks_[at(unit)].memory, bytes, bytes, 1, *stream);
    if (moving_) moving_->synchronize();
  } else if (block.memory) {
    std::memcpy(block.memory, blocks_[at(unit)].memory, static_cast<std::size_t>(bytes));
  }
  publish(unit, tier(unit), block);
  return true;
}

// Every pass that could see the version was begun before the event's mark.
void VersionTable::retire(const Block& block) {
  if (!parts_.stream) return arena_.release(block);
  const auto unused = std::ranges::find_if(retired_, [](const Retired& retired) { return !retired.block; });
  assert(unused != retired_.end());
  unused->block = block;
  ++retired_count_;
  parts_.device->record(*unused->readers_ended, *parts_.stream);
}

void VersionTable::free(Retired& retired) {
  arena_.release(std::exchange(retired.block, {}));
  --retired_count_;
}

bool VersionTable::retires(std::int64_t bytes) const {
  return std::ranges::any_of(
      retired_, [&](const Retired& retired) { return retired.block && block_bytes(retired.block) == bytes; });
}

void VersionTable::reclaim() {
  if (retired_count_ == 0) return;
  for (Retired& retired : retired_) {
    if (retired.block && retired.readers_ended->done()) free(retired);
  }
}

void VersionTable::reclaim_all() {
  for (Retired& retired : retired_) {
    if (!retired.block) continue;
    retired.readers_ended->wait();
    free(retired);
  }
}

void VersionTable::begin_swap(UnitId unit, TierId target) {
  in_flight_[at(unit)] = 1;
  targets_[at(unit)] = target;
}

void VersionTable::end_swap(UnitId unit) {
  in_flight_[at(unit)] = 0;
  targets_[at(unit)] = tiers_[at(unit)];
}

Result<void> VersionTable::audit(std::span<const Block> unpublished) const {
  FOVEA_CHECK(arena_.audit());
  for (UnitId unit = 0; unit < units(); ++unit) {
    const auto wrong = [&](Error error) { return fail(phrases::name_place(name(unit)), std::move(error)); };
    const TierId tier = tiers_[at(unit)];
    const Block& block = blocks_[at(unit)];
    if (tier != no_tier && !is_tier(tier)) return wrong(errors::unit_at_unknown_tier(tier));
    if (static_cast<bool>(block) != (bytes_of(unit, tier) > 0)) return wrong(errors::unit_block_and_tier());
    if (block && block_bytes(block) != bytes_of(unit, tier))
      return wrong(errors::unit_block_size(Bytes{block_bytes(block)}, Bytes{bytes_of(unit, tier)}));
    if (block && on_host(unit)) return wrong(errors::unit_on_host_and_device());
    if (!in_flight(unit) && targets_[at(unit)] != tier)
      return wrong(errors::unit_goes_nowhere(targets_[at(unit)]));
  }
  return audit_owners(unpublished);
}

// Each block has one owner, and the owners' blocks are all that the arena gave away.
Result<void> VersionTable::audit_owners(std::span<const Block> unpublished) const {
  std::set<std::pair<std::int32_t, std::int32_t>> owned;
  std::int64_t bytes = 0, retired_blocks = 0;
  bool once = true;
  const auto own = [&](const Block& block) {
    if (!block) return;
    bytes += block_bytes(block);
    once = owned.insert({block.slab, block.index}).second && once;
  };
  for (const Block& block : blocks_) own(block);
  for (const Block& block : unpublished) own(block);
  for (const Retired& retired : retired_) {
    own(retired.block);
    retired_blocks += static_cast<bool>(retired.block);
  }
  const auto wrong = [](Error error) { return fail(phrases::residency_place(), std::move(error)); };
  if (!once) return wrong(errors::block_of_two_owners());
  if (retired_blocks != retired_count_) return wrong(errors::retired_blocks(retired_count_, retired_blocks));
  if (bytes != arena_.used_bytes())
    return wrong(errors::owned_bytes(Bytes{bytes}, Bytes{arena_.used_bytes()}));
  if (arena_.used_bytes() > arena_.bytes())
    return wrong(errors::used_beyond_arena(Bytes{arena_.used_bytes()}, Bytes{arena_.bytes()}));
  return {};
}

}  // namespace fovea::precision
