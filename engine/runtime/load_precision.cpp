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
    const PlannedLoad& planned, std::unique_ptr<precision::VersionSource> source,
    const kernels::Device& device, const PrecisionControl::Parts& parts, CardPrecision& card) {
  const std::int64_t bytes = planned.host_cache_bytes;
  if (bytes == 0) return source;
  FOVEA_TRY(const kernels::Device* const processor, chosen_device({}));
  auto cache = precision::VersionCache::create(*processor, device, bytes, std::ssize(*parts.tiers),
                                               precision::version_sizes(*parts.units, *parts.tiers, device));
  if (!cache) {
    Error why = errors::no_memory_for_host_cache(Bytes{bytes}).at(phrases::main_memory_place());
    if (planned.plan.options.precision.host_cache_bytes >= 0) return std::unexpected(std::move(why));
    card.not_cached = std::move(why);
    return source;
  }
  card.cache = cache->get();
  (*cache)->read_from(std::move(source));
  return std::unique_ptr<precision::VersionSource>(*std::move(cache));
}

// One of them, with the units and tiers of all.
Result<CardPrecision> start_card(CardLoad load, const PrecisionControl::Parts& parts, std::size_t cards,
                                 const ProgressSink& progress, const std::stop_token& stop) {
  PlannedLoad& planned = load.planned;
  const LoadOptions& options = planned.plan.options;
  PrecisionRequest request = options.precision;
  request.traffic_gb_per_s /= static_cast<double>(cards);  // what was asked for is of both together
  const PolicyKind kind = planned.fitted.units.policy;
  const bool places = !planned.fitted.units.changes_places.empty();
  const bool from_host = planned.fitted.units.comes_from_host();
  const std::vector<bool> stays_away = planned.fitted.units.stays_away();
  CardPrecision card{.layers = planned.fitted.layers, .device = &load.device};
  card.policy = std::move(load.policy);
  card.quality = std::make_unique<precision::QualityMeter>(planned.world);
  const std::vector<precision::UnitId> order =
      lowers_layers(kind) ? precision::ladder_order(planned.world) : std::vector<precision::UnitId>();
  const std::vector<TierId> first = without_absent(card.policy->initial(), stays_away);
  card.plan = std::move(planned.fitted.precision);
  if (from_host) {
    FOVEA_TRY(auto from, precision::HostSource::create(*load.host, *parts.units, parts.tiers->front(),
                                                       load.device, planned.fitted.units.changes_places));
    card.packed_bytes = from->packed_bytes();
    card.source = std::move(from);
  } else {
    FOVEA_TRY(card.source, kept_in_memory(planned, std::move(load.source), load.device, parts, card));
  }
  const std::int32_t in_flight =
      precision::swaps_at_once(kind, request.dynaexq, request.fovea, parts.units->size());
  FOVEA_TRY(card.first_token,
            precision::FirstToken::create(
                precision::FirstToken::scope(request, kind, *parts.units, *parts.tiers, load.device,
                                             load.model.config().experts_used()),
                *parts.units, *parts.tiers, load.device, *card.source));
  // What it is measured with is given back before the arena takes what the plan gives it.
  const double traffic_limit = traffic_limit_gb_per_s(
      request, [&] { return shared_gb_per_s(load.device, options.threads); },
      from_host ? places_traffic_share : traffic_share);
  if (traffic_limit == 0)
    log::warning("runtime", "how fast versions may be read could not be measured: no limit");
  FOVEA_TRY(precision::Arena arena, precision::Arena::create(load.device, card.plan.arena));
  const bool some_stay = std::ranges::find(stays_away, true) != stays_away.end();
  FOVEA_TRY(card.residency,
            precision::Residency::create(
                {.units = parts.units.get(),
                 .tiers = parts.tiers.get(),
                 .device = &load.device,
                 .source = card.source.get(),
                 .handles = handles_of(load.model, *parts.units),
                 .on_publish =
                     [&model = load.model, host = places ? load.host : nullptr,
                      units = parts.units.get()](precision::UnitId id) {
                       const precision::Unit& unit = (*units)[id];
                       models::LayerWeights& layer = model.handles()[static_cast<std::size_t>(unit.layer)];
                       ++layer.revision;
                       if (host == nullptr) return;
                       const kernels::Expert& expert = layer.experts[static_cast<std::size_t>(unit.index)];
                       host->set_on_device(unit.layer, unit.index, static_cast<bool>(expert.gate));
                     },
                 .on_host = load.device.memory_is_host() || !some_stay ? std::vector<bool>{} : stays_away,
                 .host_place = places},
                std::move(arena),
                {.swaps = {.transfer_bytes = request.transfer_bytes > 0 && !from_host
                                                 ? request.transfer_bytes
                                                 : card.plan.plan.host.transfer,
                           .in_flight = in_flight,
                           .queue = std::max(precision::SwapLimits{}.queue, in_flight),
                           .publish_after_passes = request.publish_after_passes},
                 .on_demand_blocks = card.plan.on_demand_blocks,
                 .bytes_per_second = 1e9 * traffic_limit}));
  FOVEA_CHECK(card.residency->fill(first, options.threads, progress, stop, order));
  return card;
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

Result<std::unique_ptr<PrecisionControl>> start_precision(std::vector<CardLoad> cards,
                                                          const ProgressSink& progress,
                                                          std::stop_token stop) {
  const PlannedLoad& any = cards.back().planned;
  PrecisionControl::Parts parts;
  parts.units = std::make_unique<precision::UnitTable>(any.fitted.units.units);
  parts.tiers = std::make_unique<precision::TierSet>(any.fitted.units.tiers);
  parts.calibrated_uses = any.world.uses;
  if (const std::filesystem::path& events = any.plan.options.precision.events; !events.empty()) {
    FOVEA_TRY(parts.log, SwapLog::create(events));
  }
  for (CardLoad& load : cards) {
    FOVEA_TRY(CardPrecision card, start_card(std::move(load), parts, cards.size(), progress, stop));
    parts.cards.push_back(std::move(card));
  }
  return std::make_unique<PrecisionControl>(std::move(parts));
}

}  // namespace fovea::runtime
