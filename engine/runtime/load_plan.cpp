#include "engine/runtime/load_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "engine/api/sentence.h"
#include "engine/core/result.h"
#include "engine/core/shell_word.h"
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
#include "engine/precision/token_cost.h"
#include "engine/precision/version_cache.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/plan_advice.h"
#include "engine/runtime/prediction.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/two_cards.h"
#include "kernels/cpu/ceiling.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitId;
using precision::UnitPlan;

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

// Whether there may be a store, and where is known.
bool has_stores(const Subject& subject, const LoadOptions& options, const Machine& machine) {
  const bool somewhere = !options.precision.store.empty() || !options.precision.stores_folder.empty();
  return machine.has_store && !machine.is_another() && subject.checkpoint != nullptr && somewhere;
}

// Nothing where there is none yet, or where nobody has said where it would be.
Result<std::optional<checkpoint::Store>> open_store(const Subject& subject, const LoadOptions& options,
                                                    const Machine& machine, const UnitPlan& units) {
  if (!has_stores(subject, options, machine)) return std::nullopt;
  const checkpoint::StoreIdentity identity =
      precision::store_identity(*subject.checkpoint, units.units, units.tiers, *machine.device);
  std::filesystem::path path = store_path(options, identity);
  if (options.precision.store.empty())
    path = precision::find_store(options.precision.stores_folder, options.model, identity).value_or(path);
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
  precision::give_room(fitted.precision, world);
  if (profile != nullptr) {
    world.damage = profile->damage;
    world.damage_is_divergence = profile->damage_is_divergence;
    world.uses = profile->uses;
  }
  if (std::vector<bool> stays = units.stays_away();
      machine.is_card() && std::ranges::find(stays, true) != stays.end())
    world.on_host = std::move(stays);
  return world;
}

// [units, tiers] with a column more.
template <class T>
std::vector<T> with_column(const std::vector<T>& rows, std::int64_t tiers, const std::vector<T>& column) {
  std::vector<T> wider;
  for (std::size_t unit = 0; unit < column.size(); ++unit) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(unit) * tiers;
    wider.insert(wider.end(), row, row + tiers);
    wider.push_back(column[unit]);
  }
  return wider;
}

// The processor as a place below the tiers: it takes none of the card's memory, loses nothing, and takes time
// for each byte of a use, which is worth `cost_of_byte`. Where there is but one tier nothing else counts.
void add_host_place(const Fitted& fitted, const Subject& subject, double cost_of_byte,
                    precision::PolicyWorld& world, std::vector<TierId>& tiers) {
  const UnitPlan& units = fitted.units;
  const std::int64_t known = world.tiers();
  const auto count = precision::index(world.units());
  std::vector<float> cost;
  for (std::size_t unit = 0; unit < count; ++unit) {
    std::int64_t bytes = 0;
    for (const models::MatrixSource& matrix : units.units[static_cast<UnitId>(unit)].matrices())
      bytes += subject.host_bytes(matrix);
    cost.push_back(static_cast<float>(cost_of_byte * static_cast<double>(bytes)));
  }
  if (units.comes_from_host()) {
    world.damage.assign(count, 0);
    world.damage_is_divergence = false;
  }
  if (world.time_cost.empty()) world.time_cost.assign(count * precision::index(known), 0);
  world.damage = with_column(world.damage, known, std::vector<float>(count, 0));
  world.time_cost = with_column(world.time_cost, known, cost);
  world.unit_bytes = with_column(world.unit_bytes, known, std::vector<std::int64_t>(count, 0));
  world.bits_per_weight.push_back(world.bits_per_weight.front());
  world.capacity.push_back(0);
  world.host_place = true;
  for (std::size_t unit = 0; unit < count; ++unit) {
    if (!units.absent[unit] || !units.changes_places[unit]) continue;
    if (!tiers.empty()) tiers[unit] = static_cast<TierId>(known);
    ++world.capacity.back();
  }
  if (units.policy != PolicyKind::dynaexq) return;
  // As many of each layer, and of some one more. The processor has room for all.
  std::vector<std::int64_t> here;
  for (std::int64_t layer = 0; layer < world.layers(); ++layer) {
    std::int64_t moving = 0, present = 0;
    for (UnitId id = units.units.first(layer); id < units.units.first(layer + 1); ++id) {
      const auto unit = static_cast<std::size_t>(id);
      moving += units.changes_places[unit] ? 1 : 0;
      present += units.changes_places[unit] && !units.absent[unit] ? 1 : 0;
    }
    if (moving > 0) here.push_back(present);
    world.capacity.back() += present;
  }
  world.high_per_layer = std::ranges::min(here);
  world.layers_with_more =
      std::ranges::count_if(here, [&](std::int64_t units_here) { return units_here > world.high_per_layer; });
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
    if (!machine.shares_layers()) plan.advice = advise_on_budget(subject, options, machine, fitted);
    const Bytes budget{plan.budget_bytes}, least{plan.min_bytes};
    Error error = fitted.units.policy == PolicyKind::none
                      ? errors::budget_too_small_for_device(budget, device, least)
                      : errors::budget_too_small_for_tier(budget,
                                                          lowers_layers(fitted.units.policy)
                                                              ? fitted.units.inputs.tier_names.front()
                                                              : fitted.units.inputs.tier_names.back(),
                                                          least);
    error = std::move(error).at(phrases::budget_place());
    if (machine.shares_layers()) return error;
    return std::move(error).advise(advise_in_short(subject, options, machine, fitted));
  }
  if (machine.shares_layers()) return std::nullopt;
  const auto advice = [&] { return advise_on_main_memory(subject, options, machine, plan); };
  if (auto held = check_main_memory(plan, advice); !held) {
    plan.fits = false;
    plan.advice = {held.error().advice};
    return std::move(held).error();
  }
  return std::nullopt;
}

