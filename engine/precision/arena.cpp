#include "engine/precision/arena.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <new>

#include "engine/precision/arena_state.h"
#include "engine/precision/errors.h"
#include "engine/precision/tiers.h"

namespace fovea::precision {

namespace {

std::unexpected<Error> wrong(Error error) {
  return fail(phrases::arena_place(), std::move(error));
}

Result<void> check(const ArenaPlan& plan) {
  if (plan.slabs == 0 && plan.slab_bytes == 0 && plan.block_bytes.empty())
    return {};  // every unit is elsewhere
  if (plan.slabs < 0 || plan.slab_bytes <= 0 || plan.slab_bytes % version_alignment != 0)
    return wrong(errors::arena_slab_size(plan.slabs, Bytes{plan.slab_bytes}, Bytes{version_alignment}));
  std::int64_t before = 0;
  for (const std::int64_t bytes : plan.block_bytes) {
    if (bytes <= before || bytes % version_alignment != 0 || (bytes > plan.slab_bytes && !plan.any_mix))
      return wrong(errors::arena_block_size(Bytes{bytes}, Bytes{version_alignment}, Bytes{plan.slab_bytes}));
    before = bytes;
  }
  return {};
}

}  // namespace

Arena::Arena(std::unique_ptr<State> state) : state_(std::move(state)) {}
Arena::Arena(Arena&&) noexcept = default;
Arena& Arena::operator=(Arena&&) noexcept = default;
Arena::~Arena() = default;

Result<Arena> Arena::without_memory(const ArenaPlan& plan) {
  FOVEA_CHECK(check(plan));
  auto state = std::make_unique<State>();
  state->slab_bytes = plan.slab_bytes;
  state->make_books(plan);
  return Arena(std::move(state));
}

Result<Arena> Arena::create(const kernels::Device& device, const ArenaPlan& plan) {
  const auto no_memory = [&] {
    return wrong(errors::no_memory_for_arena(device.name(), plan.slabs, Bytes{plan.slab_bytes}));
  };
  try {
    FOVEA_TRY(Arena arena, without_memory(plan));
    if (plan.slabs == 0) return arena;
    State& state = *arena.state_;
    state.device = &device;
    state.memory = device.allocate(state.bytes());
    if (!state.memory) return no_memory();
    return arena;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

void Arena::State::make_books(const ArenaPlan& plan) {
  any_mix = plan.any_mix;
  for (const std::int64_t bytes : plan.block_bytes) pools.push_back({.block_bytes = bytes});
  if (any_mix) {
    regions.resize(pools.size());
    mix_bytes = plan.bytes();
    return;
  }
  slabs.resize(static_cast<std::size_t>(plan.slabs));
  open_slabs.assign(pools.size(), none);
  if (!plan.block_bytes.empty()) max_blocks = slab_bytes / plan.block_bytes.front();
  next_free.assign(slabs.size() * static_cast<std::size_t>(max_blocks), none);
  in_use.assign(next_free.size(), false);
  for (auto slab = static_cast<std::int32_t>(plan.slabs) - 1; slab >= 0; --slab) {
    slab_at(slab).next = first_free_slab;
    first_free_slab = slab;
  }
  free_slabs = plan.slabs;
}

Block Arena::allocate(std::int64_t bytes) {
  State& a = *state_;
  const std::int32_t pool = a.pool_of(bytes);
  if (pool == Slab::none) return {};
  if (a.any_mix) return a.allocate_in_region(pool);
  if ((a.open_at(pool) == Slab::none && !a.adopt(pool))) return {};
  const std::int32_t slab = a.open_at(pool);
  Slab& s = a.slab_at(slab);
  const std::int32_t index = s.first_free != Slab::none ? s.first_free : s.fresh++;
  if (s.first_free != Slab::none) s.first_free = a.next_free[a.slot(slab, index)];
  if (!a.has_free(s)) a.close(slab);
  ++s.used;
  a.in_use[a.slot(slab, index)] = true;
  ++a.pool_at(pool).used;
  a.used_bytes += bytes;
  assert(audit());
  return {a.memory ? a.memory + slab * a.slab_bytes + index * bytes : nullptr, pool, slab, index};
}

void Arena::release(const Block& block) {
  State& a = *state_;
  if (a.any_mix) return a.release_in_region(block);
  Slab& s = a.slab_at(block.slab);
  PoolUse& pool = a.pool_at(block.pool);
  assert(block && s.pool == block.pool && a.in_use[a.slot(block.slab, block.index)]);
  if (a.on_release) a.on_release({block.memory, static_cast<std::size_t>(pool.block_bytes)});
  a.in_use[a.slot(block.slab, block.index)] = false;
  a.next_free[a.slot(block.slab, block.index)] = s.first_free;
  const bool was_full = !a.has_free(s);
  s.first_free = block.index;
  --pool.used;
  a.used_bytes -= pool.block_bytes;
  --s.used;
  if (was_full) a.open(block.slab);
  if (s.used == 0) {
    a.close(block.slab);
    a.disown(block.slab);
  }
  assert(audit());
}

std::span<const Arena::PoolUse> Arena::pools() const {
  return state_->pools;
}
std::int64_t Arena::reach(std::size_t pool) const {
  const PoolUse& use = state_->pools[pool];
  return state_->any_mix ? use.used + available(use.block_bytes) : use.blocks;
}
std::int64_t Arena::slab_bytes() const {
  return state_->slab_bytes;
}
std::span<std::byte> Arena::slab(std::int32_t slab) const {
  const State& a = *state_;
  return {a.memory + slab * a.slab_bytes, static_cast<std::size_t>(a.slab_bytes)};
}
std::int64_t Arena::bytes() const {
  return state_->bytes();
}
std::int64_t Arena::used_bytes() const {
  return state_->used_bytes;
}
std::int64_t Arena::free_slabs() const {
  return state_->free_slabs;
}
std::int64_t Arena::available(std::int64_t bytes) const {
  const State& a = *state_;
  const std::int32_t pool = a.pool_of(bytes);
  if (pool == Slab::none) return 0;
  const PoolUse& use = a.pool_at(pool);
  if (a.any_mix) return a.free_in_region(pool);
  return use.blocks - use.used + a.free_slabs * a.blocks_per_slab(pool);
}

bool Arena::any_mix() const {
  return state_->any_mix;
}
bool Arena::begin_emptying(std::int64_t bytes) {
  State& a = *state_;
  const std::int32_t pool = a.pool_of(bytes);
  if (!a.any_mix || is_emptying() || pool == Slab::none || available(bytes) > 0) return false;
  a.wishes = pool;
  if (available(bytes) > 0) return false;  // room that was made for another one
  return a.begin_emptying_beside(pool, false) || a.begin_emptying_beside(pool, true);
}
bool Arena::is_emptying() const {
  return state_->emptied.pool != Slab::none;
}
bool Arena::empties(const Block& block) const {
  return block && state_->emptied.holds(block.pool, block.index * version_alignment);
}
void Arena::stop_emptying() {
  state_->emptied = {};
  state_->wishes = Slab::none;
}
void Arena::on_release(std::function<void(std::span<std::byte>)> observer) {
  state_->on_release = std::move(observer);
}

// Counts a slab's blocks by its bitmap and by its chain; answers how many are used.
Result<std::int64_t> Arena::State::audit_slab(std::int32_t slab, std::vector<PoolUse>& counted) const {
  const auto wrong = [&](Error error) { return fail(phrases::arena_slab_place(slab), std::move(error)); };
  const Slab& s = slab_at(slab);
  const std::int64_t count = s.pool == Slab::none ? 0 : blocks_per_slab(s.pool);
  std::int64_t used = 0;
  for (std::int32_t block = 0; block < max_blocks; ++block) {
    if (!in_use[slot(slab, block)]) continue;
    if (block >= count) return wrong(errors::slab_uses_block_outside(block, count));
    ++used;
  }
  if (used != s.used) return wrong(errors::slab_used_blocks(s.used, used));
  if (s.pool == Slab::none) return 0;
  if (used == 0) return wrong(errors::slab_unused_in_pool());
  std::int64_t free = count - s.fresh;
  for (std::int32_t block = s.first_free; block != Slab::none; block = next_free[slot(slab, block)]) {
    if (in_use[slot(slab, block)]) return wrong(errors::slab_offers_used_block(block));
    if (++free > count) return wrong(errors::slab_free_chain(free, count - used));
  }
  if (free != count - used) return wrong(errors::slab_free_blocks(free, count - used));
  PoolUse& pool = counted[static_cast<std::size_t>(s.pool)];
  ++pool.slabs;
  pool.blocks += count;
  pool.used += used;
  return used;
}

Result<void> Arena::State::audit_chains() const {
  std::int64_t free = 0;
  for (std::int32_t slab = first_free_slab; slab != Slab::none; slab = slab_at(slab).next) {
    if (slab_at(slab).pool != Slab::none || ++free > free_slabs)
      return wrong(errors::arena_slab_not_free(slab));
  }
  if (free != free_slabs) return wrong(errors::arena_free_slabs(free_slabs, free));
  std::int64_t open = 0, with_free = 0;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    for (std::int32_t slab = open_slabs[pool]; slab != Slab::none; slab = slab_at(slab).next) {
      if (slab_at(slab).pool != static_cast<std::int32_t>(pool) || !has_free(slab_at(slab)) ||
          ++open > static_cast<std::int64_t>(slabs.size()))
        return wrong(errors::arena_slab_wrongly_open(slab, static_cast<std::int64_t>(pool)));
    }
  }
  for (const Slab& slab : slabs) with_free += slab.pool != Slab::none && has_free(slab);
  if (open != with_free) return wrong(errors::arena_open_slabs(open, with_free));
  return {};
}

std::int64_t Arena::State::floor_of(std::int32_t pool) const {
  while (--pool >= 0)
    if (!region_at(pool).is_empty()) return region_at(pool).high;
  return 0;
}
std::int64_t Arena::State::ceiling_of(std::int32_t pool) const {
  while (++pool < static_cast<std::int32_t>(regions.size()))
    if (!region_at(pool).is_empty()) return region_at(pool).low;
  return mix_bytes;
}

std::int64_t Arena::State::growth(std::int32_t pool, bool at_low) const {
  if (emptied.pool == pool && emptied.at_low == at_low) return 0;
  if (wishes != none && wishes != pool && (wishes < pool) == at_low) return 0;
  const Region& region = region_at(pool);
  const std::int64_t gap = at_low ? region.low - floor_of(pool) : ceiling_of(pool) - region.high;
  return gap / pool_at(pool).block_bytes * pool_at(pool).block_bytes;
}

std::int64_t Arena::State::free_in_region(std::int32_t pool) const {
  const Region& region = region_at(pool);
  const std::int64_t bytes = pool_at(pool).block_bytes;
  if (region.is_empty()) return (ceiling_of(pool) - floor_of(pool)) / bytes;
  const auto serves = [&](std::int64_t offset) { return !emptied.holds(pool, offset); };
  return std::ranges::count_if(region.unused, serves) + (growth(pool, true) + growth(pool, false)) / bytes;
}

// The first region begins at the arena's beginning, the others grow towards it.
Block Arena::State::allocate_in_region(std::int32_t pool) {
  Region& region = region_at(pool);
  PoolUse& use = pool_at(pool);
  const std::int64_t bytes = use.block_bytes;
  // In the middle, so that the ends stay free to move.
  const std::int64_t middle = (region.low + region.high - bytes) / 2;
  std::int64_t offset = -1;
  for (const std::int64_t unused : region.unused)
    if (!emptied.holds(pool, unused) && (offset < 0 || std::abs(unused - middle) < std::abs(offset - middle)))
      offset = unused;
  if (offset >= 0) {
    region.unused.erase(offset);
  } else if (region.is_empty()) {
    if (ceiling_of(pool) - floor_of(pool) < bytes) return {};
    offset = pool == 0 ? floor_of(pool) : ceiling_of(pool) - bytes;
    region.low = offset;
    region.high = offset + bytes;
  } else if (growth(pool, true) > 0) {
    offset = region.low -= bytes;
  } else if (growth(pool, false) > 0) {
    offset = region.high;
    region.high += bytes;
  } else {
    return {};
  }
  if (wishes == pool) wishes = none;
  ++use.used;
  use.blocks = (region.high - region.low) / bytes;
  used_bytes += bytes;
  assert(audit());
  return {memory ? memory + offset : nullptr, pool, pool,
          static_cast<std::int32_t>(offset / version_alignment)};
}

void Arena::State::release_in_region(const Block& block) {
  Region& region = region_at(block.pool);
  PoolUse& use = pool_at(block.pool);
  const std::int64_t bytes = use.block_bytes, offset = block.index * version_alignment;
  assert(block && offset >= region.low && offset < region.high && !region.unused.contains(offset));
  if (on_release) on_release({block.memory, static_cast<std::size_t>(bytes)});
  region.unused.insert(offset);
  while (!region.is_empty() && region.unused.erase(region.low) > 0) region.low += bytes;
  while (!region.is_empty() && region.unused.erase(region.high - bytes) > 0) region.high -= bytes;
  --use.used;
  use.blocks = (region.high - region.low) / bytes;
  used_bytes -= bytes;
  if (emptied.pool == block.pool &&
      (region.is_empty() || (emptied.at_low ? region.low >= emptied.until : region.high <= emptied.until)))
    emptied = {};
  assert(audit());
}

// The next region at this side shall leave a block's room. If its blocks have none elsewhere, one is made for
// it behind it first.
bool Arena::State::begin_emptying_beside(std::int32_t pool, bool at_low) {
  std::int32_t next = pool + (at_low ? -1 : 1);
  while (next >= 0 && next < static_cast<std::int32_t>(regions.size()) && region_at(next).is_empty())
    next += at_low ? -1 : 1;
  if (next < 0 || next == static_cast<std::int32_t>(regions.size())) return false;
  const Region& region = region_at(next);
  const Region& own = region_at(pool);
  const std::int64_t gap = own.is_empty() ? ceiling_of(pool) - floor_of(pool)
                           : at_low       ? own.low - region.high
                                          : region.low - own.high;
  const std::int64_t bytes = pool_at(next).block_bytes;
  // Emptied from the end that faces the pool, as far as these blocks have room elsewhere.
  const std::int64_t wanted =
      std::min((pool_at(pool).block_bytes - gap + bytes - 1) / bytes, (region.high - region.low) / bytes);
  for (std::int64_t blocks = wanted; blocks > 0; --blocks) {
    const Emptied end{.pool = next,
                      .at_low = !at_low,
                      .until = at_low ? region.high - blocks * bytes : region.low + blocks * bytes};
    const std::int64_t unused =
        std::ranges::count_if(region.unused, [&](std::int64_t offset) { return end.holds(next, offset); });
    const std::int64_t elsewhere = std::ssize(region.unused) - unused + growth(next, at_low) / bytes;
    if (blocks - unused > elsewhere) continue;
    emptied = end;
    assert(audit());
    return true;
  }
  return begin_emptying_beside(next, at_low);
}

Result<void> Arena::State::audit_regions() const {
  std::int64_t bytes = 0, end = 0;
  for (std::int32_t pool = 0; pool < static_cast<std::int32_t>(pools.size()); ++pool) {
    const PoolUse& use = pool_at(pool);
    const Region& region = region_at(pool);
    const std::int64_t blocks = (region.high - region.low) / use.block_bytes;
    const std::int64_t used = blocks - std::ssize(region.unused);
    const bool inside = std::ranges::all_of(region.unused, [&](std::int64_t offset) {
      return offset >= region.low && offset < region.high && (offset - region.low) % use.block_bytes == 0;
    });
    const bool apart = region.is_empty() || (region.low >= end && region.high <= mix_bytes &&
                                             (region.high - region.low) % use.block_bytes == 0);
    if (use.used != used || use.blocks != blocks || !inside || !apart)
      return fail(phrases::arena_pool_place(Bytes{use.block_bytes}),
                  errors::arena_pool_use(0, use.blocks, use.used, 0, blocks, used));
    if (!region.is_empty()) end = region.high;
    bytes += used * use.block_bytes;
  }
  if (bytes != used_bytes) return wrong(errors::arena_used_bytes(Bytes{used_bytes}, Bytes{bytes}));
  return {};
}

Result<void> Arena::State::audit() const {
  if (any_mix) return audit_regions();
  std::vector<PoolUse> counted(pools.size());
  std::int64_t bytes = 0;
  for (std::int32_t slab = 0; slab < static_cast<std::int32_t>(slabs.size()); ++slab) {
    FOVEA_TRY(const std::int64_t used, audit_slab(slab, counted));
    if (used > 0) bytes += used * pool_at(slab_at(slab).pool).block_bytes;
  }
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    const PoolUse& said = pools[pool];
    const PoolUse& found = counted[pool];
    if (said.slabs != found.slabs || said.blocks != found.blocks || said.used != found.used)
      return fail(
          phrases::arena_pool_place(Bytes{said.block_bytes}),
          errors::arena_pool_use(said.slabs, said.blocks, said.used, found.slabs, found.blocks, found.used));
  }
  if (bytes != used_bytes) return wrong(errors::arena_used_bytes(Bytes{used_bytes}, Bytes{bytes}));
  return audit_chains();
}

Result<void> Arena::audit() const {
  return state_->audit();
}

}  // namespace fovea::precision
