// Requests, publishing and reclaiming: what the engine's thread does between passes.
#include <algorithm>
#include <cassert>

#include "engine/precision/residency_state.h"

namespace fovea::precision {

using Stage = Place::Stage;

void Residency::State::count(SwapOutcome outcome) {
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
}

void Residency::State::emit(const Decision& decision, TierId from, SwapOutcome outcome, std::int64_t bytes,
                            double requested_seconds) const {
  if (!owner->on_event) return;
  owner->on_event({.decision = decision,
                   .from = from,
                   .outcome = outcome,
                   .bytes = bytes,
                   .pass = passes,
                   .seconds = clock.now() - requested_seconds});
}

bool Residency::State::request(const Decision& decision) {
  const Waiting request{decision, clock.now()};
  const UnitId unit = decision.unit;
  const bool known =
      unit >= 0 && unit < parts.units->size() && (is_tier(decision.target) || decision.target == no_tier);
  if (!known || !filled || in_flight[at(unit)] || on_host(unit)) {
    count(SwapOutcome::refused);
    emit(decision, known ? tiers[at(unit)] : no_tier, SwapOutcome::refused, 0, request.requested_seconds);
    return false;
  }
  if (decision.target == tiers[at(unit)] || std::ssize(waiting) == settings.queue) {
    // What need() brought may stay where it is.
    if (decision.target != no_tier && decision.target == tiers[at(unit)] && on_disk[at(unit)]) {
      needed.erase(unit);
      set_on_disk(unit, false);
      emit(decision, decision.target, SwapOutcome::published, 0, request.requested_seconds);
      return true;
    }
    count(SwapOutcome::refused);
    emit(decision, tiers[at(unit)], SwapOutcome::refused, 0, request.requested_seconds);
    return false;
  }
  in_flight[at(unit)] = 1;
  arrives[at(unit)] = decision.target;
  waiting.push_back(request);
  start_waiting();
  return true;
}

void Residency::State::refuse(const Waiting& request) {
  const UnitId unit = request.decision.unit;
  in_flight[at(unit)] = 0;
  arrives[at(unit)] = tiers[at(unit)];
  count(SwapOutcome::refused);
  emit(request.decision, tiers[at(unit)], SwapOutcome::refused, 0, request.requested_seconds);
}

void Residency::State::start_waiting() {
  if (waiting.empty()) return;
  auto place = places.begin();
  std::erase_if(waiting, [&](const Waiting& request) {
    while (place != places.end() && (*place)->stage != Stage::free) ++place;
    return place != places.end() && start(request, **place);
  });
}

bool Residency::State::start(const Waiting& request, Place& place) {
  const Decision& decision = request.decision;
  Block block;
  if (decision.target != no_tier) {
    block = arena.allocate(bytes_of(decision.unit, decision.target));
    if (!block) return false;
  }
  place.decision = decision;
  place.block = block;
  place.started_pass = passes;
  place.requested_seconds = request.requested_seconds;
  Transfer& transfer = place.transfer;
  transfer.unit = decision.unit;
  transfer.tier = decision.target;
  transfer.bytes = block ? bytes_of(decision.unit, decision.target) : 0;
  transfer.block = block.memory;
  transfer.bytes_read = 0;
  transfer.outcome = SwapOutcome::published;
  transfer.cancelled.store(false, std::memory_order_relaxed);
  place.stage = block ? Stage::moving : Stage::arrived;
  if (block) pipeline->submit(transfer);
  return true;
}

void Residency::State::mark_arrived(const Transfer& transfer) {
  for (const auto& place : places) {
    if (&place->transfer != &transfer) continue;
    place->stage = Stage::arrived;
    counters.bytes_read += transfer.bytes_read;
  }
}

void Residency::State::collect() {
  while (const Transfer* const transfer = pipeline->take()) mark_arrived(*transfer);
}

bool Residency::State::is_due(const Place& place) const {
  return !deterministic() || passes > place.started_pass + settings.publish_after_passes;
}

void Residency::State::wait_for_due() {
  const auto due = [this](const auto& place) { return place->stage == Stage::moving && is_due(*place); };
  while (std::ranges::any_of(places, due)) mark_arrived(*pipeline->wait());
}

void Residency::State::settle(Place& place) {
  if (place.transfer.cancelled.load(std::memory_order_relaxed)) {
    give_up(place, SwapOutcome::cancelled);
  } else if (place.transfer.outcome != SwapOutcome::published) {
    give_up(place, place.transfer.outcome);
  } else {
    publish(place);
  }
}

void Residency::State::publish(Place& place) {
  const Decision decision = place.decision;
  const UnitId unit = decision.unit;
  const TierId from = tiers[at(unit)];
  const Block old = blocks[at(unit)];
  set_version(unit, decision.target, place.block);
  needed.erase(unit);  // whoever brought it, a policy has decided since
  set_on_disk(unit, decision.target == no_tier);
  in_flight[at(unit)] = 0;
  const std::int64_t bytes = place.transfer.bytes;
  if (decision.target < from) {
    ++counters.promotions;
    counters.bytes_promoted += bytes;
  } else if (decision.target > from) {  // equal: need() was faster
    ++counters.demotions;
    counters.bytes_demoted += bytes;
  }
  place.block = old;
  place.stage = old ? Stage::reclaiming : Stage::free;
  // Every pass that could see the old version was begun before this mark.
  if (old && parts.stream) parts.device->record(*place.readers_ended, *parts.stream);
  emit(decision, from, SwapOutcome::published, bytes, place.requested_seconds);
}

void Residency::State::give_up(Place& place, SwapOutcome outcome) {
  const UnitId unit = place.decision.unit;
  if (place.block) arena.release(place.block);  // no pass has seen it
  place.block = {};
  place.stage = Stage::free;
  in_flight[at(unit)] = 0;
  arrives[at(unit)] = tiers[at(unit)];
  count(outcome);
  emit(place.decision, tiers[at(unit)], outcome, place.transfer.bytes_read, place.requested_seconds);
}

void Residency::State::reclaim(Place& place, bool wait) {
  if (parts.stream) {
    if (wait) place.readers_ended->wait();
    if (!place.readers_ended->done()) return;
  }
  arena.release(place.block);
  place.block = {};
  place.stage = Stage::free;
}

// Whether the pool of `bytes` gets a block back when what is in this place has ended.
bool Residency::State::vacates(const Place& place, std::int64_t bytes) const {
  const UnitId unit = place.decision.unit;
  switch (place.stage) {
    case Stage::free:
      return false;
    case Stage::reclaiming:
      return arena.pools()[static_cast<std::size_t>(place.block.pool)].block_bytes == bytes;
    case Stage::moving:
    case Stage::arrived:
      break;
  }
  if (place.transfer.cancelled.load(std::memory_order_relaxed)) return place.transfer.bytes == bytes;
  return tiers[at(unit)] != no_tier && bytes_of(unit, tiers[at(unit)]) == bytes;
}

// A request has hope when its block is there (and it waits for a place), or when a swap in flight, or another
// request that has hope, vacates a block of its pool.
void Residency::State::refuse_hopeless() {
  if (waiting.empty()) return;
  const auto vacated_by = [this](const Waiting& other, std::int64_t bytes) {
    const UnitId unit = other.decision.unit;
    return tiers[at(unit)] != no_tier && bytes_of(unit, tiers[at(unit)]) == bytes;
  };
  std::vector<bool> hope(waiting.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (hope[i]) continue;
      const Decision& decision = waiting[i].decision;
      const std::int64_t bytes = decision.target == no_tier ? 0 : bytes_of(decision.unit, decision.target);
      hope[i] = bytes == 0 || arena.available(bytes) > 0 ||
                std::ranges::any_of(places, [&](const auto& place) { return vacates(*place, bytes); });
      for (std::size_t j = 0; j < waiting.size() && !hope[i]; ++j)
        hope[i] = hope[j] && vacated_by(waiting[j], bytes);
      changed |= hope[i];
    }
  }
  std::size_t index = 0;
  std::erase_if(waiting, [&](const Waiting& request) {
    if (hope[index++]) return false;
    refuse(request);
    return true;
  });
}