// Units that a token is expected to use of those that are the host's in layers of the device.
double uses_of_absent(const Fitted& fitted, std::int64_t experts_used, std::span<const float> uses) {
  const UnitPlan& units = fitted.units;
  const std::vector<double> chances = precision::chances(units.units, experts_used, uses);
  double sum = 0;
  for (UnitId unit = units.units.first(fitted.layers.first); unit < units.units.first(fitted.layers.end);
       ++unit)
    if (units.absent[static_cast<std::size_t>(unit)]) sum += chances[static_cast<std::size_t>(unit)];
  return sum;
}

std::vector<std::uint8_t> shown_tiers(const UnitPlan& units, std::vector<TierId> tiers) {
  tiers.resize(static_cast<std::size_t>(units.units.size()), 0);
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    // What may change places is where the policy says, whatever the planner took.
    const bool moves = !units.changes_places.empty() && units.changes_places[unit];
    const bool away = moves ? tiers[unit] >= units.tiers.size() : units.absent[unit];
    if (away || tiers[unit] == no_tier) tiers[unit] = not_on_device;
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
  if (fitted.precision.arena.any_mix) plan.plan.notes.push_back(phrases::numbers_follow_work());
  if (auto note = context_note(options.context, *subject.config)) plan.plan.notes.push_back(*std::move(note));
  plan.options.precision.policy = fitted.units.policy;
  if (fitted.units.comes_from_host()) plan.options.precision.tiers = {"file"};
  plan.options.chunk = fitted.chunk;
  plan.options.chunk_may_grow = false;
  plan.options.host_layers = fitted.host_layers;
  for (std::size_t layer = 0; layer + 1 < plan.first_unit.size(); ++layer)
    plan.units_per_layer =
        std::max<std::int64_t>(plan.units_per_layer, plan.first_unit[layer + 1] - plan.first_unit[layer]);
  return plan;
}

// Where it is left to the planner how many layers' experts the host computes, and a calibration knows which
// ones are the coldest, those may be chosen. The speed of main memory by which it decided; 0: it did not.
Result<double> divide_by_use(const Subject& subject, const LoadOptions& options,
                             const precision::StoreProfile& profile, Machine& machine, PlannedLoad& out) {
  const UnitPlan& units = out.fitted.units;
  const bool open = options.precision.offload.cpu_moe_layers < 0 &&
                    (units.cpu_moe_layers > 0 || !units.changes_places.empty());
  if (!machine.is_card() || !open || profile.uses.empty()) return 0;
  double& gb_per_s = machine.facts.main_memory_gb_per_s;
  if (gb_per_s == 0) {
    FOVEA_TRY(gb_per_s, processor_gb_per_s(options.threads));
  }
  LoadOptions fixed = options;
  fixed.precision.policy = units.policy;
  fixed.precision.tiers = units.inputs.tier_names;  // the store's
  FOVEA_TRY(out.fitted, fit(subject, fixed, machine, &profile));
  out.refused = refusal(subject, fixed, machine, out.fitted);
  return gb_per_s;
}

