#include "engine/runtime/load_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/api/sentence.h"
#include "engine/core/result.h"
#include "engine/core/shell_word.h"
#include "engine/layers/forward.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/flexquant.h"
#include "engine/precision/fovea_policy.h"
#include "engine/precision/offload.h"
#include "engine/precision/pmpd.h"
#include "engine/precision/static_plan.h"
#include "engine/precision/static_policy.h"
#include "engine/precision/store_profile.h"
#include "engine/precision/tier_map.h"
#include "engine/precision/token_cost.h"
#include "engine/precision/version_cache.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/plan_advice.h"
#include "engine/runtime/processor.h"
#include "kernels/cpu/ceiling.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitId;
using precision::UnitPlan;

double used_share(const models::ModelConfig& config) {
  if (config.experts() == 0) return 1;
  return static_cast<double>(config.experts_used()) / static_cast<double>(config.experts());
}

// A token's reads without those of units: the embedding is one row.
std::int64_t dense_bytes_per_token(const checkpoint::Checkpoint& file, const models::WeightPlan& weights,
                                   const models::ModelConfig& config, const kernels::Device& device,
                                   models::UnitScope scope) {
  const double used = scope == models::UnitScope::experts ? used_share(config) : 1;
  double units = 0;
  weights.each_matrix([&](const models::MatrixSource& matrix) {
    if (models::is_unit(scope, matrix.role)) units += used * static_cast<double>(matrix.bytes());
  });
  return models::Placement(file, device, models::UnitScope::none).measure(weights, config).per_token -
         static_cast<std::int64_t>(units);
}

// A token's, in the matrices without the output.
double multiply_adds(const models::WeightPlan& weights, const models::ModelConfig& config) {
  const double share = used_share(config);
  double sum = 0;
  weights.each_matrix([&](const models::MatrixSource& matrix) {
    if (matrix.tensor == weights.output.tensor || matrix.tensor == weights.embedding.tensor) return;
    const bool expert = models::is_unit(models::UnitScope::experts, matrix.role);
    sum += (expert ? share : 1) * static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns);
  });
  return sum;
}

std::vector<AttentionPart> attention_parts(const models::ModelConfig& config) {
  std::vector<AttentionPart> parts;
  for (const models::LayerConfig& layer : config.layers) {
    const models::AttentionConfig* const attention = layer.attention();
    if (attention == nullptr) continue;
    auto part = std::ranges::find(parts, attention->window, &AttentionPart::window);
    if (part == parts.end()) part = parts.insert(parts.end(), {.window = attention->window});
    part->multiply_adds += static_cast<double>(2 * attention->heads * attention->head_dim);
  }
  return parts;
}

Result<std::vector<TierId>> mapped_tiers(const UnitPlan& units, const std::filesystem::path& map) {
  std::vector<std::string> names;
  for (UnitId unit = 0; unit < static_cast<UnitId>(units.units.size()); ++unit)
    names.push_back(units.units.name(unit));
  return precision::read_tier_map(map, names, units.inputs.tier_names);
}

std::vector<std::int32_t> first_units(const UnitPlan& units) {
  std::vector<std::int32_t> first;
  for (std::int64_t layer = 0; layer <= units.units.layers(); ++layer)
    first.push_back(units.units.first(layer));
  return first;
}

precision::StoreProfile profile_of(const UnitPlan& units, const checkpoint::Store& store) {
  std::vector<std::int64_t> tiers(units.tiers.size());
  std::iota(tiers.begin(), tiers.end(), 0);
  return precision::store_profile(store, first_units(units), tiers);
}

// The command that makes this store, and no other.
std::string making_of(const std::filesystem::path& path, const UnitPlan& units, const LoadOptions& options) {
  std::string command = "fovea prepare " + shell_word(options.model.string()) + " --tiers ";
  for (const precision::Tier& tier : units.tiers) command += (command.ends_with(' ') ? "" : ",") + tier.name;
  if (!options.device.empty()) command += " --device " + options.device;
  if (lowers_layers(units.policy)) command += " --scope linear";
  return command + " --out " + shell_word(path.string()) + " --rebuild";
}

