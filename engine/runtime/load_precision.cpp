#include "engine/runtime/load_precision.h"

#include <algorithm>
#include <numeric>

#include "engine/api/sentence.h"
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
#include "engine/precision/static_plan.h"
#include "engine/precision/static_policy.h"
#include "engine/precision/store_profile.h"
#include "engine/precision/store_source.h"
#include "engine/precision/tier_map.h"
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/prepare.h"
#include "engine/runtime/processor.h"
#include "kernels/cpu/ceiling.h"

namespace fovea::runtime {
namespace {

using models::say;
using precision::PrecisionPlan;
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
      .experts_used = config.experts_used(),
      .chunk = settings.chunk};
  if (!device.memory_is_host()) {
    FOVEA_TRY(const kernels::Device* processor, chosen_device({}));
    around.host_bytes = host_bytes(checkpoint, *processor);
    count_card(config, settings.context, settings.chunk, around);
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
    if (refused.kind != ErrorKind::io && checkpoint::begins_as_store(path))
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

precision::StoreProfile profile_of(const UnitPlan& units, const checkpoint::Store& store) {
  std::vector<std::int32_t> first_unit;
  for (std::int64_t layer = 0; layer <= units.units.layers(); ++layer)
    first_unit.push_back(units.units.first(layer));
  std::vector<std::int64_t> tiers(units.tiers.size());
  std::iota(tiers.begin(), tiers.end(), 0);
  return precision::store_profile(store, first_unit, tiers);
}

Result<double> processor_gb_per_s(int threads) {
  FOVEA_TRY(const kernels::Device* processor, chosen_device({}));
  return kernels::cpu::read_bandwidth_gb_per_s(*processor->make_stream({.threads = threads}));
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
  if (store == nullptr) return world;
  precision::StoreProfile profile = profile_of(units, *store);
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

bool has_experts(const models::WeightPlan& weights) {
  return std::ranges::any_of(weights.layers, [](const auto& layer) { return !layer.experts.empty(); });
}

// Which flags would make it fit, with the number where there is one.
std::string leaving_more_to_host(const models::WeightPlan& weights, const kernels::Device& device,
                                 PrecisionRequest request, PolicyKind policy,
                                 const precision::Surroundings& around) {
  const bool experts = has_experts(weights);
  // With the flags alone an automatic policy would be another one.
  const char* const also = request.policy != PolicyKind::automatic ? ""
                           : policy == PolicyKind::dynaexq         ? "--policy dynaexq "
                           : policy == PolicyKind::static_tiers    ? "--policy static "
                                                                   : "";
  request.policy = policy;
  request.offload = {};
  const auto fits = [&] {
    const auto units = precision::plan_units(weights, device, request, around);
    return units && precision::plan_precision_anyway(units->inputs, units->policy).plan.fits;
  };
  std::string flag;
  const std::int64_t layers = std::ssize(weights.layers);
  for (std::int64_t away = 1; away <= layers && flag.empty(); ++away) {
    request.offload.cpu_moe_layers = experts ? away : 0;
    request.offload.gpu_layers = experts ? -1 : layers + 1 - away;
    if (fits()) flag = experts ? say("--n-cpu-moe ", away) : say("-ngl ", layers + 1 - away);
  }
  if (flag.empty())
    return say("Choose a shorter context or a smaller model: it does not fit even with all ",
               experts ? "experts" : "feed-forward layers", " left to the processor (",
               experts ? "--n-cpu-moe" : "-ngl", ", --override-tensor)");
  return say("Leave more to the processor: ", also, flag, " fits",
             experts ? " (--n-cpu-moe auto finds it)" : "",
             "; --override-tensor chooses by name. Or choose a shorter context");
}

// Before anything is read: main memory holds what the plan puts beside the card.
Result<void> check_host(Plan& plan, const models::WeightPlan& weights, const kernels::Device& device,
                        const PrecisionRequest& given, const precision::Surroundings& around,
                        std::int64_t main_memory_bytes) {
  if (device.memory_is_host()) return {};
  plan.host_available_bytes = main_memory_bytes;
  const auto plan_with = [&](const OffloadSettings& offload) -> std::optional<Plan> {
    PrecisionRequest request = given;
    request.offload = offload;
    const auto units = precision::plan_units(weights, device, request, around);
    if (!units) return std::nullopt;
    return precision::plan_precision_anyway(units->inputs, units->policy).plan;
  };
  return check_main_memory(plan, [&] {
    return for_less_main_memory(plan, has_experts(weights), std::ssize(weights.layers), plan_with);
  });
}

// Swaps may take this share of the memory's bandwidth from decoding.
constexpr double traffic_share = 0.05;

// Where the device's memory is its own, the link to it is slower than this share of its memory: no limit.
double traffic_limit_gb_per_s(const PrecisionRequest& request, const kernels::Device& device, int threads) {
  if (request.traffic_gb_per_s > 0 || !device.memory_is_host()) return request.traffic_gb_per_s;
  constexpr std::int64_t buffer_bytes = 64 << 20;  // little beside the arena, which is not filled yet
  const auto processor = chosen_device({});
  const auto stream = processor ? (*processor)->make_stream({.threads = threads}) : nullptr;
  return stream ? traffic_share * kernels::cpu::read_bandwidth_gb_per_s(*stream, buffer_bytes) : 0;
}

// What stays off the device is named by the plan; a policy for the rest never hears of it.
std::vector<TierId> without_absent(std::vector<TierId> tiers, const std::vector<bool>& absent) {
  for (std::size_t unit = 0; unit < absent.size(); ++unit) {
    if (absent[unit]) tiers[unit] = no_tier;
  }
  return tiers;
}

}  // namespace

Result<std::optional<PreparedPrecision>> prepare_precision(
    const checkpoint::Checkpoint& checkpoint, const models::ModelConfig& config, const LoadRequest& settings,
    const kernels::Device& device, std::int64_t main_memory_bytes, const ProgressSink& progress,
    std::stop_token stop, const VersionMaker& versions) {
  FOVEA_TRY(const PrecisionRequest request, within_free_memory(settings.precision, device));
  const bool has_experts = config.experts() > 0;
  const PolicyKind policy = precision::chosen_policy(request, has_experts, !device.memory_is_host());
  if (policy == PolicyKind::none) return std::nullopt;
  FOVEA_TRY(const models::WeightPlan weights, models::plan_weights(checkpoint, config));
  FOVEA_TRY(auto around, surroundings(checkpoint, weights, config, settings, device,
                                      precision::unit_scope(policy, has_experts)));
  FOVEA_TRY(UnitPlan units, precision::plan_units(weights, device, request, around));
  std::vector<TierId> first;
  if (!request.tier_map.empty()) {
    FOVEA_TRY(first, mapped_tiers(units, request.tier_map));
    units.inputs.counts = precision::counts_of(units, first);
  }
  auto planned = precision::plan_precision(units.inputs, units.policy);
  if (!planned) {
    Error refused = std::move(planned).error();
    if (around.host_bytes)
      refused.advice = leaving_more_to_host(weights, device, request, units.policy, around);
    return std::unexpected(std::move(refused));
  }
  PrecisionPlan plan = *std::move(planned);
  PrecisionRequest fixed = request;
  fixed.policy = units.policy;
  FOVEA_CHECK(check_host(plan.plan, weights, device, fixed, around, main_memory_bytes));
  std::optional<checkpoint::Store> store;
  if (!versions) {
    FOVEA_TRY(store, open_store(checkpoint, units, settings, device, progress, std::move(stop)));
  }
  if (store && around.host_bytes && request.offload.cpu_moe_layers < 0 && units.cpu_moe_layers > 0) {
    const precision::StoreProfile profile = profile_of(units, *store);
    if (!profile.uses.empty()) {
      FOVEA_TRY(around.host_gb_per_s, processor_gb_per_s(settings.threads));
      around.uses = profile.uses;
      fixed.tiers.clear();  // the store's
      for (const precision::Tier& tier : units.tiers) fixed.tiers.push_back(tier.name);
      FOVEA_TRY(units, precision::plan_units(weights, device, fixed, around));
      FOVEA_TRY(plan, precision::plan_precision(units.inputs, units.policy));
      FOVEA_CHECK(check_host(plan.plan, weights, device, fixed, around, main_memory_bytes));
    }
  }
  precision::PolicyWorld world = world_of(units, plan, store ? &*store : nullptr, device);
  std::vector<models::HostShare> host;
  if (around.host_bytes) host = precision::host_shares(units.units, units.absent);
  if (!host.empty()) world.on_host = units.absent;
  if (units.policy != PolicyKind::dynaexq && first.empty()) {
    // Nobody knows yet what the conversation will be about: units count as the calibration used them.
    FOVEA_TRY(precision::StaticPlan best, precision::plan_static(units, precision::expected_loss(world)));
    best.plan.plan.host_available_bytes = plan.plan.host_available_bytes;
    plan = std::move(best.plan);
    first = std::move(best.tiers);
    world.capacity = plan.capacity;
  }
  plan.plan.notes = std::move(units.notes);
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
                                                           const kernels::Device& device,
                                                           std::int64_t main_memory_bytes) {
  FOVEA_TRY(PrecisionRequest request, within_free_memory(settings.precision, device));
  request.policy = PolicyKind::none;
  FOVEA_TRY(const models::WeightPlan weights, models::plan_weights(checkpoint, config));
  FOVEA_TRY(const auto around,
            surroundings(checkpoint, weights, config, settings, device, models::UnitScope::none));
  FOVEA_TRY(const UnitPlan units, precision::plan_units(weights, device, request, around));
  Plan plan = precision::plan_precision_anyway(units.inputs, PolicyKind::none).plan;
  for (const Phrase& note : units.notes) log::info("runtime", english(note));
  if (!plan.fits)
    return fail(ErrorKind::memory, "budget",
                say(size_text(plan.budget_bytes), " (", plan.budget_bytes, " bytes) is too small for ",
                    device.name(), ": the model and its context take ", size_text(plan.least_bytes), " (",
                    plan.least_bytes, " bytes)"),
                leaving_more_to_host(weights, device, request, PolicyKind::none, around));
  FOVEA_CHECK(check_host(plan, weights, device, request, around, main_memory_bytes));
  log::info("runtime", "the plan for ", device.name(), ": ", plan.total_bytes, " of ", plan.budget_bytes,
            " bytes, and beside it ", plan.units_on_host, " units that the processor computes and buffers, ",
            plan.host_bytes, " bytes of main memory");
  return precision::host_shares(units.units, units.absent);
}

Result<std::unique_ptr<precision::Policy>> make_policy(const PreparedPrecision& prepared,
                                                       const PrecisionRequest& request) {
  if (prepared.units.policy == PolicyKind::dynaexq)
    return precision::make_dynaexq(prepared.world, request.dynaexq);
  return precision::make_static(prepared.world, prepared.first);
}

Result<std::unique_ptr<PrecisionControl>> start_precision(PreparedPrecision prepared,
                                                          std::unique_ptr<precision::Policy> policy,
                                                          models::Model& model, const LoadRequest& settings,
                                                          const kernels::Device& device,
                                                          const ProgressSink& progress,
                                                          std::stop_token stop) {
  const PrecisionRequest& request = settings.precision;
  PrecisionControl::Parts parts;
  parts.device = &device;
  parts.policy = std::move(policy);
  parts.calibrated_uses = std::move(prepared.world.uses);
  const std::vector<TierId> first = without_absent(parts.policy->initial(), prepared.units.absent);
  parts.units = std::make_unique<precision::UnitTable>(std::move(prepared.units.units));
  parts.tiers = std::make_unique<precision::TierSet>(std::move(prepared.units.tiers));
  parts.plan = std::move(prepared.plan);
  parts.source = std::move(prepared.source);
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
                {.swaps = {.transfer_bytes = request.transfer_bytes > 0 ? request.transfer_bytes
                                                                        : parts.plan.plan.host.transfer,
                           .in_flight = request.dynaexq.in_flight,
                           .publish_after_passes = request.publish_after_passes},
                 .on_demand_blocks = parts.plan.visitor_blocks,
                 .bytes_per_second = 1e9 * traffic_limit_gb_per_s(request, device, settings.threads)}));
  FOVEA_CHECK(parts.residency->fill(first, settings.threads, progress, std::move(stop)));
  return std::make_unique<PrecisionControl>(std::move(parts));
}

}  // namespace fovea::runtime