// What the time is worth that a use takes for each byte of the memory that it is read from. A token's uses of
// a layer weigh 1 together and are as many as it chooses experts.
double cost_of_byte(const LoadOptions& options, const Subject& subject, double gb_per_s) {
  const auto used = static_cast<double>(std::max<std::int64_t>(subject.config->experts_used(), 1));
  return options.precision.nats_per_ms * used / (1e6 * gb_per_s);
}
// Of each version, [units, tiers].
std::vector<float> time_cost(const precision::PolicyWorld& world, double of_byte) {
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
  world.time_cost = time_cost(world, cost_of_byte(options, subject, speeds.device));
  const std::vector<double> loss = precision::expected_loss(world);
  precision::HostCost host{
      .chances = precision::chances(units.units, subject.config->experts_used(), profile.uses),
      .bytes = {},
      .gb_per_s = speeds.host,
      .layers = out.fitted.layers};
  const auto tiers = precision::index(world.tiers());
  std::vector<std::size_t> here;  // what another card has is not to be chosen
  std::vector<std::int64_t> bytes, with_host_bytes;
  std::vector<double> of_tiers, with_host;
  for (std::size_t unit = 0; unit < precision::index(world.units()); ++unit) {
    std::int64_t on_host = 0;
    for (const models::MatrixSource& matrix : units.units[static_cast<UnitId>(unit)].matrices())
      on_host += subject.host_bytes(matrix);
    host.bytes.push_back(on_host);
    if (units.is_elsewhere(static_cast<UnitId>(unit))) continue;
    here.push_back(unit);
    for (std::size_t tier = 0; tier < tiers; ++tier) {
      bytes.push_back(world.unit_bytes[unit * tiers + tier]);
      of_tiers.push_back(loss[unit * tiers + tier]);
      with_host_bytes.push_back(bytes.back());
      with_host.push_back(of_tiers.back());
    }
    with_host_bytes.push_back(0);
    with_host.push_back(rate * host.chances[unit] * static_cast<double>(on_host) / (1e6 * speeds.host));
  }
  const Plan& plan = out.fitted.precision.plan;
  const std::int64_t room = plan.budget_bytes - (plan.total_bytes - plan.arena_bytes);
  FOVEA_TRY(const precision::TierMix all_here, precision::best_mix({world.tiers(), bytes, of_tiers, room}));
  FOVEA_TRY(const precision::TierMix divided,
            precision::best_mix({world.tiers() + 1, with_host_bytes, with_host, room}));
  std::vector<bool> to_host(precision::index(world.units()));
  double cost = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    to_host[here[i]] = divided.tiers[i] == tiers;
    if (!to_host[here[i]]) cost += with_host[i * (tiers + 1) + divided.tiers[i]];
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
                          const Subject& subject, PlannedLoad& out) {
  Fitted& fitted = out.fitted;
  out.world = world_of(fitted, profile, machine);
  if (speeds) out.world.time_cost = time_cost(out.world, cost_of_byte(options, subject, speeds->device));
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
    precision::give_room(fitted.precision, out.world);
  }
  if (!fitted.units.changes_places.empty()) {
    const double of_byte = speeds ? cost_of_byte(options, subject, speeds->host) : 1;
    add_host_place(fitted, subject, of_byte, out.world, out.tiers);
  }
  FOVEA_TRY(const auto policy, make_policy(fitted.units.policy, out.world, out.tiers, options.precision));
  out.tiers = policy->initial();
  return {};
}

// Where nobody named tiers, and of those that were chosen only some are in a calibrated store: the plan for
// these. A calibration is worth more than a tier. Nothing where too little would be left to move.
Result<std::optional<PlannedLoad>> plan_for_calibrated(const Subject& subject, const LoadOptions& options,
                                                       const Machine& machine, const PlannedLoad& chosen) {
  const UnitPlan& units = chosen.fitted.units;
  const bool free_choice = moves_experts(units.policy) && options.precision.tiers.empty() &&
                           options.precision.store.empty() && !chosen.store;
  if (!free_choice || !has_stores(subject, options, machine)) return std::nullopt;
  const checkpoint::StoreIdentity identity =
      precision::store_identity(*subject.checkpoint, units.units, units.tiers, *machine.device);
  const auto held = precision::calibrated_tiers(options.precision.stores_folder, identity);
  if (held.size() < 2 || held.size() == units.tiers.size()) return std::nullopt;
  LoadOptions narrower = options;
  narrower.precision.tiers = held;
  FOVEA_TRY(PlannedLoad planned, plan_load(subject, narrower, machine));
  const auto& tiers = planned.plan.plan.parts.experts;
  if (planned.refused || !planned.store || tiers.front().units == 0 || tiers.back().units == 0)
    return std::nullopt;
  planned.plan.options.precision.tiers.clear();
  planned.plan.plan.notes.push_back(phrases::keeps_to_calibrated(
      fmt::format("{}", fmt::join(held, ", ")), fmt::format("{}", fmt::join(identity.tiers, ", ")),
      fmt::format("fovea prepare {} --tiers {}{} --calibrate TEXT", shell_word(options.model.string()),
                  fmt::join(identity.tiers, ","),
                  options.device.empty() ? "" : " --device " + options.device)));
  return planned;
}

}  // namespace

