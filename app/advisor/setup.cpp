#include "app/advisor/setup.h"

#include <algorithm>
#include <optional>

#include "app/advisor/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t usual_context = 8192;
constexpr std::int64_t shortest_context = 2048;

std::vector<PrecisionRequest> all_choices(const Candidate& candidate) {
  using enum PolicyKind;
  std::vector<PrecisionRequest> choices;
  const auto add = [&](PolicyKind policy, std::vector<std::string> tiers, std::int64_t cpu_moe = 0) {
    PrecisionRequest& choice = choices.emplace_back();
    choice.policy = policy;
    choice.tiers = std::move(tiers);
    choice.offload.cpu_moe_layers = cpu_moe;
  };
  const bool here = !candidate.path.empty();
  const std::string file = here ? "file" : candidate.entry->tier;
  if (here) {
    add(none, {});
  } else {
    add(static_tiers, {file});
  }
  if (candidate.experts > 0) {
    for (const char* low : {"q4", "q3", "q2"}) add(fovea, {file, low});
    add(fovea, {"q4", "q2"});
  }
  add(static_tiers, {});
  for (const char* tier : {"q8", "q4", "q3", "q2"}) add(static_tiers, {tier});
  if (candidate.experts > 0) add(offload, {here ? "file" : file}, -1), add(offload, {"q2"}, -1);
  return choices;
}

}  // namespace

LoadOptions named(LoadOptions setup, const LoadPlan& report) {
  if (setup.precision.policy == PolicyKind::automatic) setup.precision.policy = report.policy();
  const PolicyKind policy = setup.precision.policy;
  const bool has_own = moves_experts(policy) || lowers_layers(policy) || policy == PolicyKind::offload;
  if (!has_own || !setup.precision.tiers.empty()) return setup;
  for (const PlanTier& tier : report.plan.parts.experts) setup.precision.tiers.push_back(tier.name);
  return setup;
}

std::vector<std::int64_t> contexts_of(const Candidate& candidate) {
  std::vector<std::int64_t> contexts;
  const std::int64_t trained = candidate.context > 0 ? candidate.context : usual_context;
  for (std::int64_t context = std::min(shortest_context, trained); context < trained; context *= 2)
    contexts.push_back(context);
  contexts.push_back(trained);
  return contexts;
}

std::vector<std::int64_t> offered_contexts(const Candidate& candidate) {
  std::vector<std::int64_t> contexts = contexts_of(candidate);
  for (std::int64_t context = 2 * contexts.back(); context < candidate.extended_context; context *= 2)
    contexts.push_back(context);
  if (candidate.extended_context > contexts.back()) contexts.push_back(candidate.extended_context);
  return contexts;
}

LoadOptions usual_setup(const Candidate& candidate, const Machine& machine) {
  const PrecisionRequest& precision = candidate.fit.precision;
  LoadOptions setup;
  const auto contexts = contexts_of(candidate);
  for (const std::int64_t context : contexts)
    if (context <= usual_context) setup.context = context;
  if (setup.context == 0) setup.context = contexts.front();
  setup.device = machine.chosen.name;
  setup.kv = machine.room.kv;
  setup.precision.policy = precision.policy;
  setup.precision.tiers = precision.tiers;
  setup.precision.offload.cpu_moe_layers = precision.offload.cpu_moe_layers;
  setup.precision.budget_bytes = machine.room.precision.budget_bytes;
  return named(setup, candidate.fit.report);
}

PrecisionRequest choice_of(const LoadOptions& setup) {
  PrecisionRequest choice;
  choice.policy = setup.precision.policy;
  choice.tiers = setup.precision.tiers;
  choice.offload.cpu_moe_layers = setup.precision.offload.cpu_moe_layers;
  return choice;
}

LoadOptions with_choice(LoadOptions setup, const PrecisionRequest& choice) {
  setup.precision.policy = choice.policy;
  setup.precision.tiers = choice.tiers;
  setup.precision.offload.cpu_moe_layers = choice.offload.cpu_moe_layers;
  return setup;
}

