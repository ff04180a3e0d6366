#include "engine/runtime/load_precision.h"

#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/host_source.h"
#include "engine/precision/ladder.h"
#include "engine/precision/version_cache.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/prepare.h"
#include "engine/runtime/processor.h"
#include "kernels/cpu/ceiling.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitPlan;

// What stays off the device is named by the plan; a policy for the rest never hears of it.
std::vector<TierId> without_absent(std::vector<TierId> tiers, const std::vector<bool>& absent) {
  for (std::size_t unit = 0; unit < absent.size(); ++unit) {
    if (absent[unit]) tiers[unit] = no_tier;
  }
  return tiers;
}

// The source, with what main memory keeps of it. Where nobody asked for that, it may do without.
Result<std::unique_ptr<precision::VersionSource>> kept_in_memory(
    const LoadPlan& plan, std::unique_ptr<precision::VersionSource> source, const kernels::Device& device,
    PrecisionControl::Parts& parts) {
  const std::int64_t bytes = plan.plan.host_cache_bytes;
  if (bytes == 0) return source;
  FOVEA_TRY(const kernels::Device* const processor, chosen_device({}));
  auto cache = precision::VersionCache::create(*processor, device, bytes, std::ssize(*parts.tiers),
                                               precision::version_sizes(*parts.units, *parts.tiers, device));
  if (!cache) {
    Error why = errors::no_memory_for_host_cache(Bytes{bytes}).at(phrases::main_memory_place());
    if (plan.options.precision.host_cache_bytes >= 0) return std::unexpected(std::move(why));
    parts.not_cached = std::move(why);
    return source;
  }
  parts.cache = cache->get();
  (*cache)->read_from(std::move(source));
  return std::unique_ptr<precision::VersionSource>(*std::move(cache));
}

}  // namespace

double shared_gb_per_s(const kernels::Device& device, int threads) {
  if (!device.memory_is_host()) return link_gb_per_s(device);
  constexpr std::int64_t buffer_bytes = 64 << 20;  // little beside the arena, which is not filled yet
  const auto processor = chosen_device({});
  const auto stream = processor ? (*processor)->make_stream({.threads = threads}) : nullptr;
  return stream ? kernels::cpu::read_bandwidth_gb_per_s(*stream, buffer_bytes) : 0;
}

double traffic_limit_gb_per_s(const PrecisionRequest& request, const std::function<double()>& shared,
                              double share) {
  return request.traffic_gb_per_s > 0 ? request.traffic_gb_per_s : share * shared();
}

Result<void> build_store(const checkpoint::Checkpoint& checkpoint, const PlannedLoad& planned,
                         const kernels::Device& device, const ProgressSink& progress, std::stop_token stop) {
  const UnitPlan& units = planned.fitted.units;
  const LoadOptions& options = planned.plan.options;
  PrepareRequest request;
  request.model = options.model;
  request.store =
      store_path(options, precision::store_identity(checkpoint, units.units, units.tiers, device));
  request.threads = options.threads;
  for (const precision::Tier& tier : units.tiers) request.tiers.push_back(tier.name);
  request.scope =
      units.units.scope() == models::UnitScope::experts ? PrepareScope::experts : PrepareScope::linear_layers;
  FOVEA_TRY(const PrepareReport report, prepare(request, device, progress, std::move(stop)));
  log::info("runtime", "prepared ", request.store.string(), ": ", report.bytes, " bytes in ", report.seconds,
            " s");
  return {};
}