std::int64_t left_beside(const Plan& plan) {
  if (plan.host_available_bytes == 0) return -1;
  return std::max<std::int64_t>(0, plan.host_available_bytes - plan.host_bytes);
}

std::int64_t version_bytes(const UnitPlan& units) {
  const bool moves = moves_experts(units.policy) || lowers_layers(units.policy);
  if (!moves || units.comes_from_host()) return 0;
  const bool all_move = !units.changes_places.empty();
  std::int64_t all = 0;
  for (const precision::UnitGroup& group : units.inputs.groups)
    all += group.layers * (group.units - (all_move ? 0 : group.absent)) *
           std::accumulate(group.bytes.begin(), group.bytes.end(), std::int64_t{0});
  return all;
}

Result<std::int64_t> host_cache_bytes(const PrecisionRequest& request, const UnitPlan& units,
                                      std::int64_t left) {
  const std::int64_t asked_for = request.host_cache_bytes;
  if (units.comes_from_host() && asked_for > 0)
    return fail(phrases::option_place("--host-cache"), errors::host_cache_of_places());
  const std::int64_t all = version_bytes(units);
  if (all == 0) return 0;
  std::vector<std::int64_t> sizes;
  for (const precision::UnitGroup& group : units.inputs.groups)
    if (group.absent < group.units || !units.changes_places.empty())
      sizes.insert(sizes.end(), group.bytes.begin(), group.bytes.end());
  const auto as_slabs = [&](std::int64_t bytes) {
    return precision::VersionCache::plan(bytes, sizes).bytes();
  };
  if (asked_for < 0) return as_slabs(std::min(all, std::max<std::int64_t>(0, left) / 2));
  const Phrase place = phrases::option_place("--host-cache");
  const std::int64_t bytes = as_slabs(std::min(all, asked_for));
  if (asked_for > 0 && bytes == 0)
    return fail(place, errors::host_cache_too_small(Bytes{asked_for}, Bytes{std::ranges::max(sizes)}));
  if (left >= 0 && bytes > left) return fail(place, errors::host_cache_too_large(Bytes{bytes}, Bytes{left}));
  return bytes;
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
    if (machine.first != nullptr) machine.facts.first_free_bytes = machine.first_free_bytes();
    machine.facts.main_memory_bytes = machine.main_memory_bytes();
  }
  if (machine.first != nullptr) return plan_two_cards(subject, options, machine);
  if (options.precision.first_budget_bytes > 0)
    return fail(phrases::budget_place(), errors::budget_of_second_card());
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
    auto store = open_store(subject, options, machine, out.fitted.units);
    // What comes from the host needs none; one that is of use knows what the calibration used.
    if (!store && !out.fitted.units.comes_from_host()) return std::unexpected(std::move(store).error());
    if (store) out.store = *std::move(store);
    FOVEA_TRY(auto calibrated, plan_for_calibrated(subject, options, machine, out));
    if (calibrated) return *std::move(calibrated);
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
    FOVEA_CHECK(choose_tiers(options, machine, profile ? &*profile : nullptr, speeds, subject, out));
  }
  if (machine.is_card()) {
    basis.device_free_bytes = machine.device_free_bytes();
    basis.main_memory_free_bytes = machine.main_memory_bytes();
    std::vector<bool> on_host = out.fitted.units.absent;
    for (std::size_t unit = 0; unit < out.fitted.units.changes_places.size(); ++unit)
      if (out.fitted.units.changes_places[unit]) on_host[unit] = true;
    for (std::size_t unit = 0; unit < on_host.size(); ++unit)
      if (out.fitted.units.is_elsewhere(static_cast<UnitId>(unit))) on_host[unit] = false;
    out.host = precision::host_shares(out.fitted.units.units, on_host);
    out.host_uses_per_token =
        uses_of_absent(out.fitted, subject.config->experts_used(), profile ? profile->uses : no_uses);
  }
  out.plan = describe(subject, options, machine, out.fitted);
  if (!out.refused && machine.is_card() && !machine.shares_layers()) {
    const Plan& plan = out.plan.plan;
    FOVEA_TRY(out.host_cache_bytes, host_cache_bytes(options.precision, out.fitted.units, left_beside(plan)));
    out.plan.plan.host_cache_bytes = out.host_cache_bytes;
  }
  out.plan.basis = std::move(basis);
  out.plan.unit_tiers = shown_tiers(out.fitted.units, out.tiers);
  predict(subject, machine, out.fitted, profile ? profile->uses : std::vector<float>(), out.plan);
  return out;
}

}  // namespace fovea::runtime