void Residency::State::cancel_all() {
  for (const Waiting& request : waiting) {
    const UnitId unit = request.decision.unit;
    in_flight[at(unit)] = 0;
    arrives[at(unit)] = tiers[at(unit)];
    count(SwapOutcome::cancelled);
    emit(request.decision, tiers[at(unit)], SwapOutcome::cancelled, 0, request.requested_seconds);
  }
  waiting.clear();
  for (const auto& place : places) {
    if (place->stage != Stage::moving && place->stage != Stage::arrived) continue;
    place->transfer.cancelled.store(true, std::memory_order_relaxed);
    arrives[at(place->decision.unit)] = tiers[at(place->decision.unit)];
  }
}

void Residency::State::drain() {
  while (true) {
    collect();
    for (const auto& place : places) {
      if (place->stage == Stage::arrived) settle(*place);
      if (place->stage == Stage::reclaiming) reclaim(*place, true);
    }
    start_waiting();
    refuse_hopeless();
    const auto is = [this](Stage stage) {
      return std::ranges::any_of(places, [stage](const auto& place) { return place->stage == stage; });
    };
    if (is(Stage::moving)) {
      mark_arrived(*pipeline->wait());
    } else if (!is(Stage::arrived) && waiting.empty()) {
      break;
    }
  }
  assert(audit());
}

void Residency::State::settle_due() {
  [[maybe_unused]] bool changed = false;  // what a debug build counts again
  for (const auto& place : places) {
    if (place->stage == Stage::free || place->stage == Stage::moving) continue;
    if (place->stage == Stage::arrived && is_due(*place)) settle(*place);
    if (place->stage == Stage::reclaiming) reclaim(*place, false);
    changed = true;
  }
  if (!waiting.empty()) {
    start_waiting();
    refuse_hopeless();
  }
  assert(!changed || audit());
}

void Residency::end_pass() {
  State& s = *state_;
  ++s.passes;
  s.collect();
  if (s.deterministic()) s.wait_for_due();
  s.settle_due();
}

bool Residency::rest() {
  State& s = *state_;
  if (s.deterministic()) return false;
  s.collect();
  s.settle_due();
  return !s.waiting.empty() ||
         std::ranges::any_of(s.places, [](const auto& place) { return place->stage != Stage::free; });
}

}  // namespace fovea::precision