Result<std::unique_ptr<PrecisionControl>> start_precision(
    PlannedLoad planned, std::unique_ptr<precision::VersionSource> source,
    std::unique_ptr<precision::Policy> policy, models::Model& model, models::HostWeights* host,
    const kernels::Device& device, const ProgressSink& progress, std::stop_token stop) {
  const LoadOptions& options = planned.plan.options;
  const PrecisionRequest& request = options.precision;
  PrecisionControl::Parts parts;
  parts.device = &device;
  parts.policy = std::move(policy);
  parts.quality = std::make_unique<precision::QualityMeter>(planned.world);
  const std::vector<precision::UnitId> order = lowers_layers(planned.fitted.units.policy)
                                                   ? precision::ladder_order(planned.world)
                                                   : std::vector<precision::UnitId>();
  parts.calibrated_uses = std::move(planned.world.uses);
  const std::vector<bool> stays_away = planned.fitted.units.stays_away();
  const bool places = !planned.fitted.units.changes_places.empty();
  const bool from_host = planned.fitted.units.comes_from_host();
  const std::vector<TierId> first = without_absent(parts.policy->initial(), stays_away);
  parts.units = std::make_unique<precision::UnitTable>(std::move(planned.fitted.units.units));
  parts.tiers = std::make_unique<precision::TierSet>(std::move(planned.fitted.units.tiers));
  parts.plan = std::move(planned.fitted.precision);
  if (from_host) {
    FOVEA_TRY(auto from, precision::HostSource::create(*host, *parts.units, parts.tiers->front(), device,
                                                       planned.fitted.units.changes_places));
    parts.packed_bytes = from->packed_bytes();
    parts.source = std::move(from);
  } else {
    FOVEA_TRY(parts.source, kept_in_memory(planned.plan, std::move(source), device, parts));
  }
  if (!request.events.empty()) {
    FOVEA_TRY(parts.log, SwapLog::create(request.events));
  }
  const std::int32_t in_flight = precision::swaps_at_once(planned.fitted.units.policy, request.dynaexq,
                                                          request.fovea, parts.units->size());
  FOVEA_TRY(parts.first_token,
            precision::FirstToken::create(
                precision::FirstToken::scope(request, planned.fitted.units.policy, *parts.units, *parts.tiers,
                                             device, model.config().experts_used()),
                *parts.units, *parts.tiers, device, *parts.source));
  // What it is measured with is given back before the arena takes what the plan gives it.
  const double traffic_limit = traffic_limit_gb_per_s(
      request, [&] { return shared_gb_per_s(device, options.threads); },
      from_host ? places_traffic_share : traffic_share);
  if (traffic_limit == 0)
    log::warning("runtime", "how fast versions may be read could not be measured: no limit");
  FOVEA_TRY(precision::Arena arena, precision::Arena::create(device, parts.plan.arena));
  FOVEA_TRY(
      parts.residency,
      precision::Residency::create(
          {.units = parts.units.get(),
           .tiers = parts.tiers.get(),
           .device = &device,
           .source = parts.source.get(),
           .handles = handles_of(model, *parts.units),
           .on_publish =
               [&model, host = places ? host : nullptr, units = parts.units.get()](precision::UnitId id) {
                 const precision::Unit& unit = (*units)[id];
                 models::LayerWeights& layer = model.handles()[static_cast<std::size_t>(unit.layer)];
                 ++layer.revision;
                 if (host == nullptr) return;
                 const kernels::Expert& expert = layer.experts[static_cast<std::size_t>(unit.index)];
                 host->set_on_device(unit.layer, unit.index, static_cast<bool>(expert.gate));
               },
           .on_host = planned.host.empty() ? std::vector<bool>{} : stays_away,
           .host_place = places},
          std::move(arena),
          {.swaps = {.transfer_bytes = request.transfer_bytes > 0 && !from_host
                                           ? request.transfer_bytes
                                           : parts.plan.plan.host.transfer,
                     .in_flight = in_flight,
                     .queue = std::max(precision::SwapLimits{}.queue, in_flight),
                     .publish_after_passes = request.publish_after_passes},
           .on_demand_blocks = parts.plan.on_demand_blocks,
           .bytes_per_second = 1e9 * traffic_limit}));
  FOVEA_CHECK(parts.residency->fill(first, options.threads, progress, std::move(stop), order));
  return std::make_unique<PrecisionControl>(std::move(parts));
}

}  // namespace fovea::runtime