// Nothing where there is none yet, or where nobody has said where it would be.
Result<std::optional<checkpoint::Store>> open_store(const Subject& subject, const LoadOptions& options,
                                                    const Machine& machine, const UnitPlan& units) {
  const bool somewhere = !options.precision.store.empty() || !options.precision.stores_folder.empty();
  if (!machine.has_store || machine.is_another() || subject.checkpoint == nullptr || !somewhere)
    return std::nullopt;
  const checkpoint::StoreIdentity identity =
      precision::store_identity(*subject.checkpoint, units.units, units.tiers, *machine.device);
  const std::filesystem::path path = store_path(options, identity);
  // Past the page cache: a third of the processor's time for the same bytes, and nothing else is pushed out.
  auto store = checkpoint::Store::open(path, identity, checkpoint::ReadMode::direct);
  if (store) return std::optional(*std::move(store));
  if (store.error().kind == ErrorKind::not_found) return std::nullopt;
  Error refused = std::move(store).error();
  if (refused.kind != ErrorKind::io && checkpoint::begins_as_store(path))
    refused.advice = phrases::make_store_by(making_of(path, units, options));
  return std::unexpected(std::move(refused));
}

precision::PolicyWorld world_of(const Fitted& fitted, const precision::StoreProfile* profile,
                                const Machine& machine) {
  const UnitPlan& units = fitted.units;
  precision::PolicyWorld world;
  world.first_unit = first_units(units);
  for (const PlanTier& tier : fitted.precision.plan.parts.experts)
    world.bits_per_weight.push_back(tier.bits_per_weight);
  world.unit_bytes = precision::version_sizes(units.units, units.tiers, *machine.device);
  world.capacity = fitted.precision.capacity;
  world.spare_blocks = std::max<std::int64_t>(1, fitted.precision.spare_blocks);
  world.high_per_layer = fitted.precision.high_per_layer;
  world.layers_with_more = fitted.precision.layers_with_more;
  if (profile != nullptr) {
    world.damage = profile->damage;
    world.damage_is_divergence = profile->damage_is_divergence;
    world.uses = profile->uses;
  }
  if (machine.is_card() && std::ranges::find(units.absent, true) != units.absent.end())
    world.on_host = units.absent;
  return world;
}

Result<double> processor_gb_per_s(int threads) {
  FOVEA_TRY(const kernels::Device* processor, chosen_device({}));
  return kernels::cpu::read_bandwidth_gb_per_s(*processor->make_stream({.threads = threads}));
}

// Why the plan cannot be carried out; its advice goes into the plan as well.
std::optional<Error> refusal(const Subject& subject, const LoadOptions& options, const Machine& machine,
                             Fitted& fitted) {
  Plan& plan = fitted.precision.plan;
  const Phrase device =
      machine.is_another() ? phrases::the_card() : phrases::name_place(machine.device->name());
  if (machine.is_card() && !machine.is_another() && plan.budget_bytes > machine.device_free_bytes()) {
    plan.fits = false;
    plan.advice = {phrases::smaller_budget()};
    return errors::budget_beyond_device(Bytes{plan.budget_bytes}, Bytes{machine.device_free_bytes()}, device)
        .at(phrases::budget_place());
  }
  if (!plan.fits) {
    plan.advice = advise_on_budget(subject, options, machine, fitted);
    const Bytes budget{plan.budget_bytes}, least{plan.min_bytes};
    Error error = fitted.units.policy == PolicyKind::none
                      ? errors::budget_too_small_for_device(budget, device, least)
                      : errors::budget_too_small_for_tier(budget,
                                                          lowers_layers(fitted.units.policy)
                                                              ? fitted.units.inputs.tier_names.front()
                                                              : fitted.units.inputs.tier_names.back(),
                                                          least);
    return std::move(error)
        .at(phrases::budget_place())
        .advise(advise_in_short(subject, options, machine, fitted));
  }
  const auto advice = [&] { return advise_on_main_memory(subject, options, machine, plan); };
  if (auto held = check_main_memory(plan, advice); !held) {
    plan.fits = false;
    plan.advice = {held.error().advice};
    return std::move(held).error();
  }
  return std::nullopt;
}

// Of the units that the processor computes beside a card, for each token.
double host_multiply_adds(const UnitPlan& units, std::span<const double> chances) {
  double sum = 0;
  for (UnitId id = 0; id < static_cast<UnitId>(units.units.size()); ++id) {
    const auto u = static_cast<std::size_t>(id);
    if (units.absent[u]) sum += chances[u] * static_cast<double>(units.units[id].parameters());
  }
  return sum;
}

