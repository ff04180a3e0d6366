#include "engine/precision/on_demand_cache.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/precision/errors.h"

namespace fovea::precision {

namespace {

constexpr double half_life = 50;  // visits
constexpr double lately = 0.1;    // share of visits that a need in the last one is worth

}  // namespace

Demand::Demand(const UnitTable& units)
    : layer_of_(static_cast<std::size_t>(units.size())),
      visits_(static_cast<std::size_t>(units.layers())),
      uses_(layer_of_.size()) {
  for (std::int64_t layer = 0; layer < units.layers(); ++layer)
    std::fill(layer_of_.begin() + units.first(layer), layer_of_.begin() + units.first(layer + 1),
              static_cast<std::int32_t>(layer));
}

void Demand::visit(std::int64_t layer) {
  layer_ = layer;
  ++visits_[static_cast<std::size_t>(layer)];
  ++now_;
}

void Demand::needs(UnitId unit) {
  static const double of_one_visit = 1 - std::exp2(-1 / half_life);
  Use& use = uses_[static_cast<std::size_t>(unit)];
  if (use.visit == now_) return;
  const std::int64_t visit = visits_[static_cast<std::size_t>(layer_)];
  const auto since = static_cast<double>(visit - std::max<std::int64_t>(use.layer_visit, 0));
  use = {
      .share = use.share * std::exp2(-since / half_life) + of_one_visit, .layer_visit = visit, .visit = now_};
}

double Demand::wait(UnitId unit) const {
  const Use& use = of(unit);
  const std::int64_t layer = layer_of_[static_cast<std::size_t>(unit)];
  const auto layers = static_cast<double>(visits_.size());
  const double until_visit =
      static_cast<double>(layer > layer_ ? layer - layer_ : layer - layer_ + std::ssize(visits_));
  if (use.layer_visit < 0) return std::numeric_limits<double>::infinity();
  const auto since = static_cast<double>(visits_[static_cast<std::size_t>(layer)] - use.layer_visit);
  const double probability = std::min(1.0, use.share * std::exp2(-since / half_life) + lately / (1 + since));
  return 1 / probability - 1 + until_visit / layers;
}

OnDemandCache::OnDemandCache(VersionTable& versions, VersionReader& reader, SwapRecorder& recorder,
                             std::int64_t max_blocks)
    : versions_(versions),
      reader_(reader),
      recorder_(recorder),
      max_blocks_(max_blocks),
      on_disk_(static_cast<std::size_t>(versions.units()), 0),
      place_(on_disk_.size(), 0),
      demand_(versions.table()) {}

void OnDemandCache::set_on_disk(UnitId unit, bool value) {
  if (on_disk(unit) == value) return;
  on_disk_[at(unit)] = static_cast<std::uint8_t>(value);
  on_disk_count_ += value ? 1 : -1;
}

void OnDemandCache::hold(UnitId unit) {
  held_.push_back(unit);
  place_[at(unit)] = static_cast<std::uint32_t>(held_.size());
}

void OnDemandCache::let_go(UnitId unit) {
  if (!holds(unit)) return;
  const UnitId last = held_.back();
  held_[place_[at(unit)] - 1] = last;
  place_[at(last)] = place_[at(unit)];
  place_[at(unit)] = 0;
  held_.pop_back();
}

void OnDemandCache::begin() {
  for (UnitId unit = 0; unit < versions_.units(); ++unit)
    set_on_disk(unit, versions_.tier(unit) == no_tier && !versions_.on_host(unit));
}

void OnDemandCache::decided(UnitId unit, TierId tier) {
  let_go(unit);
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
  if (!units.empty()) demand_.visit(versions_.table()[units.front()].layer);
  bool missing = false;
  for (const UnitId unit : units) {
    if (!on_disk(unit)) continue;
    demand_.needs(unit);
    missing |= !holds(unit);
  }
  return missing;
}

// Blocks for those of the units that are missing, which count as held from here on.
Result<std::vector<VersionLoad>> OnDemandCache::make_room(std::span<const UnitId> units, double begun) {
  const TierId tier = versions_.lowest();
  std::vector<VersionLoad> loads;
  for (const UnitId unit : units) {
    if (!on_disk(unit) || holds(unit)) continue;
    ++recorder_.counters.stalls;
    if (const Block block = room_for(unit)) {
      loads.push_back({unit, tier, block});
      hold(unit);
      continue;
    }
    for (const VersionLoad& load : loads) {
      versions_.give_back(load.block);
      let_go(load.unit);
    }
    recorder_.tell(decision(unit, tier), no_tier, SwapOutcome::refused, 0, begun);
    return fail(
        phrases::name_place(versions_.name(unit)),
        errors::no_block_on_demand(Bytes{versions_.bytes_of(unit, tier)}, held() + std::ssize(loads)));
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
    let_go(unit);
    recorder_.tell(decision(unit, tier), no_tier, outcome_of(outcomes[i].error()), bytes, begun);
    if (status) status = outcomes[i];
  }
  return status;
}

Block OnDemandCache::room_for(UnitId unit) {
  const std::int64_t bytes = versions_.bytes_of(unit, versions_.lowest());
  while (true) {
    const bool more = max_blocks_ == 0 || held() < max_blocks_;
    if (const Block block = more ? versions_.allocate(unit, versions_.lowest()) : Block{}) return block;
    if (!evict(bytes)) return versions_.allocate(unit, versions_.lowest());
  }
}

// Takes the block of the unit that is likely needed last: of this size, or else of any, which may empty a
// slab.
bool OnDemandCache::evict(std::int64_t wanted_bytes) {
  UnitId chosen = -1;
  bool chosen_fits = false;
  double longest = 0;
  for (const UnitId unit : held_) {
    if (demand_.just_needed(unit) || versions_.in_flight(unit)) continue;
    const bool fits = versions_.bytes_of(unit, versions_.lowest()) == wanted_bytes;
    if (chosen_fits && !fits) continue;
    const double wait = demand_.wait(unit);
    if (chosen != -1 && fits == chosen_fits && wait <= longest) continue;
    chosen = unit;
    chosen_fits = fits;
    longest = wait;
  }
  if (chosen == -1) return false;
  let_go(chosen);
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
    held += holds(unit);
    if (on_disk(unit) && versions_.on_host(unit)) return wrong(errors::unit_on_host_and_disk());
    if (versions_.filled() && !on_disk(unit) && !versions_.on_host(unit) && tier == no_tier)
      return wrong(errors::unit_without_version());
    if (holds(unit) && (!on_disk(unit) || tier != versions_.lowest()))
      return wrong(errors::unit_not_brought());
    if (on_disk(unit) && tier != no_tier && !holds(unit)) return wrong(errors::unit_brought_by_nobody());
  }
  if (disk != on_disk_count_ || held != this->held())
    return fail(phrases::residency_place(),
                errors::on_demand_counts(on_disk_count_, this->held(), disk, held));
  return {};
}

}  // namespace fovea::precision
