#include "engine/precision/swap_queue.h"

#include <algorithm>
#include <cassert>

#include "engine/precision/errors.h"

namespace fovea::precision {

SwapOutcome outcome_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::cancelled:
      return SwapOutcome::cancelled;
    case ErrorKind::format:
      return SwapOutcome::checksum_error;
    default:
      return SwapOutcome::io_error;
  }
}

void SwapRecorder::tell(const Decision& decision, TierId from, SwapOutcome outcome, std::int64_t bytes,
                        double requested_seconds) {
  switch (outcome) {
    case SwapOutcome::published:
      break;
    case SwapOutcome::cancelled:
      ++counters.cancelled;
      break;
    case SwapOutcome::io_error:
      ++counters.io_errors;
      break;
    case SwapOutcome::checksum_error:
      ++counters.checksum_errors;
      break;
    case SwapOutcome::refused:
      ++counters.refused;
      break;
  }
  if (!on_event) return;
  on_event({.decision = decision,
            .from = from,
            .outcome = outcome,
            .bytes = bytes,
            .pass = passes_,
            .seconds = now() - requested_seconds});
}

Result<std::int64_t> swaps_in_flight(const SwapLimits& limits, std::int64_t largest_bytes) {
  std::int64_t count = limits.in_flight;
  if (limits.transfer_bytes > 0 && largest_bytes > 0)
    count = std::min(count, limits.transfer_bytes / largest_bytes);
  if (count >= 1 && limits.queue >= 1) return count;
  return fail(phrases::transfer_buffer_place(),
              errors::transfer_buffer_too_small(count, limits.queue, Bytes{largest_bytes}));
}

SwapQueue::SwapQueue(VersionTable& versions, OnDemandCache& cache, VersionMover& mover,
                     SwapRecorder& recorder, const SwapLimits& limits, std::int64_t in_flight,
                     std::span<std::byte* const> staging)
    : versions_(versions), cache_(cache), mover_(mover), recorder_(recorder), limits_(limits) {
  assert(staging.empty() || std::ssize(staging) == in_flight);
  for (std::int64_t i = 0; i < in_flight; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    if (!staging.empty()) slots_.back()->transfer.staging = staging[static_cast<std::size_t>(i)];
  }
  waiting_.reserve(static_cast<std::size_t>(limits.queue));
}

bool SwapQueue::request(const Decision& decision) {
  if (decision.ahead) return bring(decision);
  if (release(decision)) return true;
  const double now = recorder_.now();
  const auto [unit, target] = std::pair(decision.unit, decision.target);
  const bool known = versions_.is_unit(unit) && (versions_.is_tier(target) || target == no_tier);
  const bool movable = known && versions_.filled() && !versions_.in_flight(unit) && !versions_.on_host(unit);
  if (movable && target == versions_.tier(unit) && keep(decision, now)) return true;
  if (!movable || target == versions_.tier(unit) || std::ssize(waiting_) == limits_.queue) {
    recorder_.tell(decision, known ? versions_.tier(unit) : no_tier, SwapOutcome::refused, 0, now);
    return false;
  }
  versions_.begin_swap(unit, target);
  waiting_.push_back({decision, recorder_.passes(), now});
  start_waiting();
  return true;
}

// The unit stays where it is, as far as anybody is told.
bool SwapQueue::bring(const Decision& decision) {
  const UnitId unit = decision.unit;
  const auto free = std::ranges::find(slots_, Stage::free, [](const auto& slot) { return slot->stage; });
  if (!versions_.is_unit(unit) || !versions_.is_tier(decision.target) || !versions_.filled() ||
      versions_.in_flight(unit) || versions_.on_host(unit) || decision.target == versions_.tier(unit) ||
      !waiting_.empty() || free_slots() == 0)
    return false;
  versions_.begin_swap(unit, versions_.tier(unit));
  if (start({decision, recorder_.passes(), recorder_.now()}, **free)) return true;
  versions_.end_swap(unit);
  return false;
}

// The decision for what was brought ahead of it.
bool SwapQueue::release(const Decision& decision) {
  for (const auto& slot : slots_) {
    if (slot->stage == Stage::free || !slot->decision.ahead || slot->cancelled() ||
        slot->decision.unit != decision.unit || slot->decision.target != decision.target)
      continue;
    versions_.begin_swap(decision.unit, decision.target);
    slot->decision = decision;
    slot->decided_pass = recorder_.passes();
    if (slot->stage == Stage::arrived && !deterministic()) settle(*slot);
    return true;
  }
  return false;
}