// Units that a token is expected to use of those that are the host's.
double uses_of_absent(const UnitPlan& units, std::int64_t experts_used, std::span<const float> uses) {
  const std::vector<double> chances = precision::chances(units.units, experts_used, uses);
  double sum = 0;
  for (std::size_t unit = 0; unit < chances.size(); ++unit)
    if (units.absent[unit]) sum += chances[unit];
  return sum;
}

// What a token uses of the units that are on disk alone, in bytes of memory, and how much of it is to be
// read: at most, if memory kept those that the chances call likeliest.
struct OnDisk {
  double used = 0, read = 0;
};
OnDisk on_disk(const Fitted& fitted, std::span<const double> chances) {
  std::vector<std::pair<double, double>> uses;  // chance, bytes
  for (std::size_t unit = 0; unit < chances.size(); ++unit) {
    if (fitted.units.absent[unit])
      uses.emplace_back(
          chances[unit],
          static_cast<double>(fitted.units.inputs.groups[fitted.units.group[unit]].bytes.back()));
  }
  std::ranges::sort(uses, std::greater());
  OnDisk sum;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const double bytes = uses[i].first * uses[i].second;
    sum.used += bytes;
    if (static_cast<std::int64_t>(i) >= fitted.precision.on_demand_blocks) sum.read += bytes;
  }
  return sum;
}

// What a token reads at least on either side, and what a prompt takes.
void predict(const Subject& subject, const Machine& machine, const Fitted& fitted,
             std::span<const float> uses, LoadPlan& plan) {
  const models::ModelConfig& config = *subject.config;
  const MachineFacts& facts = machine.facts;
  const bool experts = subject.has_experts(), card = machine.is_card();
  const auto reads = [&](std::span<const double> chances) {
    return precision::unit_reads(fitted.units, fitted.precision, chances, subject.host_bytes);
  };
  std::vector<double> chances = precision::chances(fitted.units.units, config.experts_used(), uses);
  auto token = reads(chances);
  if (!card) {
    const OnDisk disk = on_disk(fitted, chances);
    token.device += disk.used;
    plan.disk_bytes_per_token = disk.read;
  }
  const double on_host = card ? host_multiply_adds(fitted.units, chances) : 0;
  const auto in_pass = [&](double chance) {
    return 1 - std::pow(1 - chance, static_cast<double>(plan.options.chunk));
  };
  for (double& chance : chances) chance = in_pass(chance);
  const auto pass = reads(chances);
  const models::UnitScope scope = fitted.units.units.scope();
  const auto dense = static_cast<double>(subject.dense_bytes_per_token(scope));
  const bool moves_experts = scope == models::UnitScope::experts;
  // Where the units of a mixture are its layers, its experts are as the file has them.
  const double file_experts =
      experts && !moves_experts
          ? static_cast<double>(subject.dense_bytes_per_token(models::UnitScope::none) -
                                subject.dense_bytes_per_token(models::UnitScope::experts))
          : 0;
  plan.device_part = {.dense_bytes = moves_experts ? dense : dense - file_experts + token.device,
                      .expert_bytes = moves_experts ? token.device : file_experts,
                      .gb_per_s = facts.device_gb_per_s};
  if (facts.device_gb_per_s == 0 && card && !machine.is_another())
    plan.device_part.gb_per_s = machine.device->facts().bandwidth_gb_per_s;
  plan.prompt = {.device = {.multiply_adds = subject.multiply_adds - on_host,
                            .bytes = dense + pass.device +
                                     file_experts * (in_pass(used_share(config)) / used_share(config) - 1),
                            .gop_per_s = facts.device_gop_per_s},
                 .attention = attention_parts(config),
                 .output_multiply_adds = static_cast<double>(config.vocabulary * config.hidden)};
  if (!card || token.host == 0) return;
  plan.host_part = {.dense_bytes = experts ? 0 : token.host,
                    .expert_bytes = experts ? token.host : 0,
                    .gb_per_s = facts.main_memory_gb_per_s};
  plan.prompt.host = {.multiply_adds = on_host, .bytes = pass.host, .gop_per_s = facts.processor_gop_per_s};
  if (fitted.units.brings_experts)
    plan.prompt.brought_bytes = static_cast<double>(fitted.precision.plan.host.weights);
}

