#include "app/wizard/setup.h"

#include <algorithm>
#include <optional>

#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t usual_context = 8192;
constexpr std::int64_t shortest_context = 2048;

PrecisionRequest precision_of(const Setup& setup) {
  PrecisionRequest precision;
  precision.policy = setup.policy;
  if (setup.policy == PolicyKind::none) return precision;
  precision.tiers = setup.tiers;
  precision.budget_bytes = setup.budget_bytes;
  precision.offload.cpu_moe_layers = setup.cpu_moe_layers;
  return precision;
}

std::vector<PrecisionChoice> all_choices(const Candidate& candidate) {
  using enum PolicyKind;
  std::vector<PrecisionChoice> choices;
  const auto add = [&](PolicyKind policy, std::vector<std::string> tiers, std::int64_t cpu_moe = 0) {
    choices.push_back({policy, std::move(tiers), cpu_moe});
  };
  const bool here = !candidate.path.empty();
  const std::string file = here ? "file" : candidate.entry->tier;
  if (here) {
    add(none, {});
  } else {
    add(static_tiers, {file});
  }
  if (candidate.experts > 0) {
    for (const char* low : {"q4", "q3", "q2"}) add(dynaexq, {file, low});
    add(dynaexq, {"q4", "q2"});
  }
  add(static_tiers, {});
  for (const char* tier : {"q8", "q4", "q3", "q2"}) add(static_tiers, {tier});
  if (candidate.experts > 0) add(offload, {here ? "file" : file}, -1), add(offload, {"q2"}, -1);
  return choices;
}

}  // namespace

Setup named(Setup setup, const PlanReport& report) {
  if (setup.policy == PolicyKind::automatic) setup.policy = report.policy;
  const bool has_own = setup.policy == PolicyKind::dynaexq || setup.policy == PolicyKind::offload;
  if (!has_own || !setup.tiers.empty()) return setup;
  for (const PlanTier& tier : report.plan.parts.experts) setup.tiers.push_back(tier.name);
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

Setup usual_setup(const Candidate& candidate, const Machine& machine) {
  const PrecisionRequest& precision = candidate.fit.precision;
  Setup setup;
  const auto contexts = contexts_of(candidate);
  for (const std::int64_t context : contexts)
    if (context <= usual_context) setup.context = context;
  if (setup.context == 0) setup.context = contexts.front();
  setup.device = machine.chosen.name;
  setup.kv = machine.room.kv;
  setup.policy = precision.policy;
  setup.tiers = precision.tiers;
  setup.cpu_moe_layers = precision.offload.cpu_moe_layers;
  setup.budget_bytes = machine.room.budget_bytes;
  return named(setup, candidate.fit.report);
}

PrecisionChoice choice_of(const Setup& setup) {
  return {setup.policy, setup.tiers, setup.cpu_moe_layers};
}

Setup with_choice(Setup setup, const PrecisionChoice& choice) {
  setup.policy = choice.policy;
  setup.tiers = choice.tiers;
  setup.cpu_moe_layers = choice.cpu_moe_layers;
  return setup;
}

std::vector<PrecisionChoice> precision_choices(const Candidate& candidate, const Machine& machine,
                                               const std::vector<StoreFile>& prepared) {
  if (planned_by_size_alone(candidate)) return {PrecisionChoice{}};
  std::vector<PrecisionChoice> taken;
  const auto add = [&](const PrecisionChoice& choice) {
    if (std::ranges::find(taken, choice) != taken.end()) return;
    Setup setup = with_choice(usual_setup(candidate, machine), choice);
    if (plan_of(candidate, setup, machine)) taken.push_back(choice);
  };
  for (const PrecisionChoice& choice : all_choices(candidate)) add(choice);
  for (const StoreFile& store : prepared)
    add({candidate.experts > 0 && store.tiers.size() == 2 ? PolicyKind::dynaexq : PolicyKind::static_tiers,
         store.tiers});
  add(choice_of(usual_setup(candidate, machine)));
  return taken;
}

Result<PlanReport> plan_of(const Candidate& candidate, const Setup& setup, const Machine& machine) {
  if (planned_by_size_alone(candidate))
    return fail(ErrorKind::unsupported, candidate.name, "only its size is known before it is here");
  PlanSettings settings{.context = setup.context,
                        .kv = setup.kv,
                        .chunk = 0,
                        .precision = precision_of(setup),
                        .device = machine.room.device,
                        .device_memory_bytes = machine.room.device_memory_bytes};
  settings.precision.budget_bytes = setup.budget_bytes;
  if (!candidate.path.empty()) return plan_model(candidate.path, settings);
  settings.dense_tier = candidate.entry->dense;
  if (candidate.experts == 0) settings.dense_bytes = candidate.file_bytes;
  return plan_shape(candidate.entry->shape, settings);
}

std::vector<Remedy> remedies(const Candidate& candidate, const Setup& setup, const PlanReport& report,
                             const Machine& machine, std::stop_token stop) {
  std::vector<Remedy> found;
  const auto fits = [&](const Setup& changed) {
    const auto plan = plan_of(candidate, changed, machine);
    return plan && plan->plan.fits;
  };
  if (report.plan.least_bytes <= machine.room.budget_bytes && report.plan.least_bytes > setup.budget_bytes) {
    Setup more = setup;
    more.budget_bytes = report.plan.least_bytes;
    found.push_back({Remedy::Kind::budget, more});
  }
  Setup smaller_kv = setup;
  smaller_kv.kv = KvType::q8;
  if (setup.kv != KvType::q8 && fits(smaller_kv)) found.push_back({Remedy::Kind::kv, smaller_kv});
  std::optional<Setup> shorter;
  for (const std::int64_t context : contexts_of(candidate)) {
    if (context >= setup.context || stop.stop_requested()) break;
    Setup changed = setup;
    changed.context = context;
    if (!fits(changed)) break;
    shorter = changed;
  }
  if (shorter) found.push_back({Remedy::Kind::context, *shorter});
  // From precise to small: the first that fits keeps most.
  for (const PrecisionChoice& choice : precision_choices(candidate, machine)) {
    if (stop.stop_requested()) break;
    const Setup changed = with_choice(setup, choice);
    if (choice == choice_of(setup) || !fits(changed)) continue;
    found.push_back({Remedy::Kind::precision, changed});
    break;
  }
  return found;
}

LoadRequest load_request(const std::filesystem::path& model, const Setup& setup,
                         const std::filesystem::path& stores) {
  LoadRequest request;
  request.model = model;
  request.context = setup.context;
  request.kv = setup.kv;
  request.device = setup.device;
  request.precision = precision_of(setup);
  request.precision.stores_folder = stores;
  return request;
}

Setup setup_of(const LoadRequest& request) {
  return {.device = request.device,
          .context = request.context,
          .kv = request.kv,
          .policy = request.precision.policy,
          .tiers = request.precision.tiers,
          .budget_bytes = request.precision.budget_bytes,
          .cpu_moe_layers = request.precision.offload.cpu_moe_layers};
}

}  // namespace fovea::app