// What a pass brought from the disk may stay where it is.
bool SwapQueue::keep(const Decision& decision, double requested_seconds) {
  if (decision.target == no_tier || !cache_.on_disk(decision.unit)) return false;
  cache_.decided(decision.unit, decision.target);
  recorder_.tell(decision, decision.target, SwapOutcome::published, 0, requested_seconds);
  return true;
}

// A block that is retired still counts as its swap's.
std::int64_t SwapQueue::free_slots() const {
  const auto taken = [](const auto& slot) { return slot->stage != Stage::free; };
  return std::ssize(slots_) - versions_.retired() - std::ranges::count_if(slots_, taken);
}

void SwapQueue::start_waiting() {
  if (waiting_.empty()) return;
  const auto taken = [](const auto& slot) { return slot->stage != Stage::free; };
  std::int64_t room = free_slots();
  auto slot = slots_.begin();
  std::erase_if(waiting_, [&](const Waiting& request) {
    if (room == 0) return false;
    while (taken(*slot)) ++slot;
    if (!start(request, **slot)) return false;
    --room;
    return true;
  });
}

// Where any mix has room, what grows leaves a block for what shrinks, which makes the room again.
bool SwapQueue::has_room(const Decision& decision) const {
  const Arena& arena = versions_.arena();
  const std::int64_t bytes = versions_.bytes_of(decision.unit, decision.target);
  if (bytes == 0) return true;
  if (arena.available(bytes) == 0) return false;
  if (!arena.any_mix() || bytes <= versions_.bytes_of(decision.unit, versions_.tier(decision.unit)))
    return true;
  std::int64_t kept = 0;
  for (const Arena::PoolUse& pool : arena.pools())
    if (pool.block_bytes < bytes) kept = std::max(kept, pool.block_bytes);
  return arena.bytes() - arena.used_bytes() >= bytes + kept;
}

bool SwapQueue::start(const Waiting& request, Slot& slot) {
  const auto [unit, target] = std::pair(request.decision.unit, request.decision.target);
  Block block;
  if (versions_.bytes_of(unit, target) > 0) {
    if (!has_room(request.decision)) return false;
    block = versions_.allocate(unit, target);
    if (!block) return false;
  }
  slot.decision = request.decision;
  slot.block = block;
  slot.decided_pass = request.decided_pass;
  slot.requested_seconds = request.requested_seconds;
  Transfer& transfer = slot.transfer;
  transfer.unit = unit;
  transfer.tier = target;
  transfer.bytes = versions_.bytes_of(unit, target);
  transfer.block = block.memory;
  transfer.bytes_read = 0;
  transfer.outcome = SwapOutcome::published;
  transfer.cancelled.store(false, std::memory_order_relaxed);
  slot.stage = block ? Stage::moving : Stage::arrived;
  if (block) mover_.submit(transfer);
  return true;
}

void SwapQueue::give_up(const Waiting& request, SwapOutcome outcome) {
  const UnitId unit = request.decision.unit;
  versions_.end_swap(unit);
  recorder_.tell(request.decision, versions_.tier(unit), outcome, 0, request.requested_seconds);
}

void SwapQueue::give_up(Slot& slot, SwapOutcome outcome) {
  const UnitId unit = slot.decision.unit;
  if (slot.block) versions_.give_back(slot.block);
  slot.block = {};
  slot.stage = Stage::free;
  versions_.end_swap(unit);
  recorder_.tell(slot.decision, versions_.tier(unit), outcome, slot.transfer.bytes_read,
                 slot.requested_seconds);
}

void SwapQueue::mark_arrived(const Transfer& transfer) {
  for (const auto& slot : slots_) {
    if (&slot->transfer != &transfer) continue;
    slot->stage = Stage::arrived;
    recorder_.counters.bytes_read += transfer.bytes_read;
  }
}

void SwapQueue::collect() {
  while (const Transfer* const transfer = mover_.take()) mark_arrived(*transfer);
}

bool SwapQueue::any(Stage stage) const {
  return std::ranges::any_of(slots_, [stage](const auto& slot) { return slot->stage == stage; });
}

bool SwapQueue::any_under_way() const {
  return versions_.retired() > 0 || std::ranges::any_of(slots_, [](const auto& slot) {
           return slot->stage != Stage::free && !slot->brought();
         });
}

bool SwapQueue::is_due(const Slot& slot) const {
  if (slot.decision.ahead) return slot.stage == Stage::arrived && !slot.brought();
  return !deterministic() || recorder_.passes() > slot.decided_pass + limits_.publish_after_passes;
}

