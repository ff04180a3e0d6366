#include "engine/precision/arena.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

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
    if (bytes <= before || bytes % version_alignment != 0 || (bytes > plan.slab_bytes && !plan.paged))
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
    if (plan.paged) return arena;
    state.memory = device.allocate(state.bytes());
    if (!state.memory) return no_memory();
    return arena;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

void Arena::State::make_books(const ArenaPlan& plan) {
  paged = plan.paged;
  any_mix = plan.any_mix;
  for (const std::int64_t bytes : plan.block_bytes) pools.push_back({.block_bytes = bytes});
  if (paged) {
    loose.resize(pools.size());
    loose_bytes = plan.bytes();
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
  if (a.paged) return a.allocate_loose(pool);
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
  if (a.paged) return a.release_loose(block);
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
  const bool emptying = a.emptying == block.slab;
  if (was_full && !emptying) a.open(block.slab);
  if (s.used == 0) {
    if (!emptying) a.close(block.slab);
    if (emptying) a.emptying = Slab::none;
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
  if (a.paged) return a.out_of_memory ? 0 : (a.loose_bytes - a.used_bytes) / bytes;
  std::int64_t free = use.blocks - use.used + a.free_slabs * a.blocks_per_slab(pool);
  if (a.emptying != Slab::none && a.slab_at(a.emptying).pool == pool)
    free -= a.free_blocks(a.slab_at(a.emptying));
  return free;
}

bool Arena::any_mix() const {
  return state_->any_mix;
}
bool Arena::begin_emptying() {
  State& a = *state_;
  if (!a.any_mix || a.paged || a.emptying != Slab::none) return false;
  std::int32_t found = Slab::none;
  double most = 0;  // free blocks, in slabs
  for (std::int32_t pool = 0; pool < static_cast<std::int32_t>(a.pools.size()); ++pool) {
    const PoolUse& use = a.pool_at(pool);
    const double free =
        static_cast<double>(use.blocks - use.used) / static_cast<double>(a.blocks_per_slab(pool));
    if (free < 1 || free <= most) continue;
    most = free;
    found = a.open_at(pool);
    for (std::int32_t slab = found; slab != Slab::none; slab = a.slab_at(slab).next)
      if (a.slab_at(slab).used < a.slab_at(found).used) found = slab;
  }
  if (found == Slab::none) return false;
  a.close(found);
  a.emptying = found;
  assert(audit());
  return true;
}
std::int32_t Arena::emptying() const {
  return state_->emptying;
}
void Arena::stop_emptying() {
  State& a = *state_;
  if (a.emptying == Slab::none) return;
  a.open(std::exchange(a.emptying, Slab::none));
  assert(audit());
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
  for (std::int32_t slab = 0; slab < static_cast<std::int32_t>(slabs.size()); ++slab)
    with_free += slab != emptying && slab_at(slab).pool != Slab::none && has_free(slab_at(slab));
  if (open != with_free) return wrong(errors::arena_open_slabs(open, with_free));
  return {};
}

Block Arena::State::allocate_loose(std::int32_t pool) {
  PoolUse& use = pool_at(pool);
  Loose& blocks = loose[static_cast<std::size_t>(pool)];
  if (used_bytes + use.block_bytes > loose_bytes) return {};
  std::byte* const memory = device ? device->allocate(use.block_bytes) : nullptr;
  out_of_memory = device && !memory;
  if (out_of_memory) return {};
  if (blocks.unused.empty()) {
    blocks.unused.push_back(static_cast<std::int32_t>(blocks.memory.size()));
    blocks.memory.push_back(nullptr);
    blocks.used.push_back(false);
  }
  const std::int32_t index = blocks.unused.back();
  blocks.unused.pop_back();
  blocks.memory[static_cast<std::size_t>(index)] = memory;
  blocks.used[static_cast<std::size_t>(index)] = true;
  ++use.blocks;
  ++use.used;
  used_bytes += use.block_bytes;
  assert(audit());
  return {memory, pool, pool, index};
}

void Arena::State::release_loose(const Block& block) {
  PoolUse& use = pool_at(block.pool);
  Loose& blocks = loose[static_cast<std::size_t>(block.pool)];
  const auto index = static_cast<std::size_t>(block.index);
  assert(block && blocks.used[index] && blocks.memory[index] == block.memory);
  if (on_release) on_release({block.memory, static_cast<std::size_t>(use.block_bytes)});
  if (device) device->release(block.memory, use.block_bytes);
  blocks.memory[index] = nullptr;
  blocks.used[index] = false;
  blocks.unused.push_back(block.index);
  --use.blocks;
  --use.used;
  used_bytes -= use.block_bytes;
  out_of_memory = false;
  assert(audit());
}

Result<void> Arena::State::audit_loose() const {
  std::int64_t bytes = 0;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    const std::int64_t used = std::ranges::count(loose[pool].used, true);
    if (pools[pool].used != used || pools[pool].blocks != used)
      return fail(phrases::arena_pool_place(Bytes{pools[pool].block_bytes}),
                  errors::arena_pool_use(0, pools[pool].blocks, pools[pool].used, 0, used, used));
    bytes += used * pools[pool].block_bytes;
  }
  if (bytes != used_bytes || bytes > loose_bytes)
    return wrong(errors::arena_used_bytes(Bytes{used_bytes}, Bytes{bytes}));
  return {};
}

Result<void> Arena::State::audit() const {
  if (paged) return audit_loose();
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
