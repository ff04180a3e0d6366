// Versions read while somebody waits: the first filling, and units that live on disk alone.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <numeric>

#include "engine/core/thread.h"
#include "engine/models/no_stream.h"
#include "engine/models/say.h"
#include "engine/precision/residency_state.h"

namespace fovea::precision {

using models::say;
using Stage = Place::Stage;

Result<void> Residency::State::load(const Load& load, std::byte* staging, kernels::Stream* stream) {
  if (staging && !stream) return models::no_stream(*parts.device);
  const std::int64_t bytes = bytes_of(load.unit, load.tier);
  std::byte* const memory = staging ? staging : load.block.memory;
  FOVEA_CHECK(parts.source->read(load.unit, load.tier, {memory, static_cast<std::size_t>(bytes)}, {}));
  if (!staging) return {};
  parts.device->copy(load.block.memory, staging, bytes, *stream);
  stream->synchronize();
  if (std::string failure = stream->failure(); !failure.empty())
    return fail(ErrorKind::device, parts.device->name(), std::move(failure));
  return {};
}

// Blocks for all versions, tier after tier and unit after unit, which is the order of the store.
Result<std::vector<Residency::State::Load>> Residency::State::reserve(std::span<const TierId> wanted) {
  std::vector<Load> loads;
  for (TierId tier = 0; tier < parts.tiers->size(); ++tier) {
    for (UnitId unit = 0; unit < parts.units->size(); ++unit) {
      if (wanted[at(unit)] != tier) continue;
      const Block block = arena.allocate(bytes_of(unit, tier));
      if (!block) {
        for (const Load& load : loads) arena.release(load.block);
        return fail(
            ErrorKind::memory, "arena",
            say("has no room for ", parts.units->name(unit), " at ", (*parts.tiers)[tier].name, ", the ",
                loads.size() + 1, "th of the first versions; ", arena.bytes(), " bytes in all"),
            "Give a larger budget or lower tiers");
      }
      loads.push_back({unit, tier, block});
    }
  }
  return loads;
}

Result<void> Residency::State::fill(std::span<const TierId> wanted, int threads, const ProgressSink& progress,
                                    const std::stop_token& stop) {
  if (filled || std::ssize(wanted) != parts.units->size() ||
      !std::ranges::all_of(wanted, [this](TierId tier) { return tier == no_tier || is_tier(tier); }))
    return fail(
        ErrorKind::internal, "residency",
        say("the first tiers of ", wanted.size(), " units; expected, once, of ", parts.units->size()));
  for (UnitId unit = 0; unit < parts.units->size(); ++unit) {
    if (on_host(unit) && wanted[at(unit)] != no_tier)
      return fail(ErrorKind::internal, parts.units->name(unit), "shall have a tier, and is the host's");
  }
  FOVEA_TRY(const std::vector<Load> loads, reserve(wanted));
  if (auto status = load_all(loads, threads, progress, stop); !status) {
    for (const Load& load : loads) arena.release(load.block);
    return status;
  }
  for (const Load& load : loads) {
    set_version(load.unit, load.tier, load.block);
    arrives[at(load.unit)] = load.tier;
  }
  for (UnitId unit = 0; unit < parts.units->size(); ++unit)
    set_on_disk(unit, wanted[at(unit)] == no_tier && !on_host(unit));
  filled = true;
  assert(audit());
  return {};
}

Result<void> Residency::State::load_all(std::span<const Load> loads, int threads,
                                        const ProgressSink& progress, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t done_bytes = 0;  // these four under the mutex
  std::int64_t done = 0;
  int working = 0;
  std::optional<Error> error;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> give_up = false;
  // While nothing is published the places' parts of the transient buffer are unused.
  const std::int64_t count = std::min(
      {std::int64_t{std::max(threads, 1)}, std::ssize(loads), transient ? std::ssize(places) : 1024});
  const auto work = [&](std::byte* staging) {
    const auto stream = staging ? parts.device->make_stream({.threads = 1, .background = true}) : nullptr;
    while (!give_up.load(std::memory_order_relaxed) && !stop.stop_requested()) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= loads.size()) break;
      const auto status = load(loads[index], staging, stream.get());
      const std::scoped_lock lock(mutex);
      if (status) {
        ++done;
        done_bytes += bytes_of(loads[index].unit, loads[index].tier);
      } else {
        if (!error) error = status.error();
        give_up.store(true, std::memory_order_relaxed);
      }
      changed.notify_one();
    }
    const std::scoped_lock lock(mutex);
    --working;
    changed.notify_one();
  };
  Progress report{.stage = "loading", .done = 0, .total = 0, .unit = "bytes", .item = {}};
  for (const Load& load : loads) report.total += bytes_of(load.unit, load.tier);
  {
    std::vector<std::jthread> workers;
    std::unique_lock lock(mutex);
    for (std::int64_t i = 0; i < count; ++i) {
      ++working;
      workers.emplace_back(
          [&work, staging = places[static_cast<std::size_t>(transient ? i : 0)]->transfer.staging] {
            name_this_thread("version loader");
            work(staging);
          });
    }
    // The end is told, too, when it comes while somebody is told of a part.
    for (bool ended = working == 0; !ended;) {
      changed.wait(lock, [&] { return working == 0 || done_bytes != report.done; });
      ended = working == 0;
      report.done = done_bytes;
      if (!progress) continue;
      lock.unlock();
      progress(report);
      lock.lock();
    }
  }
  if (error) return std::unexpected(*std::move(error));
  if (done < std::ssize(loads)) return fail(ErrorKind::cancelled, "loading", "was stopped");
  return {};
}

