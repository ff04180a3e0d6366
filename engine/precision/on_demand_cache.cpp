#include "engine/precision/on_demand_cache.h"

#include "engine/precision/errors.h"

namespace fovea::precision {

void RecencyList::insert_newest(UnitId unit) {
  at(unit) = {.older = newest_, .newer = -1, .linked = true};
  (newest_ == -1 ? oldest_ : at(newest_).newer) = unit;
  newest_ = unit;
  ++size_;
}

void RecencyList::erase(UnitId unit) {
  const Link link = at(unit);
  if (!link.linked) return;
  (link.older == -1 ? oldest_ : at(link.older).newer) = link.newer;
  (link.newer == -1 ? newest_ : at(link.newer).older) = link.older;
  at(unit) = {};
  --size_;
}

OnDemandCache::OnDemandCache(VersionTable& versions, VersionReader& reader, SwapRecorder& recorder,
                             std::int64_t max_blocks)
    : versions_(versions),
      reader_(reader),
      recorder_(recorder),
      max_blocks_(max_blocks),
      on_disk_(static_cast<std::size_t>(versions.units()), 0),
      held_(versions.units()),
      needed_in_(on_disk_.size(), 0) {}

void OnDemandCache::set_on_disk(UnitId unit, bool value) {
  if (on_disk(unit) == value) return;
  on_disk_[at(unit)] = static_cast<std::uint8_t>(value);
  on_disk_count_ += value ? 1 : -1;
}

void OnDemandCache::begin() {
  for (UnitId unit = 0; unit < versions_.units(); ++unit)
    set_on_disk(unit, versions_.tier(unit) == no_tier && !versions_.on_host(unit));
}

void OnDemandCache::decided(UnitId unit, TierId tier) {
  held_.erase(unit);
  set_on_disk(unit, tier == no_tier);
}

Result<void> OnDemandCache::need(std::span<const UnitId> units) {
  if (!may_need() || !touch(units)) return {};
  const double begun = recorder_.now();
  const auto loads = make_room(units, begun);
  Result<void> status = loads ? bring(*loads, begun) : std::unexpected(loads.error());
  recorder_.counters.stall_seconds += recorder_.now() - begun;
  return status;
}

// From here on none of the units makes another one's room. Whether some are missing.
bool OnDemandCache::touch(std::span<const UnitId> units) {
  ++calls_;
  bool missing = false;
  for (const UnitId unit : units) {
    if (!on_disk(unit)) continue;
    needed_in_[at(unit)] = calls_;
    if (!held_.contains(unit)) {
      missing = true;
      continue;
    }
    held_.erase(unit);
    held_.insert_newest(unit);
  }
  return missing;
}

// Blocks for those of the units that are missing, which count as held from here on.
Result<std::vector<VersionLoad>> OnDemandCache::make_room(std::span<const UnitId> units, double begun) {
  const TierId tier = versions_.lowest();
  std::vector<VersionLoad> loads;
  for (const UnitId unit : units) {
    if (!on_disk(unit) || held_.contains(unit)) continue;
    ++recorder_.counters.stalls;
    if (const Block block = room_for(unit)) {
      loads.push_back({unit, tier, block});
      held_.insert_newest(unit);
      continue;
    }
    for (const VersionLoad& load : loads) {
      versions_.give_back(load.block);
      held_.erase(load.unit);
    }
    recorder_.tell(decision(unit, tier), no_tier, SwapOutcome::refused, 0, begun);
    return fail(
        phrases::name_place(versions_.name(unit)),
        errors::no_block_on_demand(Bytes{versions_.bytes_of(unit, tier)}, held_.size() + std::ssize(loads)));
  }
  return loads;
}

// Reads and publishes them; the first error, when some cannot be read.
Result<void> OnDemandCache::bring(std::span<const VersionLoad> loads, double begun) {
  const std::vector<Result<void>> outcomes = reader_.read(loads);
  Result<void> status;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto& [unit, tier, block] = loads[i];
    const std::int64_t bytes = versions_.bytes_of(unit, tier);
    recorder_.counters.bytes_read += bytes;
    if (outcomes[i]) {
      versions_.publish(unit, tier, block);
      recorder_.tell(decision(unit, tier), no_tier, SwapOutcome::published, bytes, begun);
      continue;
    }
    versions_.give_back(block);
    held_.erase(unit);
    recorder_.tell(decision(unit, tier), no_tier, outcome_of(outcomes[i].error()), bytes, begun);
    if (status) status = outcomes[i];
  }
  return status;
}

Block OnDemandCache::room_for(UnitId unit) {
  const std::int64_t bytes = versions_.bytes_of(unit, versions_.lowest());
  while (true) {
    const bool more = max_blocks_ == 0 || held_.size() < max_blocks_;
    if (const Block block = more ? versions_.allocate(unit, versions_.lowest()) : Block{}) return block;
    if (!evict(bytes)) return versions_.allocate(unit, versions_.lowest());
  }
}

// Takes the block of the unit that was not needed for longest: of this size, or else of any, which may empty
// a slab.
bool OnDemandCache::evict(std::int64_t wanted_bytes) {
  UnitId chosen = -1;
  for (UnitId unit = held_.oldest(); unit != -1; unit = held_.newer(unit)) {
    if (needed_in_[at(unit)] == calls_ || versions_.in_flight(unit)) continue;
    const bool fits = versions_.bytes_of(unit, versions_.lowest()) == wanted_bytes;
    if (fits || chosen == -1) chosen = unit;
    if (fits) break;
  }
  if (chosen == -1) return false;
  held_.erase(chosen);
  versions_.take_away(chosen);
  recorder_.tell(decision(chosen, no_tier), versions_.lowest(), SwapOutcome::published, 0, recorder_.now());
  return true;
}

Result<void> OnDemandCache::audit() const {
  std::int64_t disk = 0, held = 0;
  for (UnitId unit = 0; unit < versions_.units(); ++unit) {
    const auto wrong = [&](Error error) {
      return fail(phrases::name_place(versions_.name(unit)), std::move(error));
    };
    const TierId tier = versions_.tier(unit);
    disk += on_disk(unit);
    held += held_.contains(unit);
    if (on_disk(unit) && versions_.on_host(unit)) return wrong(errors::unit_on_host_and_disk());
    if (versions_.filled() && !on_disk(unit) && !versions_.on_host(unit) && tier == no_tier)
      return wrong(errors::unit_without_version());
    if (held_.contains(unit) && (!on_disk(unit) || tier != versions_.lowest()))
      return wrong(errors::unit_not_brought());
    if (on_disk(unit) && tier != no_tier && !held_.contains(unit))
      return wrong(errors::unit_brought_by_nobody());
  }
  if (disk != on_disk_count_ || held != held_.size())
    return fail(phrases::residency_place(),
                errors::on_demand_counts(on_disk_count_, held_.size(), disk, held));
  return {};
}

}  // namespace fovea::precision
