#include "engine/precision/residency.h"

#include <algorithm>
#include <cassert>

#include "engine/models/say.h"
#include "engine/precision/residency_state.h"

namespace fovea::precision {

using models::say;

void NeededOrder::insert_newest(UnitId unit) {
  at(unit) = {.older = newest_, .newer = -1, .linked = true};
  (newest_ == -1 ? oldest_ : at(newest_).newer) = unit;
  newest_ = unit;
  ++size_;
}

void NeededOrder::erase(UnitId unit) {
  const Link link = at(unit);
  if (!link.linked) return;
  (link.older == -1 ? oldest_ : at(link.older).newer) = link.newer;
  (link.newer == -1 ? newest_ : at(link.newer).older) = link.older;
  at(unit) = {};
  --size_;
}

Residency::State::State(Parts given, Arena given_arena, const ResidencySettings& given_settings)
    : parts(std::move(given)),
      settings(given_settings),
      clock(settings.clock ? *settings.clock : real_clock()),
      arena(std::move(given_arena)),
      needed(parts.units->size()) {
  const auto units = static_cast<std::size_t>(parts.units->size());
  for (UnitId unit = 0; unit < parts.units->size(); ++unit) {
    const Unit& u = (*parts.units)[unit];
    for (const Tier& tier : *parts.tiers) {
      version_bytes.push_back(version_layout(tier, u, *parts.device).bytes);
      if (!on_host(unit)) largest_bytes = std::max(largest_bytes, version_bytes.back());
      std::int64_t bits = 0;
      for (const models::MatrixSource& matrix : u.matrices())
        bits += 8 * matrix.rows * kernels::row_bytes(type_of(tier, matrix), matrix.columns);
      version_bits.push_back(bits);
    }
  }
  tiers.assign(units, no_tier);
  arrives.assign(units, no_tier);
  blocks.assign(units, {});
  in_flight.assign(units, 0);
  on_disk.assign(units, 0);
  needed_at.assign(units, 0);
}

Residency::State::~State() {
  pipeline.reset();
  if (transient) parts.device->release_host(transient, transient_bytes);
}

Result<void> Residency::State::prepare() {
  std::int64_t count = settings.in_flight;
  if (settings.transfer_bytes > 0 && largest_bytes > 0)
    count = std::min(count, settings.transfer_bytes / largest_bytes);
  assert(settings.reads_at_once >= 1);
  if (count < 1 || settings.queue < 1)
    return fail(ErrorKind::invalid, "transfer buffer",
                say("room for ", count, " versions in flight and ", settings.queue,
                    " waiting; expected 1 or more (the largest has ", largest_bytes, " bytes)"),
                "Give a larger transfer buffer");
  const kernels::Device& device = *parts.device;
  if (!device.memory_is_host() && largest_bytes > 0) {
    transient_bytes = count * largest_bytes;
    transient = device.allocate_host(transient_bytes);
    if (!transient)
      return fail(ErrorKind::memory, "transfer buffer",
                  say("no ", transient_bytes, " bytes of pinned memory"),
                  "Give a smaller transfer buffer, or close other programs");
    for (std::int32_t i = 0; i < settings.reads_at_once; ++i)
      load_streams.push_back(device.make_stream({.threads = 1, .background = true}));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    places.push_back(std::make_unique<Place>());
    if (transient) places.back()->transfer.staging = transient + i * largest_bytes;
    if (!parts.stream) continue;
    places.back()->readers_ended = device.make_event();
    if (!places.back()->readers_ended) return fail(ErrorKind::device, device.name(), parts.stream->failure());
  }
  waiting.reserve(static_cast<std::size_t>(settings.queue));
  pool.emplace(settings.reads_at_once);
  // Reads go by pieces; an upload takes its whole version at once.
  limit.emplace(settings.bytes_per_second,
                transient ? largest_bytes : std::min(largest_bytes, checkpoint::paced_bytes));
  pipeline.emplace(device, *parts.source, *limit, clock, static_cast<std::int32_t>(count));
  return {};
}

void Residency::State::set_version(UnitId unit, TierId tier, const Block& block) {
  const Unit& u = (*parts.units)[unit];
  if (tiers[at(unit)] != no_tier) {
    published_bits -= version_bits[version(unit, tiers[at(unit)])];
    published_parameters -= u.parameters();
  }
  // Without data a matrix keeps its shape: kernels take a layer's from any of its experts.
  std::array<kernels::Weight, 3> weights;
  for (std::size_t part = 0; part < u.matrices().size(); ++part) {
    weights[part].rows = u.parts[part].rows;
    weights[part].columns = u.parts[part].columns;
  }
  if (tier != no_tier) {
    weights = weights_at((*parts.tiers)[tier], u, *parts.device, block.memory);
    published_bits += version_bits[version(unit, tier)];
    published_parameters += u.parameters();
  }
  tiers[at(unit)] = tier;
  blocks[at(unit)] = block;
  for (std::size_t part = 0; part < weights.size(); ++part) {
    if (kernels::Weight* const handle = parts.handles[at(unit)][part]) *handle = weights[part];
  }
  if (parts.on_publish) parts.on_publish(unit);
}

void Residency::State::set_on_disk(UnitId unit, bool value) {
  if (on_disk[at(unit)] == static_cast<std::uint8_t>(value)) return;
  on_disk[at(unit)] = static_cast<std::uint8_t>(value);
  on_disk_count += value ? 1 : -1;
}

Residency::Residency(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->owner = this;
}
Residency::~Residency() = default;

Result<std::unique_ptr<Residency>> Residency::create(Parts parts, Arena arena,
                                                     const ResidencySettings& settings) {
  if (static_cast<std::int64_t>(parts.handles.size()) != parts.units->size())
    return fail(
        ErrorKind::internal, "residency",
        say(parts.handles.size(), " handles; expected one for each of ", parts.units->size(), " units"));
  auto state = std::make_unique<State>(std::move(parts), std::move(arena), settings);
  FOVEA_CHECK(state->prepare());
  return std::unique_ptr<Residency>(new Residency(std::move(state)));
}

Result<void> Residency::fill(std::span<const TierId> tiers, int threads, const ProgressSink& progress,
                             std::stop_token stop) {
  return state_->fill(tiers, threads, progress, stop);
}
bool Residency::request(const Decision& decision) {
  return state_->request(decision);
}
void Residency::cancel_all() {
  state_->cancel_all();
}
void Residency::drain() {
  state_->drain();
}
Result<void> Residency::need(std::span<const UnitId> units) {
  return state_->need(units);
}
bool Residency::may_need() const {
  return state_->on_disk_count > 0;
}
bool Residency::on_host(UnitId unit) const {
  return state_->on_host(unit);
}
std::span<const TierId> Residency::tiers() const {
  return state_->tiers;
}
std::span<const TierId> Residency::tiers_or_target() const {
  return state_->arrives;
}
std::int64_t Residency::passes() const {
  return state_->passes;
}
const SwapCounters& Residency::counters() const {
  return state_->counters;
}
const Arena& Residency::arena() const {
  return state_->arena;
}
std::int64_t Residency::transfer_bytes() const {
  return state_->transient_bytes;
}
Residency::Queues Residency::queues() const {
  Queues queues{.queued = static_cast<std::int32_t>(state_->waiting.size())};
  for (const auto& place : state_->places) {
    queues.reading += place->stage == Place::Stage::moving;
    queues.ready += place->stage == Place::Stage::arrived || place->stage == Place::Stage::reclaiming;
  }
  return queues;
}
double Residency::mean_bits_per_weight() const {
  if (state_->published_parameters == 0) return 0;
  return static_cast<double>(state_->published_bits) / static_cast<double>(state_->published_parameters);
}
Result<void> Residency::audit() const {
  return state_->audit();
}

}  // namespace fovea::precision