Result<void> Residency::State::need(std::span<const UnitId> units) {
  if (on_disk_count == 0) return {};
  ++need_calls;
  for (const UnitId unit : units) {
    if (!on_disk[at(unit)]) continue;
    needed_at[at(unit)] = need_calls;
    if (!needed.contains(unit)) continue;
    needed.erase(unit);
    needed.insert_newest(unit);
  }
  const double begun = clock.now();
  const std::int64_t stalls_before = counters.stalls;
  const auto loads = make_room(units, begun);
  const Result<void> status = loads ? bring(*loads, begun) : std::unexpected(loads.error());
  if (counters.stalls != stalls_before) counters.stall_seconds += clock.now() - begun;
  assert(audit());
  return status;
}

// Blocks for those of the units that are missing. From here on they count as brought, so that none of them
// makes another one's room.
Result<std::vector<Residency::State::Load>> Residency::State::make_room(std::span<const UnitId> units,
                                                                        double begun) {
  std::vector<Load> loads;
  for (const UnitId unit : units) {
    if (!on_disk[at(unit)] || needed.contains(unit)) continue;
    ++counters.stalls;
    const std::int64_t bytes = bytes_of(unit, lowest());
    const Block block = room_for(bytes);
    if (block) {
      loads.push_back({unit, lowest(), block});
      needed.insert_newest(unit);
      continue;
    }
    for (const Load& load : loads) {
      arena.release(load.block);
      needed.erase(load.unit);
    }
    count(SwapOutcome::refused);
    emit({.unit = unit, .target = lowest(), .reason = SwapReason::absent}, no_tier, SwapOutcome::refused, 0,
         begun);
    return fail(ErrorKind::memory, parts.units->name(unit),
                say("no block of ", bytes, " bytes is left for a unit on disk alone, beside ",
                    needed.size() + std::ssize(loads), " others that are needed now or in use"),
                "Give a larger budget, or let fewer units live on disk");
  }
  return loads;
}

// Reads and publishes them; the first error, when some cannot be read.
Result<void> Residency::State::bring(std::span<const Load> loads, double begun) {
  if (loads.empty()) return {};
  const std::vector<std::byte*> staging = unused_stagings();
  auto workers = static_cast<std::int64_t>(settings.reads_at_once);
  if (transient) workers = std::min(workers, std::ssize(staging));
  std::vector<Result<void>> outcomes(loads.size());
  pool->run(std::ssize(loads), static_cast<std::int32_t>(workers),
            [&](std::int64_t index, std::int32_t worker) {
              const auto w = static_cast<std::size_t>(worker);
              outcomes[static_cast<std::size_t>(index)] =
                  load(loads[static_cast<std::size_t>(index)], transient ? staging[w] : nullptr,
                       transient ? load_streams[w].get() : nullptr);
            });
  Result<void> status;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto& [unit, tier, block] = loads[i];
    const std::int64_t bytes = bytes_of(unit, tier);
    const Decision decision{.unit = unit, .target = tier, .reason = SwapReason::absent};
    counters.bytes_read += bytes;
    if (outcomes[i]) {
      set_version(unit, tier, block);
      if (arrives[at(unit)] == no_tier) arrives[at(unit)] = tier;  // else a swap to another tier is in flight
      emit(decision, no_tier, SwapOutcome::published, bytes, begun);
      continue;
    }
    arena.release(block);
    needed.erase(unit);
    count(outcome_of(outcomes[i].error()));
    emit(decision, no_tier, outcome_of(outcomes[i].error()), bytes, begun);
    if (status) status = outcomes[i];
  }
  return status;
}

// Free memory first, up to the visitors' share; then the room of those that were not needed for longest; and
// rather than fail, a spare block.
Block Residency::State::room_for(std::int64_t bytes) {
  while (true) {
    const bool more = settings.visitors == 0 || needed.size() < settings.visitors;
    if (const Block block = more ? arena.allocate(bytes) : Block{}) return block;
    if (!evict_oldest(bytes)) return arena.allocate(bytes);
  }
}

// Takes the block away from the visitor that was not needed for longest: of this size, or else of any, which
// may empty a slab.
bool Residency::State::evict_oldest(std::int64_t bytes) {
  UnitId chosen = -1;
  for (UnitId unit = needed.oldest(); unit != -1; unit = needed.newer(unit)) {
    if (needed_at[at(unit)] == need_calls || in_flight[at(unit)]) continue;
    const bool fits = bytes_of(unit, lowest()) == bytes;
    if (fits || chosen == -1) chosen = unit;
    if (fits) break;
  }
  if (chosen == -1) return false;
  // An earlier part of this pass may still read it.
  if (parts.stream) parts.stream->synchronize();
  const Block block = blocks[at(chosen)];
  needed.erase(chosen);
  set_version(chosen, no_tier, {});
  arrives[at(chosen)] = no_tier;
  arena.release(block);
  emit({.unit = chosen, .target = no_tier, .reason = SwapReason::absent}, lowest(), SwapOutcome::published, 0,
       clock.now());
  return true;
}

// The transient buffer's parts of places that move nothing; waits for one to arrive if all of them do.
std::vector<std::byte*> Residency::State::unused_stagings() {
  std::vector<std::byte*> unused;
  if (!transient) return unused;
  while (true) {
    for (const auto& place : places) {
      if (place->stage != Stage::moving) unused.push_back(place->transfer.staging);
    }
    if (!unused.empty()) return unused;
    mark_arrived(*pipeline->wait());
  }
}

}  // namespace fovea::precision