void SwapQueue::wait_for_due() {
  const auto due = [this](const auto& slot) { return slot->stage == Stage::moving && is_due(*slot); };
  while (std::ranges::any_of(slots_, due)) mark_arrived(*mover_.wait());
}

void SwapQueue::settle(Slot& slot) {
  if (slot.cancelled()) {
    give_up(slot, SwapOutcome::cancelled);
  } else if (slot.transfer.outcome != SwapOutcome::published) {
    give_up(slot, slot.transfer.outcome);
  } else {
    publish(slot);
  }
}

void SwapQueue::publish(Slot& slot) {
  const auto [unit, target] = std::pair(slot.decision.unit, slot.decision.target);
  const TierId from = versions_.tier(unit);
  const std::int64_t bytes = slot.transfer.bytes;
  versions_.publish(unit, target, std::exchange(slot.block, {}));
  versions_.end_swap(unit);
  cache_.decided(unit, target);
  slot.stage = Stage::free;
  SwapCounters& counters = recorder_.counters;
  if (target < from) {
    ++counters.promotions;
    counters.bytes_promoted += bytes;
  } else if (target > from) {  // equal: need() was faster
    ++counters.demotions;
    counters.bytes_demoted += bytes;
  }
  recorder_.tell(slot.decision, from, SwapOutcome::published, bytes, slot.requested_seconds);
}

// Whether the pool of `bytes` gets a block back when the unit has another version.
bool SwapQueue::vacates(UnitId unit, std::int64_t bytes) const {
  const TierId tier = versions_.tier(unit);
  return tier != no_tier && versions_.bytes_of(unit, tier) == bytes;
}

bool SwapQueue::vacates(const Slot& slot, std::int64_t bytes) const {
  if (slot.stage == Stage::free || slot.decision.ahead) return false;
  return slot.cancelled() ? slot.transfer.bytes == bytes : vacates(slot.decision.unit, bytes);
}

// Moves what lies in another pool's way. True: something is left there that is under way itself.
bool SwapQueue::empty() {
  const Arena& arena = versions_.arena();
  for (UnitId unit = 0; unit < versions_.units() && arena.is_emptying(); ++unit) {
    if (!arena.empties(versions_.block(unit))) continue;
    if ((versions_.retires_late() && free_slots() <= 0) || !versions_.move(unit)) break;
  }
  if (!arena.is_emptying()) return false;
  if (any_under_way()) return true;
  versions_.stop_emptying();
  return false;
}

// A request has hope when its block is there (and it waits for a slot), or when a swap in flight, or another
// request that has hope, vacates a block of its pool; or when room is being made.
void SwapQueue::refuse_hopeless(int tries) {
  if (empty() || waiting_.empty()) return;
  std::vector<bool> hope(waiting_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (hope[i]) continue;
      const Decision& decision = waiting_[i].decision;
      const std::int64_t bytes = versions_.bytes_of(decision.unit, decision.target);
      hope[i] = has_room(decision) || versions_.retires(bytes) ||
                std::ranges::any_of(slots_, [&](const auto& slot) { return vacates(*slot, bytes); });
      for (std::size_t j = 0; j < waiting_.size() && !hope[i]; ++j)
        hope[i] = hope[j] && vacates(waiting_[j].decision.unit, bytes);
      changed |= hope[i];
    }
  }
  if (std::ranges::find(hope, false) == hope.end()) return;
  for (std::size_t i = 0; i < waiting_.size() && tries > 0 && !cache_.may_need(); ++i) {
    if (hope[i]) continue;
    const Decision& decision = waiting_[i].decision;
    if (!versions_.begin_emptying(decision.unit, decision.target)) {
      hope[i] = has_room(decision);
      continue;
    }
    if (empty()) return;
    start_waiting();
    return refuse_hopeless(tries - 1);
  }
  // What is on its way may leave room behind.
  if (versions_.arena().any_mix() && any_under_way()) return;
  std::size_t index = 0;
  std::erase_if(waiting_, [&](const Waiting& request) {
    if (hope[index++]) return false;
    give_up(request, SwapOutcome::refused);
    return true;
  });
}

void SwapQueue::cancel_all() {
  for (const Waiting& request : waiting_) give_up(request, SwapOutcome::cancelled);
  waiting_.clear();
  for (const auto& slot : slots_) {
    if (slot->stage == Stage::free) continue;
    slot->transfer.cancelled.store(true, std::memory_order_relaxed);
    versions_.give_up_swap(slot->decision.unit);
  }
}

