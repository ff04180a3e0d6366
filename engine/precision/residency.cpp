#include "engine/precision/residency.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "engine/precision/errors.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/on_demand_cache.h"
#include "engine/precision/residency_state.h"

namespace fovea::precision {

TransientBuffer::~TransientBuffer() {
  if (memory_) device_.release_host(memory_, bytes_);
}

bool TransientBuffer::allocate(std::int64_t parts, std::int64_t part_bytes) {
  bytes_ = parts * part_bytes;
  memory_ = device_.allocate_host(bytes_);
  if (!memory_) return false;
  for (std::int64_t i = 0; i < parts; ++i) parts_.push_back(memory_ + i * part_bytes);
  return true;
}

PublishedHandles::PublishedHandles(const UnitTable& units, const TierSet& tiers,
                                   const kernels::Device& device, Handles handles)
    : units_(units), tiers_(tiers), device_(device), handles_(std::move(handles)) {}

std::int64_t PublishedHandles::bits_of(UnitId unit, TierId tier) const {
  std::int64_t bits = 0;
  for (const models::MatrixSource& matrix : units_[unit].matrices())
    bits += 8 * matrix.rows * kernels::row_bytes(type_of(tiers_[tier], matrix), matrix.columns);
  return bits;
}

// Without data a matrix keeps its shape: kernels take a layer's from any of its experts.
std::array<kernels::Weight, 3> PublishedHandles::weights(UnitId unit, TierId tier, const Block& block) const {
  if (block) return weights_at(tiers_[tier], units_[unit], device_, block.memory);
  std::array<kernels::Weight, 3> weights;
  for (std::size_t part = 0; part < units_[unit].matrices().size(); ++part) {
    const models::MatrixSource& matrix = units_[unit].parts[part];
    const kernels::Type type = type_of(tiers_.front(), matrix);
    weights[part] = {nullptr, type, device_.preferred_packing(type, matrix.rows, matrix.columns), matrix.rows,
                     matrix.columns};
  }
  return weights;
}

void PublishedHandles::set(UnitId unit, TierId from, TierId to, const Block& block) {
  const auto count = [&](TierId tier, std::int64_t sign) {
    if (tier >= tiers_.size()) return;
    bits_ += sign * bits_of(unit, tier);
    parameters_ += sign * units_[unit].parameters();
  };
  count(from, -1);
  count(to, 1);
  const auto weights = this->weights(unit, to, block);
  for (std::size_t part = 0; part < weights.size(); ++part) {
    if (kernels::Weight* const handle = handles_[static_cast<std::size_t>(unit)][part])
      *handle = weights[part];
  }
}

double PublishedHandles::mean_bits_per_weight() const {
  return parameters_ == 0 ? 0 : static_cast<double>(bits_) / static_cast<double>(parameters_);
}

Result<void> PublishedHandles::audit(const VersionTable& versions) const {
  std::int64_t bits = 0, parameters = 0;
  for (UnitId unit = 0; unit < versions.units(); ++unit) {
    const TierId tier = versions.tier(unit);
    const auto expected = weights(unit, tier, versions.block(unit));
    if (tier < tiers_.size()) {
      bits += bits_of(unit, tier);
      parameters += units_[unit].parameters();
    }
    for (std::size_t part = 0; part < expected.size() && versions.filled(); ++part) {
      const kernels::Weight* const handle = handles_[static_cast<std::size_t>(unit)][part];
      if (handle &&
          (handle->data != expected[part].data || (handle->data && handle->type != expected[part].type)))
        return fail(phrases::name_place(versions.name(unit)), errors::handle_not_at_block(part));
    }
  }
  if (bits == bits_ && parameters == parameters_) return {};
  return fail(phrases::residency_place(), errors::handle_bits(bits_, parameters_, bits, parameters));
}

Residency::State::State(Parts& given, const ResidencySettings& given_settings)
    : device(*given.device),
      settings(given_settings),
      clock(settings.clock ? *settings.clock : real_clock()),
      source(*given.source),
      on_publish(std::move(given.on_publish)),
      recorder(clock),
      handles(*given.units, *given.tiers, device, std::move(given.handles)),
      transient(device) {}

Result<void> Residency::State::prepare(const Parts& given, Arena arena) {
  VersionTable::Parts table{.units = given.units,
                            .bytes = version_sizes(*given.units, *given.tiers, device),
                            .on_host = given.on_host,
                            .device = &device,
                            .stream = given.stream};
  for (const Tier& tier : *given.tiers) table.tiers.push_back(tier.name);
  std::int64_t largest_bytes = 0;  // of those that may come to the device
  for (std::size_t version = 0; version < table.bytes.size(); ++version) {
    if (given.on_host.empty() || !given.on_host[version / given.tiers->size()])
      largest_bytes = std::max(largest_bytes, table.bytes[version]);
  }
  if (given.host_place) {
    host_place = static_cast<TierId>(table.tiers.size());
    table.tiers.push_back("host");
    const std::vector<std::int64_t> sizes = std::exchange(table.bytes, {});
    for (std::size_t version = 0; version < sizes.size(); ++version) {
      table.bytes.push_back(sizes[version]);
      if ((version + 1) % given.tiers->size() == 0) table.bytes.push_back(0);
    }
  }
  FOVEA_TRY(const std::int64_t in_flight, swaps_in_flight(settings.swaps, largest_bytes));
  const bool apart = !device.memory_is_host() && largest_bytes > 0;
  const bool staged = apart && !source.holds_all();
  if (staged && !transient.allocate(in_flight, largest_bytes))
    return fail(phrases::transfer_buffer_place(), errors::no_pinned_memory(Bytes{in_flight * largest_bytes}));
  table.max_retired = in_flight;
  table.on_change = [this](UnitId unit, TierId from, TierId to, const Block& block) {
    handles.set(unit, from, to, block);
    if (on_publish) on_publish(unit);
  };
  FOVEA_TRY(versions, VersionTable::create(std::move(table), std::move(arena)));
  assert(settings.reads_at_once >= 1);
  loader.emplace(device, source, *versions, settings.reads_at_once, staged);
  cache.emplace(*versions, *this, recorder, settings.on_demand_blocks);
  // Reads go by pieces; an upload takes its whole version at once.
  limit.emplace(settings.bytes_per_second,
                apart ? largest_bytes : std::min(largest_bytes, checkpoint::paced_bytes));
  pipeline.emplace(device, source, *limit, clock, in_flight);
  queue.emplace(*versions, *cache, *pipeline, recorder, settings.swaps, in_flight, transient.parts());
  return {};
}

std::vector<Result<void>> Residency::State::read(std::span<const VersionLoad> loads) {
  return loader->load_each(loads, queue->idle_staging());
}

Result<void> Residency::State::fill(std::span<const TierId> first, int threads, const ProgressSink& progress,
                                    const std::stop_token& stop, std::span<const UnitId> order) {
  if (versions->filled() || std::ssize(first) != versions->units() ||
      !std::ranges::all_of(first, [this](TierId tier) { return tier == no_tier || versions->is_tier(tier); }))
    return fail(phrases::residency_place(),
                errors::first_tiers_of_others(std::ssize(first), versions->units()));
  for (UnitId unit = 0; unit < versions->units(); ++unit) {
    if (versions->on_host(unit) && first[static_cast<std::size_t>(unit)] != no_tier)
      return fail(phrases::name_place(versions->name(unit)), errors::first_tier_on_host());
  }
  FOVEA_TRY(const std::vector<VersionLoad> loads, versions->reserve(first, order));
  // While nothing is published no swap uses the transient buffer.
  if (auto status = loader->load_all(loads, threads, transient.parts(), progress, stop); !status) {
    for (const VersionLoad& load : loads) versions->give_back(load.block);
    return status;
  }
  versions->publish_first(loads, first);
  cache->begin();
  return {};
}

Result<void> Residency::State::audit() const {
  FOVEA_CHECK(versions->audit(queue->blocks()));
  FOVEA_CHECK(handles.audit(*versions));
  FOVEA_CHECK(cache->audit());
  return queue->audit();
}

Residency::Residency(std::unique_ptr<State> state)
    : on_event(state->recorder.on_event), state_(std::move(state)) {}
Residency::~Residency() = default;

Result<std::unique_ptr<Residency>> Residency::create(Parts parts, Arena arena,
                                                     const ResidencySettings& settings) {
  if (static_cast<std::int64_t>(parts.handles.size()) != parts.units->size())
    return fail(phrases::residency_place(),
                errors::residency_handles(std::ssize(parts.handles), parts.units->size()));
  auto state = std::make_unique<State>(parts, settings);
  FOVEA_CHECK(state->prepare(parts, std::move(arena)));
  return std::unique_ptr<Residency>(new Residency(std::move(state)));
}

Result<void> Residency::fill(std::span<const TierId> tiers, int threads, const ProgressSink& progress,
                             std::stop_token stop, std::span<const UnitId> order) {
  auto status = state_->fill(tiers, threads, progress, stop, order);
  assert(audit());
  return status;
}
bool Residency::request(const Decision& decision) {
  return state_->queue->request(decision);
}
void Residency::end_pass() {
  state_->queue->end_pass();
  assert(queues().sum() == 0 || audit());
}
bool Residency::rest() {
  const bool under_way = state_->queue->rest();
  assert(audit());
  return under_way;
}
void Residency::settle(double seconds) {
  state_->queue->settle(seconds);
  assert(audit());
}
void Residency::cancel_all() {
  state_->queue->cancel_all();
}
void Residency::drain() {
  state_->queue->drain();
  assert(audit());
}
Result<void> Residency::need(std::span<const UnitId> units) {
  auto status = state_->cache->need(units);
  assert(audit());
  return status;
}
bool Residency::may_need() const {
  return state_->cache->may_need();
}
bool Residency::on_host(UnitId unit) const {
  return state_->versions->on_host(unit) || state_->versions->tier(unit) == state_->host_place;
}
std::span<const TierId> Residency::tiers() const {
  return state_->versions->tiers();
}
std::span<const TierId> Residency::tiers_or_target() const {
  return state_->versions->targets();
}
std::int64_t Residency::passes() const {
  return state_->recorder.passes();
}
const SwapCounters& Residency::counters() const {
  return state_->recorder.counters;
}
const Arena& Residency::arena() const {
  return state_->versions->arena();
}
std::int64_t Residency::transfer_bytes() const {
  return state_->transient.bytes();
}
SwapQueue::Lengths Residency::queues() const {
  return state_->queue->lengths();
}
double Residency::mean_bits_per_weight() const {
  return state_->handles.mean_bits_per_weight();
}
Result<void> Residency::audit() const {
  return state_->audit();
}

}  // namespace fovea::precision