std::vector<std::uint8_t> shown_tiers(const UnitPlan& units, std::vector<TierId> tiers) {
  tiers.resize(static_cast<std::size_t>(units.units.size()), 0);
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    if (units.absent[unit] || tiers[unit] == no_tier) tiers[unit] = not_on_device;
  }
  return tiers;
}

LoadPlan describe(const Subject& subject, const LoadOptions& options, const Machine& machine,
                  const Fitted& fitted) {
  LoadPlan plan{.model = subject.name,
                .options = options,
                .plan = fitted.precision.plan,
                .basis = {},
                .first_unit = first_units(fitted.units),
                .unit_tiers = {},
                .units_offloaded = fitted.precision.absent_units,
                .host_computes = machine.is_card(),
                .cpu_moe_layers = fitted.units.cpu_moe_layers};
  plan.plan.notes = fitted.units.notes;
  if (auto note = context_note(options.context, *subject.config)) plan.plan.notes.push_back(*std::move(note));
  plan.options.precision.policy = fitted.units.policy;
  plan.options.chunk = fitted.chunk;
  plan.options.chunk_may_grow = false;
  for (std::size_t layer = 0; layer + 1 < plan.first_unit.size(); ++layer)
    plan.units_per_layer =
        std::max<std::int64_t>(plan.units_per_layer, plan.first_unit[layer + 1] - plan.first_unit[layer]);
  return plan;
}

// Where it is left to the planner how many layers' experts the host computes, and a calibration knows which
// ones are the coldest, those may be chosen. The speed of main memory by which it decided; 0: it did not.
Result<double> divide_by_use(const Subject& subject, const LoadOptions& options,
                             const precision::StoreProfile& profile, Machine& machine, PlannedLoad& out) {
  const bool open = options.precision.offload.cpu_moe_layers < 0 && out.fitted.units.cpu_moe_layers > 0;
  if (!machine.is_card() || !open || profile.uses.empty()) return 0;
  double& gb_per_s = machine.facts.main_memory_gb_per_s;
  if (gb_per_s == 0) {
    FOVEA_TRY(gb_per_s, processor_gb_per_s(options.threads));
  }
  LoadOptions fixed = options;
  fixed.precision.policy = out.fitted.units.policy;
  fixed.precision.tiers = out.fitted.units.inputs.tier_names;  // the store's
  FOVEA_TRY(out.fitted, fit(subject, fixed, machine, &profile));
  out.refused = refusal(subject, fixed, machine, out.fitted);
  return gb_per_s;
}

// What a use's time is worth, [units, tiers]: the version's bytes at the speed of the memory that they are
// read from. A token's uses of a layer weigh 1 together and are as many as it chooses experts.
std::vector<float> time_cost(const precision::PolicyWorld& world, double nats_per_ms, double gb_per_s,
                             std::int64_t experts_used) {
  const double of_byte =
      nats_per_ms * static_cast<double>(std::max<std::int64_t>(experts_used, 1)) / (1e6 * gb_per_s);
  std::vector<float> cost;
  for (const std::int64_t bytes : world.unit_bytes)
    cost.push_back(static_cast<float>(of_byte * static_cast<double>(bytes)));
  return cost;
}

struct Speeds {
  double device = 0, host = 0;  // GB/s that weights are read with
};

// Where time counts, and a store told what each tier costs: how fast either side reads. Else nothing.
Result<std::optional<Speeds>> speeds_that_count(const LoadOptions& options,
                                                const precision::StoreProfile* profile, Machine& machine,
                                                const Fitted& fitted) {
  if (options.precision.nats_per_ms <= 0) return std::nullopt;
  const PolicyKind policy = fitted.units.policy;
  if (policy != PolicyKind::fovea && policy != PolicyKind::static_tiers)
    return fail(phrases::option_place("--prefer"),
                errors::prefer_of_another_policy(name_in(policy_names, policy)));
  if (profile == nullptr || !profile->damage_is_divergence)
    return fail(phrases::option_place("--prefer"), errors::prefer_without_divergences());
  double& host = machine.facts.main_memory_gb_per_s;
  if (host == 0) {
    FOVEA_TRY(host, processor_gb_per_s(options.threads));
  }
  if (!machine.is_card()) return Speeds{.device = host, .host = host};
  const double known = machine.facts.device_gb_per_s;
  const double device =
      known > 0 || machine.is_another() ? known : machine.device->facts().bandwidth_gb_per_s;
  return Speeds{.device = device > 0 ? device : host, .host = host};
}

