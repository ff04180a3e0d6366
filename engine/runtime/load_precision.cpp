#include "engine/runtime/load_precision.h"

#include <algorithm>
#include <numeric>

#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/core/shell_word.h"
#include "engine/layers/forward.h"
#include "engine/models/placement.h"
#include "engine/models/say.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/offload.h"
#include "engine/precision/size_text.h"
#include "engine/precision/static_plan.h"
#include "engine/precision/static_policy.h"
#include "engine/precision/store_profile.h"
#include "engine/precision/store_source.h"
#include "engine/precision/tier_map.h"
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/prepare.h"
#include "engine/runtime/processor.h"
#include "kernels/cpu/ceiling.h"

namespace fovea::runtime {
namespace {

using models::say;
using precision::PrecisionPlan;
using precision::size_text;
using precision::TierId;
using precision::UnitPlan;

Result<precision::Surroundings> surroundings(const checkpoint::Checkpoint& checkpoint,
                                             const models::WeightPlan& weights,
                                             const models::ModelConfig& config, const LoadRequest& settings,
                                             const kernels::Device& device, models::UnitScope scope) {
  precision::Surroundings around{
      .dense_bytes = models::Placement(checkpoint, device, scope).measure(weights, config).resident(),
      .kv_bytes = KvCache::bytes(kv_settings(config, settings.context, settings.kv)),
      .activation_bytes = layers::Forward::activation_bytes(config, settings.chunk),
      .experts_used = config.experts_used,
      .chunk = settings.chunk};
  if (!device.memory_is_host()) {
    around.safety_bytes = precision::card_safety_bytes;
    around.safety_share = 0;
    FOVEA_TRY(const kernels::Device* processor, chosen_device({}));
    around.host_bytes = host_bytes(checkpoint, *processor);
  }
  return around;
}

// A GPU's budget is what its driver says is free, unless less is asked for.
Result<PrecisionRequest> within_free_memory(PrecisionRequest request, const kernels::Device& device) {
  if (device.memory_is_host()) return request;
  const std::int64_t free = free_bytes(device);
  if (request.budget_bytes > free)
    return fail(ErrorKind::memory, "budget",
                std::to_string(request.budget_bytes) + " bytes are more than the " + std::to_string(free) +
                    " that " + device.name() + " has free beside other programs",
                "Give a smaller budget, or close other programs that use it");
  if (request.budget_bytes == 0) request.budget_bytes = free;
  return request;
}

// The command that makes this store, and no other.
std::string making_of(const std::filesystem::path& path, const UnitPlan& units, const LoadRequest& settings) {
  std::string command = "fovea prepare " + shell_word(settings.model.string()) + " --tiers ";
  for (const precision::Tier& tier : units.tiers) command += (command.ends_with(' ') ? "" : ",") + tier.name;
  if (!settings.device.empty()) command += " --device " + settings.device;
  return command + " --out " + shell_word(path.string()) + " --rebuild";
}

Result<checkpoint::Store> open_store(const checkpoint::Checkpoint& checkpoint, const UnitPlan& units,
                                     const LoadRequest& settings, const kernels::Device& device,
                                     const ProgressSink& progress, std::stop_token stop) {
  const checkpoint::StoreIdentity identity =
      precision::store_identity(checkpoint, units.units, units.tiers, device);
  const PrecisionRequest& asked = settings.precision;
  const std::filesystem::path path =
      asked.store.empty() ? asked.stores_folder / precision::store_name(settings.model, identity)
                          : asked.store;
  // Past the page cache: a third of the processor's time for the same bytes, and nothing else is pushed out.
  auto store = checkpoint::Store::open(path, identity, checkpoint::ReadMode::direct);
  if (store) return store;
  if (store.error().kind != ErrorKind::not_found) {
    Error refused = std::move(store).error();
    std::error_code ignored;
    if (refused.kind != ErrorKind::io && std::filesystem::is_regular_file(path, ignored))
      refused.advice = "Make it again: " + making_of(path, units, settings);
    return std::unexpected(std::move(refused));
  }
  PrepareRequest request;
  request.model = settings.model;
  request.store = path;
  request.threads = settings.threads;
  for (const precision::Tier& tier : units.tiers) request.tiers.push_back(tier.name);
  request.scope =
      units.units.scope() == models::UnitScope::experts ? PrepareScope::experts : PrepareScope::linear_layers;
  FOVEA_TRY(const PrepareReport report, prepare(request, device, progress, std::move(stop)));
  log::info("runtime", "prepared ", path.string(), ": ", report.bytes, " bytes in ", report.seconds, " s");
  return checkpoint::Store::open(path, identity, checkpoint::ReadMode::direct);
}

precision::PolicyWorld world_of(const UnitPlan& units, const PrecisionPlan& plan,
                                const checkpoint::Store* store, const kernels::Device& device) {
  precision::PolicyWorld world;
  for (std::int64_t layer = 0; layer <= units.units.layers(); ++layer)
    world.first_unit.push_back(units.units.first(layer));
  for (const PlanTier& tier : plan.plan.parts.experts) world.bits_per_weight.push_back(tier.bits_per_weight);
  world.unit_bytes = precision::version_sizes(units.units, units.tiers, device);
  world.capacity = plan.capacity;
  world.spare_blocks = std::max<std::int64_t>(1, plan.spare_blocks);
  world.high_per_layer = plan.high_per_layer;
  world.layers_with_more = plan.layers_with_more;
  std::vector<std::int64_t> tiers(static_cast<std::size_t>(world.tiers()));
  std::iota(tiers.begin(), tiers.end(), 0);
  if (store == nullptr) return world;
  precision::StoreProfile profile = precision::store_profile(*store, world.first_unit, tiers);
  world.damage = std::move(profile.damage);
  world.uses = std::move(profile.uses);
  return world;
}

Result<std::vector<TierId>> mapped_tiers(const UnitPlan& units, const std::filesystem::path& map) {
  std::vector<std::string> names, tiers;
  for (std::int64_t unit = 0; unit < units.units.size(); ++unit)
    names.push_back(units.units.name(static_cast<precision::UnitId>(unit)));
  for (const precision::Tier& tier : units.tiers) tiers.push_back(tier.name);
  return precision::read_tier_map(map, names, tiers);
}

// Which flags would make it fit, with the number where there is one.
std::string leaving_more_to_host(const models::WeightPlan& weights, const kernels::Device& device,
                                 PrecisionRequest request, const precision::Surroundings& around) {
  const bool has_experts =
      std::ranges::any_of(weights.layers, [](const auto& layer) { return !layer.experts.empty(); });
  request.offload = {};
  const auto fits = [&] {
    const auto units = precision::plan_units(weights, device, request, around);
    return units && precision::plan_precision_anyway(units->inputs, PolicyKind::none).plan.fits;
  };
  std::string flag;
  const std::int64_t layers = std::ssize(weights.layers);
  for (std::int64_t away = 1; away <= layers && flag.empty(); ++away) {
    request.offload.cpu_moe_layers = has_experts ? away : 0;
    request.offload.gpu_layers = has_experts ? -1 : layers + 1 - away;
    if (fits()) flag = has_experts ? say("--n-cpu-moe ", away) : say("-ngl ", layers + 1 - away);
  }
  if (flag.empty())
    return say("Choose a shorter context or a smaller model: it does not fit even with all ",
               has_experts ? "experts" : "feed-forward layers", " left to the processor (",
               has_experts ? "--n-cpu-moe" : "-ngl", ", --override-tensor)");
  return say("Leave more to the processor: ", flag, " fits",
             has_experts ? " (--n-cpu-moe auto finds it)" : "",
             "; --override-tensor chooses by name. Or choose a shorter context");
}

// Swaps may take this share of the memory's bandwidth from decoding.
constexpr double traffic_share = 0.05;

// Where the device's memory is its own, the link to it is slower than this share of its memory: no limit.
double traffic_limit_gb_per_s(const PrecisionRequest& request, const kernels::Device& device,
                              kernels::Stream& stream) {
  if (request.traffic_gb_per_s > 0 || !device.memory_is_host()) return request.traffic_gb_per_s;
  constexpr std::int64_t buffer_bytes = 64 << 20;  // little beside the arena, which is not filled yet
  return traffic_share * kernels::cpu::read_bandwidth_gb_per_s(stream, buffer_bytes);
}

// What stays off the device is named by the plan; a policy for the rest never hears of it.
std::vector<TierId> without_absent(std::vector<TierId> tiers, const std::vector<bool>& absent) {
  for (std::size_t unit = 0; unit < absent.size(); ++unit) {
    if (absent[unit]) tiers[unit] = no_tier;
  }
  return tiers;
}

}  // namespace

Result<std::optional<PreparedPrecision>> prepare_precision(const checkpoint::Checkpoint& checkpoint,
                                                           const models::ModelConfig& config,
                                                           const LoadRequest& settings,
                                                           const kernels::Device& device,
                                                           const ProgressSink& progress, std::stop_token stop,
                                                           const VersionMaker& versions) {
  FOVEA_TRY(const PrecisionRequest request, within_free_memory(settings.precision, device));
  const bool has_experts = config.experts > 0;
  const PolicyKind policy = precision::chosen_policy(request, has_experts, !device.memory_is_host());
  if (policy == PolicyKind::none) return std::nullopt;
  FOVEA_TRY(const models::WeightPlan weights, models::plan_weights(checkpoint, config));
  FOVEA_TRY(const auto around, surroundings(checkpoint, weights, config, settings, device,
                                            precision::unit_scope(policy, has_experts)));
  FOVEA_TRY(UnitPlan units, precision::plan_units(weights, device, request, around));
  std::vector<TierId> first;
  if (!request.tier_map.empty()) {
    FOVEA_TRY(first, mapped_tiers(units, request.tier_map));
    units.inputs.counts = precision::counts_of(units, first);
  }
  FOVEA_TRY(PrecisionPlan plan, precision::plan_precision(units.inputs, units.policy));
  std::optional<checkpoint::Store> store;
  if (!versions) {
    FOVEA_TRY(store, open_store(checkpoint, units, settings, device, progress, std::move(stop)));
  }
  precision::PolicyWorld world = world_of(units, plan, store ? &*store : nullptr, device);
  if (units.policy != PolicyKind::dynaexq && first.empty()) {
    // Nobody knows yet what the conversation will be about: units count as the calibration used them.
    std::vector<double> uses(world.uses.begin(), world.uses.end());
    uses.resize(static_cast<std::size_t>(world.units()), 1);
    FOVEA_TRY(precision::StaticPlan best,
              precision::plan_static(units, precision::expected_loss(world, uses)));
    plan = std::move(best.plan);
    first = std::move(best.tiers);
    world.capacity = plan.capacity;
  }
  plan.plan.notes = std::move(units.notes);
  std::vector<models::HostShare> host;
  if (around.host_bytes) host = precision::host_shares(units.units, units.absent);
  std::unique_ptr<precision::VersionSource> source =
      versions ? versions(units) : std::make_unique<precision::StoreSource>(*std::move(store));
  return PreparedPrecision{.units = std::move(units),
                           .plan = std::move(plan),
                           .world = std::move(world),
                           .first = std::move(first),
                           .host = std::move(host),
                           .source = std::move(source)};
}

Result<std::vector<models::HostShare>> plan_without_policy(const checkpoint::Checkpoint& checkpoint,
                                                           const models::ModelConfig& config,
                                                           const LoadRequest& settings,
                                                           const kernels::Device& device) {
  FOVEA_TRY(PrecisionRequest request, within_free_memory(settings.precision, device));
  request.policy = PolicyKind::none;
  FOVEA_TRY(const models::WeightPlan weights, models::plan_weights(checkpoint, config));
  FOVEA_TRY(const auto around,
            surroundings(checkpoint, weights, config, settings, device, models::UnitScope::none));
  FOVEA_TRY(const UnitPlan units, precision::plan_units(weights, device, request, around));
  const Plan plan = precision::plan_precision_anyway(units.inputs, PolicyKind::none).plan;
  for (const std::string& note : units.notes) log::info("runtime", note);
  if (!plan.fits)
    return fail(ErrorKind::memory, "budget",
                say(size_text(plan.budget_bytes), " (", plan.budget_bytes, " bytes) is too small for ",
                    device.name(), ": the model and its context take ", size_text(plan.least_bytes), " (",
                    plan.least_bytes, " bytes)"),
                leaving_more_to_host(weights, device, request, around));
  log::info("runtime", "the plan for ", device.name(), ": ", plan.total_bytes, " of ", plan.budget_bytes,
            " bytes, and beside it ", plan.units_on_host, " units of ", plan.host_bytes,
            " bytes that the processor computes");
  return precision::host_shares(units.units, units.absent);
}

Result<std::unique_ptr<precision::Policy>> make_policy(const PreparedPrecision& prepared,
                                                       const PrecisionRequest& request) {
  if (prepared.units.policy == PolicyKind::dynaexq)
    return precision::make_dynaexq(prepared.world, request.dynaexq);
  return precision::make_static(prepared.world, prepared.first);
}

Result<std::unique_ptr<PrecisionControl>> start_precision(
    PreparedPrecision prepared, std::unique_ptr<precision::Policy> policy, models::Model& model,
    const LoadRequest& settings, const kernels::Device& device, kernels::Stream& stream,
    const ProgressSink& progress, std::stop_token stop) {
  const PrecisionRequest& request = settings.precision;
  PrecisionControl::Parts parts;
  parts.device = &device;
  parts.policy = std::move(policy);
  const std::vector<TierId> first = without_absent(parts.policy->initial(), prepared.units.absent);
  parts.units = std::make_unique<precision::UnitTable>(std::move(prepared.units.units));
  parts.tiers = std::make_unique<precision::TierSet>(std::move(prepared.units.tiers));
  parts.plan = std::move(prepared.plan);
  parts.source = std::move(prepared.source);
  parts.experts_used = model.config().experts_used;
  if (!request.events.empty()) {
    FOVEA_TRY(parts.log, SwapLog::create(request.events));
  }
  FOVEA_TRY(precision::Arena arena, precision::Arena::create(device, parts.plan.arena));
  FOVEA_TRY(parts.residency,
            precision::Residency::create(
                {.units = parts.units.get(),
                 .tiers = parts.tiers.get(),
                 .device = &device,
                 .source = parts.source.get(),
                 .handles = handles_of(model, *parts.units),
                 .on_publish =
                     [&model, units = parts.units.get()](precision::UnitId unit) {
                       ++model.handles()[static_cast<std::size_t>((*units)[unit].layer)].revision;
                     },
                 .on_host = prepared.host.empty() ? std::vector<bool>{} : std::move(prepared.units.absent)},
                std::move(arena),
                {.transfer_bytes =
                     request.transfer_bytes > 0 ? request.transfer_bytes : parts.plan.plan.parts.transfer,
                 .in_flight = request.dynaexq.in_flight,
                 .visitors = parts.plan.visitor_blocks,
                 .bytes_per_second = 1e9 * traffic_limit_gb_per_s(request, device, stream),
                 .publish_after_passes = request.publish_after_passes}));
  FOVEA_CHECK(parts.residency->fill(first, settings.threads, progress, std::move(stop)));
  return std::make_unique<PrecisionControl>(std::move(parts));
}

}  // namespace fovea::runtime