std::vector<PrecisionRequest> precision_choices(const Candidate& candidate, const Machine& machine,
                                                const std::vector<StoreFile>& prepared) {
  if (planned_by_size_alone(candidate)) return {PrecisionRequest{}};
  std::vector<PrecisionRequest> taken;
  const auto add = [&](const PrecisionRequest& choice) {
    if (std::ranges::find(taken, choice) != taken.end()) return;
    LoadOptions setup = with_choice(usual_setup(candidate, machine), choice);
    if (plan_of(candidate, setup, machine)) taken.push_back(choice);
  };
  for (const PrecisionRequest& choice : all_choices(candidate)) add(choice);
  for (const StoreFile& store : prepared)
    add({.policy =
             candidate.experts > 0 && store.tiers.size() > 1 ? PolicyKind::fovea : PolicyKind::static_tiers,
         .tiers = store.tiers});
  add(choice_of(usual_setup(candidate, machine)));
  return taken;
}

Result<LoadPlan> plan_of(const Candidate& candidate, const LoadOptions& setup, const Machine& machine) {
  if (planned_by_size_alone(candidate))
    return fail(phrases::name_place(candidate.name), errors::only_size_known());
  LoadOptions options = load_options(candidate.path, setup, machine.room.precision.stores_folder);
  options.device = machine.room.device;
  options.sequences = machine.room.sequences;
  options.precision.budget_bytes = setup.precision.budget_bytes;
  if (!candidate.path.empty()) return plan_model(options, facts_of(machine));
  const CatalogueEntry& entry = *candidate.entry;
  return plan_shape({.name = entry.shape,
                     .dense_tier = entry.dense,
                     .dense_bytes = candidate.experts == 0 ? candidate.file_bytes : 0},
                    options, facts_of(machine));
}

std::vector<Remedy> remedies(const Candidate& candidate, const LoadOptions& setup, const LoadPlan& report,
                             const Machine& machine, std::stop_token stop) {
  std::vector<Remedy> found;
  const auto fits = [&](const LoadOptions& changed) {
    const auto plan = plan_of(candidate, changed, machine);
    return plan && plan->plan.fits;
  };
  if (report.plan.min_bytes <= machine.room.precision.budget_bytes &&
      report.plan.min_bytes > setup.precision.budget_bytes) {
    LoadOptions more = setup;
    more.precision.budget_bytes = report.plan.min_bytes;
    found.push_back({Remedy::Kind::budget, more});
  }
  LoadOptions smaller_kv = setup;
  smaller_kv.kv = KvType::q8;
  if (setup.kv != KvType::q8 && fits(smaller_kv)) found.push_back({Remedy::Kind::kv, smaller_kv});
  std::optional<LoadOptions> shorter;
  for (const std::int64_t context : contexts_of(candidate)) {
    if (context >= setup.context || stop.stop_requested()) break;
    LoadOptions changed = setup;
    changed.context = context;
    if (!fits(changed)) break;
    shorter = changed;
  }
  if (shorter) found.push_back({Remedy::Kind::context, *shorter});
  // From precise to small: the first that fits keeps most.
  for (const PrecisionRequest& choice : precision_choices(candidate, machine)) {
    if (stop.stop_requested()) break;
    const LoadOptions changed = with_choice(setup, choice);
    if (choice == choice_of(setup) || !fits(changed)) continue;
    found.push_back({Remedy::Kind::precision, changed});
    break;
  }
  return found;
}

LoadOptions load_options(const std::filesystem::path& model, const LoadOptions& setup,
                         const std::filesystem::path& stores) {
  LoadOptions options = setup_of(setup);
  options.model = model;
  if (setup.precision.policy == PolicyKind::none) options.precision = {};
  options.precision.stores_folder = stores;
  return options;
}

LoadOptions setup_of(const LoadOptions& options) {
  LoadOptions setup{.context = options.context, .kv = options.kv, .device = options.device};
  setup.precision = choice_of(options);
  setup.precision.budget_bytes = options.precision.budget_bytes;
  setup.precision.nats_per_ms = options.precision.nats_per_ms;
  return setup;
}

}  // namespace fovea::app