// Beside a card the host is another place for a unit: it hurts nobody there, takes none of the card's memory,
// and the processor takes its time. Units go there whose time is worth less than what they would lose.
Result<void> divide_by_time(const Subject& subject, const LoadOptions& options,
                            const precision::StoreProfile& profile, const Speeds& speeds,
                            const Machine& machine, PlannedLoad& out) {
  const UnitPlan& units = out.fitted.units;
  if (!machine.is_card() || units.units.scope() != models::UnitScope::experts ||
      options.precision.offload.any() || !options.precision.tier_map.empty())
    return {};
  const double rate = options.precision.nats_per_ms;
  precision::PolicyWorld world = world_of(out.fitted, &profile, machine);
  world.time_cost = time_cost(world, rate, speeds.device, subject.config->experts_used());
  const std::vector<double> loss = precision::expected_loss(world);
  precision::HostCost host{
      .chances = precision::chances(units.units, subject.config->experts_used(), profile.uses),
      .bytes = {},
      .gb_per_s = speeds.host};
  const auto tiers = precision::index(world.tiers());
  std::vector<std::int64_t> bytes;
  std::vector<double> with_host;
  for (std::size_t unit = 0; unit < precision::index(world.units()); ++unit) {
    std::int64_t on_host = 0;
    for (const models::MatrixSource& matrix : units.units[static_cast<UnitId>(unit)].matrices())
      on_host += subject.host_bytes(matrix);
    host.bytes.push_back(on_host);
    for (std::size_t tier = 0; tier < tiers; ++tier) {
      bytes.push_back(world.unit_bytes[unit * tiers + tier]);
      with_host.push_back(loss[unit * tiers + tier]);
    }
    bytes.push_back(0);
    with_host.push_back(rate * host.chances[unit] * static_cast<double>(on_host) / (1e6 * speeds.host));
  }
  const Plan& plan = out.fitted.precision.plan;
  const std::int64_t room = plan.budget_bytes - (plan.total_bytes - plan.arena_bytes);
  FOVEA_TRY(const precision::TierMix all_here,
            precision::best_mix({world.tiers(), world.unit_bytes, loss, room}));
  FOVEA_TRY(const precision::TierMix divided,
            precision::best_mix({world.tiers() + 1, bytes, with_host, room}));
  std::vector<bool> to_host(precision::index(world.units()));
  double cost = 0;
  for (std::size_t unit = 0; unit < to_host.size(); ++unit) {
    to_host[unit] = divided.tiers[unit] == tiers;
    if (!to_host[unit]) cost += with_host[unit * (tiers + 1) + divided.tiers[unit]];
  }
  const auto count = std::ranges::count(to_host, true);
  if (count == 0 || cost + 1e3 * rate * host.seconds(units.units, to_host) >= all_here.loss) return {};
  LoadOptions fixed = options;
  fixed.precision.policy = units.policy;
  fixed.precision.tiers = units.inputs.tier_names;  // the store's
  FOVEA_TRY(Fitted fitted, fit(subject, fixed, machine, &profile, to_host));
  if (refusal(subject, fixed, machine, fitted)) return {};  // main memory has no room for them
  fitted.units.notes.push_back(phrases::prefer_moves_to_host(count));
  out.fitted = std::move(fitted);
  return {};
}