void SwapQueue::drain() {
  while (true) {
    collect();
    for (const auto& slot : slots_) {
      if (slot->brought()) give_up(*slot, SwapOutcome::cancelled);
      if (slot->stage == Stage::arrived) settle(*slot);
    }
    versions_.reclaim_all();
    start_waiting();
    refuse_hopeless();
    if (any(Stage::moving)) {
      mark_arrived(*mover_.wait());
    } else if (!any(Stage::arrived) && waiting_.empty()) {
      return;
    }
  }
}

void SwapQueue::settle_due() {
  for (const auto& slot : slots_) {
    if (slot->stage == Stage::arrived && is_due(*slot)) settle(*slot);
  }
  if (deterministic() && (!waiting_.empty() || versions_.arena().is_emptying())) {
    versions_.reclaim_all();  // when a pass has ended is chance's
  } else {
    versions_.reclaim();
  }
  if (waiting_.empty() && !versions_.arena().is_emptying()) return;
  start_waiting();
  refuse_hopeless();
}

void SwapQueue::end_pass() {
  recorder_.begin_pass();
  collect();
  const auto due = [this](const auto& slot) {
    return slot->stage != Stage::free && !slot->decision.ahead && is_due(*slot);
  };
  do {
    if (deterministic()) wait_for_due();
    settle_due();
  } while (deterministic() && std::ranges::any_of(slots_, due));
}

bool SwapQueue::rest() {
  if (deterministic()) return false;
  collect();
  settle_due();
  return lengths().sum() > 0;
}

void SwapQueue::settle(double seconds) {
  const double until = recorder_.now() + seconds;
  while (rest() && any(Stage::moving) && recorder_.now() < until) mark_arrived(*mover_.wait());
}

SwapQueue::Lengths SwapQueue::lengths() const {
  Lengths lengths{.queued = static_cast<std::int32_t>(waiting_.size()),
                  .ready = static_cast<std::int32_t>(versions_.retired())};
  for (const auto& slot : slots_) {
    if (slot->decision.ahead) continue;  // nobody waits for it
    lengths.reading += slot->stage == Stage::moving;
    lengths.ready += slot->stage == Stage::arrived;
  }
  return lengths;
}

std::vector<std::byte*> SwapQueue::idle_staging() {
  std::vector<std::byte*> idle;
  if (!slots_.front()->transfer.staging) return idle;
  while (true) {
    for (const auto& slot : slots_) {
      if (slot->stage != Stage::moving) idle.push_back(slot->transfer.staging);
    }
    if (!idle.empty()) return idle;
    mark_arrived(*mover_.wait());
  }
}

std::vector<Block> SwapQueue::blocks() const {
  std::vector<Block> blocks;
  for (const auto& slot : slots_) blocks.push_back(slot->block);
  return blocks;
}

// What is in flight is in exactly one slot or waits.
Result<void> SwapQueue::audit() const {
  const auto wrong = [](Error error) { return fail(phrases::residency_place(), std::move(error)); };
  std::vector<std::uint8_t> flying(static_cast<std::size_t>(versions_.units()), 0);
  bool once = true, goes_there = true;
  const auto fly = [&](const Decision& decision, bool cancelled) {
    const auto unit = static_cast<std::size_t>(decision.unit);
    once = once && !flying[unit] && versions_.in_flight(decision.unit);
    flying[unit] = 1;
    goes_there =
        goes_there && versions_.targets()[unit] ==
                          (cancelled || decision.ahead ? versions_.tier(decision.unit) : decision.target);
  };
  for (const auto& slot : slots_) {
    if (slot->stage != Stage::free) fly(slot->decision, slot->cancelled());
    const bool needs_block =
        slot->stage != Stage::free && versions_.bytes_of(slot->decision.unit, slot->decision.target) > 0;
    if (static_cast<bool>(slot->block) != needs_block) return wrong(errors::swap_slot_block());
  }
  for (const Waiting& request : waiting_) fly(request.decision, false);
  for (UnitId unit = 0; unit < versions_.units(); ++unit)
    once = once && versions_.in_flight(unit) == (flying[static_cast<std::size_t>(unit)] != 0);
  if (!once) return wrong(errors::swap_in_flight_once());
  if (!goes_there) return wrong(errors::swap_targets_differ());
  if (std::ssize(waiting_) > limits_.queue) return wrong(errors::swap_queue_too_long());
  if (lengths().sum() - std::ssize(waiting_) > std::ssize(slots_))
    return wrong(errors::swap_too_many_in_flight());
  return {};
}

}  // namespace fovea::precision