// The tier that each unit begins with, and what the policy may know of its world.
Result<void> choose_tiers(const LoadOptions& options, const Machine& machine,
                          const precision::StoreProfile* profile, const std::optional<Speeds>& speeds,
                          std::int64_t experts_used, PlannedLoad& out) {
  Fitted& fitted = out.fitted;
  out.world = world_of(fitted, profile, machine);
  if (speeds)
    out.world.time_cost = time_cost(out.world, options.precision.nats_per_ms, speeds->device, experts_used);
  if (!options.precision.tier_map.empty()) {
    FOVEA_TRY(out.tiers, mapped_tiers(fitted.units, options.precision.tier_map));
  } else if (fitted.units.policy != PolicyKind::dynaexq && !lowers_layers(fitted.units.policy)) {
    // Nobody knows yet what the conversation will be about: units count as the calibration used them.
    FOVEA_TRY(precision::StaticPlan best,
              precision::plan_static(fitted.units, precision::expected_loss(out.world)));
    best.plan.plan.host_available_bytes = fitted.precision.plan.host_available_bytes;
    fitted.precision = std::move(best.plan);
    precision::compare_with_others(fitted.units.inputs, fitted.units.policy, fitted.precision);
    out.tiers = std::move(best.tiers);
    out.world.capacity = fitted.precision.capacity;
  }
  FOVEA_TRY(const auto policy, make_policy(fitted.units.policy, out.world, out.tiers, options.precision));
  out.tiers = policy->initial();
  return {};
}

// What swaps may keep in main memory beside the plan's own: every version of what moves, half of what is left
// at most, or what somebody asked for.
Result<std::int64_t> host_cache_bytes(const LoadOptions& options, const Machine& machine,
                                      const UnitPlan& units, const Plan& plan) {
  const bool moves = moves_experts(units.policy) || lowers_layers(units.policy);
  if (!moves || !machine.is_card()) return 0;
  std::vector<std::int64_t> sizes;
  std::int64_t all = 0;
  for (const precision::UnitGroup& group : units.inputs.groups) {
    if (group.absent == group.units) continue;
    sizes.insert(sizes.end(), group.bytes.begin(), group.bytes.end());
    all += group.layers * (group.units - group.absent) *
           std::accumulate(group.bytes.begin(), group.bytes.end(), std::int64_t{0});
  }
  if (sizes.empty()) return 0;
  const auto as_slabs = [&](std::int64_t bytes) {
    return precision::VersionCache::plan(bytes, sizes).bytes();
  };
  const std::int64_t left = std::max<std::int64_t>(0, plan.host_available_bytes - plan.host_bytes);
  const std::int64_t asked_for = options.precision.host_cache_bytes;
  if (asked_for < 0) return as_slabs(std::min(all, left / 2));
  const Phrase place = phrases::option_place("--host-cache");
  const std::int64_t bytes = as_slabs(std::min(all, asked_for));
  if (asked_for > 0 && bytes == 0)
    return fail(place, errors::host_cache_too_small(Bytes{asked_for}, Bytes{std::ranges::max(sizes)}));
  if (plan.host_available_bytes > 0 && bytes > left)
    return fail(place, errors::host_cache_too_large(Bytes{bytes}, Bytes{left}));
  return bytes;
}

// Bytes of an expert where the processor computes with it; 0: there are none.
std::int64_t largest_expert(const Subject& subject) {
  std::int64_t largest = 0;
  for (const models::LayerPlan& layer : subject.weights->layers) {
    for (const models::ExpertSource& expert : layer.experts) {
      std::int64_t bytes = 0;
      for (const models::MatrixSource* matrix : {&expert.gate, &expert.up, &expert.down})
        bytes += subject.host_bytes(*matrix);
      for (const models::VectorSource* bias : {&expert.gate_bias, &expert.up_bias, &expert.down_bias})
        bytes += models::aligned(bias->count * 4);
      largest = std::max(largest, bytes);
    }
  }
  return largest;
}

// How a plan is tried.
struct Trial {
  const precision::StoreProfile* profile = nullptr;  // or null
  std::vector<bool> to_host = {};                    // see fit()
  std::int64_t chunk = 0;
  bool streams = false;  // what brings experts to the card for prompts is counted
};

Result<Fitted> fit_with(const Subject& subject, LoadOptions options, const Machine& machine,
                        const Trial& trial) {
  options.chunk = trial.chunk;
  PrecisionRequest request = options.precision;
  if (machine.is_card() && request.budget_bytes == 0) request.budget_bytes = machine.device_free_bytes();
  const PolicyKind policy = precision::chosen_policy(request, subject.has_experts(), machine.is_card());
  FOVEA_CHECK(page_shape(*subject.config, options).check());
  const models::StatePlan states = plan_states(*subject.config, options);
  const KvCache::Settings kv = kv_settings(*subject.config, options);
  const KvCache::Bytes windows = KvCache::window_bytes(kv);
  precision::Surroundings around{
      .dense_bytes = subject.dense_bytes(precision::unit_scope(policy, subject.has_experts())),
      .kv_bytes = KvCache::bytes(kv),
      .window_bytes = windows.device + (machine.is_card() ? 0 : windows.host),
      .state_bytes = states.sequence_bytes() + (machine.is_card() ? 0 : states.saved_bytes()),
      .activation_bytes = layers::Forward::activation_bytes(*subject.config, max_pass_tokens(options)),
      .experts_used = subject.config->experts_used(),
      .chunk = options.chunk};
  if (machine.is_card()) {
    count_card(*subject.config, options, trial.streams ? largest_expert(subject) : 0, around);
    around.host_bytes = subject.host_bytes;
  }
  around.to_host = trial.to_host;
  if (trial.profile != nullptr) {
    around.uses = trial.profile->uses;
    around.host_gb_per_s = machine.facts.main_memory_gb_per_s;
  }
  FOVEA_TRY(auto units, precision::plan_units(*subject.weights, *machine.device, request, around));
  if (!request.tier_map.empty() && units.policy == PolicyKind::static_tiers) {
    FOVEA_TRY(const auto map, mapped_tiers(units, request.tier_map));
    units.inputs.counts = precision::counts_of(units, map);
  }
  auto plan = precision::plan_precision_anyway(units.inputs, units.policy);
  if (machine.is_card()) plan.plan.host_available_bytes = machine.main_memory_bytes();
  return Fitted{std::move(units), std::move(plan), options.chunk};
}

}  // namespace

std::int64_t Machine::device_free_bytes() const {
  if (is_another()) return facts.device_memory_bytes;
  if (facts.device_free_bytes > 0 && !device->memory_is_host()) return facts.device_free_bytes;
  return device->memory_is_host() ? 0 : device->facts().memory_free_bytes;
}

std::int64_t Machine::main_memory_bytes() const {
  if (facts.main_memory_bytes > 0 || is_another()) return facts.main_memory_bytes;
  return memory().free_bytes;
}

Subject subject_of(const std::filesystem::path& model, const checkpoint::Checkpoint& checkpoint,
                   const models::WeightPlan& weights, const models::ModelConfig& config,
                   const kernels::Device& device, const kernels::Device& processor) {
  return {.name = config.name.empty() ? model.filename().string() : config.name,
          .config = &config,
          .weights = &weights,
          .checkpoint = &checkpoint,
          .dense_bytes =
              [&](models::UnitScope scope) {
                return models::Placement(checkpoint, device, scope).measure(weights, config).resident();
              },
          .host_bytes = [placement = models::Placement(checkpoint, processor, models::UnitScope::none)](
                            const models::MatrixSource& matrix) { return placement.resident_bytes(matrix); },
          .dense_bytes_per_token =
              [&](models::UnitScope scope) {
                return dense_bytes_per_token(checkpoint, weights, config, device, scope);
              },
          .multiply_adds = multiply_adds(weights, config)};
}

Result<Fitted> fit(const Subject& subject, const LoadOptions& options, const Machine& machine,
                   const precision::StoreProfile* profile, std::vector<bool> to_host) {
  const std::int64_t from = options.precision.offload.stream_from;
  const auto fitted = [&](std::int64_t chunk, bool streams) {
    return fit_with(subject, options, machine, {profile, to_host, chunk, streams});
  };
  const std::int64_t longer = std::min(std::max(streaming_chunk, options.chunk), options.context);
  const std::int64_t chunk = options.chunk_may_grow ? longer : options.chunk;
  // The processor is asked for few.
  const bool streams = machine.is_card() && subject.has_experts() && from != layers::StreamSettings::never &&
                       chunk > kernels::max_quantised_rows;
  if (!streams) return fitted(options.chunk, false);
  FOVEA_TRY(Fitted with, fitted(chunk, true));
  if (with.units.brings_experts && with.precision.plan.fits && from > 0) return with;
  if (from > 0 && with.units.brings_experts) return fitted(options.chunk, true);  // somebody asked for it
  FOVEA_TRY(Fitted without, fitted(options.chunk, false));
  // Faster prompts take memory that experts could have: rather none than no model, or than many more experts
  // that are the processor's with each token.
  const std::int64_t of_a_layer =
      without.units.units.size() / std::max<std::int64_t>(without.units.units.layers(), 1);
  const auto away = [](const Fitted& plan) { return std::ranges::count(plan.units.absent, true); };
  const bool pays =
      with.units.brings_experts && with.precision.plan.fits && away(with) <= away(without) + of_a_layer;
  return pays ? with : without;
}

std::filesystem::path store_path(const LoadOptions& options, const checkpoint::StoreIdentity& identity) {
  if (!options.precision.store.empty()) return options.precision.store;
  return options.precision.stores_folder / precision::store_name(options.model, identity);
}

Result<std::unique_ptr<precision::Policy>> make_policy(PolicyKind kind, const precision::PolicyWorld& world,
                                                       std::vector<TierId> tiers,
                                                       const PrecisionRequest& request) {
  if (kind == PolicyKind::dynaexq) return precision::make_dynaexq(world, request.dynaexq);
  if (kind == PolicyKind::fovea) return precision::make_fovea(world, request.fovea, std::move(tiers));
  if (kind == PolicyKind::flexquant) return precision::make_flexquant(world, request.flexquant);
  if (kind == PolicyKind::pmpd) return precision::make_pmpd(world, request.pmpd);
  return precision::make_static(world, std::move(tiers));
}

Result<PlannedLoad> plan_load(const Subject& subject, const LoadOptions& options, const Machine& given) {
  Machine machine = given;
  if (machine.is_card() && !machine.is_another()) {  // seen once, whatever other programs do meanwhile
    machine.facts.device_free_bytes = machine.device_free_bytes();
    machine.facts.main_memory_bytes = machine.main_memory_bytes();
  }
  FOVEA_TRY(Fitted fitted, fit(subject, options, machine));
  PlannedLoad out{.fitted = std::move(fitted)};
  const std::int64_t from = options.precision.offload.stream_from;
  if (out.fitted.units.brings_experts && from > out.fitted.chunk)
    return fail(phrases::option_place("--stream-experts"),
                errors::stream_from_beyond_chunk(from, out.fitted.chunk));
  out.refused = refusal(subject, options, machine, out.fitted);
  const bool policy = out.fitted.units.policy != PolicyKind::none;
  std::optional<precision::StoreProfile> profile;
  const std::vector<float> no_uses;
  PlanBasis basis;
  if (policy && !out.refused) {
    FOVEA_TRY(out.store, open_store(subject, options, machine, out.fitted.units));
  }
  if (out.store) {
    profile = profile_of(out.fitted.units, *out.store);
    basis.store_fingerprint = precision::store_fingerprint(*out.store);
    basis.harm_is_measured = profile->damage_is_divergence;
    FOVEA_TRY(basis.main_memory_gb_per_s, divide_by_use(subject, options, *profile, machine, out));
  }
  std::optional<Speeds> speeds;
  if (!out.refused) {
    FOVEA_TRY(speeds, speeds_that_count(options, profile ? &*profile : nullptr, machine, out.fitted));
  }
  if (speeds) {
    basis.main_memory_gb_per_s = speeds->host;
    FOVEA_CHECK(divide_by_time(subject, options, *profile, *speeds, machine, out));
  }
  if (policy && !out.refused) {
    FOVEA_CHECK(choose_tiers(options, machine, profile ? &*profile : nullptr, speeds,
                             subject.config->experts_used(), out));
  }
  if (machine.is_card()) {
    basis.device_free_bytes = machine.device_free_bytes();
    basis.main_memory_free_bytes = machine.main_memory_bytes();
    out.host = precision::host_shares(out.fitted.units.units, out.fitted.units.absent);
    out.host_uses_per_token =
        uses_of_absent(out.fitted.units, subject.config->experts_used(), profile ? profile->uses : no_uses);
  }
  out.plan = describe(subject, options, machine, out.fitted);
  if (!out.refused) {
    FOVEA_TRY(out.plan.plan.host_cache_bytes,
              host_cache_bytes(options, machine, out.fitted.units, out.plan.plan));
  }
  out.plan.basis = std::move(basis);
  out.plan.unit_tiers = shown_tiers(out.fitted.units, out.tiers);
  predict(subject, machine, out.fitted, profile ? profile->uses : std::vector<float>(), out.plan);
  return out;
}

}  // namespace fovea::runtime
