#include <algorithm>
#include <functional>

#include "engine/api/devices.h"
#include "engine/api/plan.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/models/placement.h"
#include "engine/models/say.h"
#include "engine/precision/model_shapes.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/tier_map.h"
#include "engine/precision/token_cost.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"

namespace fovea {
namespace {

using models::say;
using precision::Surroundings;

constexpr std::int64_t shortest_context = 512;  // that advice proposes

// As loading would choose them.
Result<void> choose_sizes(PlanSettings& settings, const models::ModelConfig& config,
                          const kernels::Device& device) {
  LoadRequest load{.model = {}, .context = settings.context, .kv = settings.kv, .chunk = settings.chunk};
  load.precision = settings.precision;
  FOVEA_CHECK(runtime::check(load));
  runtime::choose_defaults(load, config, settings.device_memory_bytes > 0 || !device.memory_is_host());
  settings.context = load.context;
  settings.chunk = load.chunk;
  return {};
}

// A model or a shape, for planning again with other settings.
struct Subject {
  const models::ModelConfig* config = nullptr;
  const models::WeightPlan* weights = nullptr;
  const kernels::Device* device = nullptr;
  bool has_experts = false;
  std::int64_t experts_used = 0;
  std::string name;
  std::function<std::int64_t(PolicyKind)> dense;
  std::function<std::int64_t(const PlanSettings&)> kv;
  std::function<std::int64_t(const PlanSettings&)> activations;
  std::function<std::int64_t(const models::MatrixSource&)> host;  // of a matrix where the processor computes
  std::int64_t dense_read = 0;                                    // of what is no unit, by a token
};

// Whether the device has memory of its own, beside which the processor computes.
bool is_card(const Subject& subject, const PlanSettings& settings) {
  return settings.device_memory_bytes > 0 || !subject.device->memory_is_host();
}

// For what lies beside a card; another machine's is not known.
std::int64_t main_memory(const PlanSettings& settings) {
  if (settings.main_memory_bytes > 0 || settings.device_memory_bytes > 0) return settings.main_memory_bytes;
  return runtime::memory().free_bytes;
}

struct Planned {
  precision::UnitPlan units;
  precision::PrecisionPlan precision;
};

Result<Planned> plan_once(const Subject& subject, const PlanSettings& settings) {
  PrecisionRequest request = settings.precision;
  const bool planned_card = settings.device_memory_bytes > 0;
  const bool card = is_card(subject, settings);
  if (request.budget_bytes == 0)
    request.budget_bytes = planned_card ? settings.device_memory_bytes : runtime::free_bytes(*subject.device);
  const PolicyKind policy = precision::chosen_policy(request, subject.has_experts, card);
  Surroundings around{.dense_bytes = subject.dense(policy),
                      .kv_bytes = subject.kv(settings),
                      .activation_bytes = subject.activations(settings),
                      .experts_used = subject.experts_used,
                      .chunk = settings.chunk};
  if (card) {
    runtime::count_card(*subject.config, settings.context, settings.chunk, around);
    around.host_bytes = subject.host;
  }
  FOVEA_TRY(auto units, precision::plan_units(*subject.weights, *subject.device, request, around));
  if (!request.tier_map.empty() && policy == PolicyKind::static_tiers) {
    std::vector<std::string> names;
    for (precision::UnitId id = 0; id < static_cast<precision::UnitId>(units.units.size()); ++id)
      names.push_back(units.units.name(id));
    FOVEA_TRY(const auto map, precision::read_tier_map(request.tier_map, names, units.inputs.tier_names));
    units.inputs.counts = precision::counts_of(units, map);
  }
  auto plan = precision::plan_precision_anyway(units.inputs, units.policy);
  if (card) plan.plan.host_available_bytes = main_memory(settings);
  return Planned{std::move(units), std::move(plan)};
}

// What to change when a plan does not fit: each proposal alone, with its numbers.
class Adviser {
 public:
  Adviser(const Subject& subject, const PlanSettings& settings) : subject_(subject), settings_(settings) {}

  void advise(const Planned& planned, std::vector<std::string>& advice) const {
    const Plan& plan = planned.precision.plan;
    advice.push_back(say(size_text(plan.least_bytes), " (", plan.least_bytes, " bytes) would do, ",
                         size_text(plan.least_bytes - plan.budget_bytes), " more"));
    lower_tiers(planned, advice);
    offload_layers(planned, advice);
    smaller_kv(plan, advice);
    shorter_context(plan, advice);
  }

 private:
  std::optional<Planned> again(const std::function<void(PlanSettings&)>& change) const {
    PlanSettings changed = settings_;
    change(changed);
    auto planned = plan_once(subject_, changed);
    if (!planned) return std::nullopt;
    return *std::move(planned);
  }

  static std::string outcome(const Planned& changed) {
    const Plan& plan = changed.precision.plan;
    return plan.fits ? "fits" : "needs " + size_text(plan.least_bytes);
  }

  void lower_tiers(const Planned& planned, std::vector<std::string>& advice) const {
    if (planned.units.tiers.empty() || planned.units.policy == PolicyKind::none) return;
    // What is offloaded has one tier.
    std::vector<std::string> names;
    if (planned.units.policy != PolicyKind::offload) names = planned.units.inputs.tier_names;
    if (planned.units.policy == PolicyKind::dynaexq) names.pop_back();  // it has two
    for (const char* low : {"q8", "q4", "q3", "q2"}) {
      auto tiers = names;
      tiers.emplace_back(low);
      const auto changed = again([&](PlanSettings& s) { s.precision.tiers = tiers; });
      if (!changed) continue;  // not below what is there
      if (changed->precision.plan.least_bytes >= planned.precision.plan.least_bytes) continue;
      std::string list;
      for (const std::string& tier : tiers) list += (list.empty() ? "" : ",") + tier;
      advice.push_back(say("--tiers ", list, " ", outcome(*changed)));
      if (changed->precision.plan.fits) return;
    }
  }

  void offload_layers(const Planned& planned, std::vector<std::string>& advice) const {
    if (is_card(subject_, settings_)) return leave_to_host(planned, advice);
    if (!subject_.has_experts || planned.units.policy == PolicyKind::offload) return;
    const auto changed = again([&](PlanSettings& s) {
      s.precision.policy = PolicyKind::offload;
      s.precision.tiers = {planned.units.tiers.empty() ? "file" : planned.units.tiers.back().name};
      s.precision.tier_map.clear();
      s.precision.offload = {.cpu_moe_layers = -1, .override_tensors = {}, .gpu_layers = -1};
    });
    if (!changed) return;
    advice.push_back(say("--policy offload --tiers ", changed->units.tiers.front().name, " --n-cpu-moe ",
                         changed->units.cpu_moe_layers, " ", outcome(*changed), ": ",
                         changed->precision.absent_units, " of ", changed->units.units.size(),
                         " units on disk alone, with stalls"));
  }

  // The fewest layers that must be the processor's.
  void leave_to_host(const Planned& planned, std::vector<std::string>& advice) const {
    const std::int64_t layers = planned.units.units.layers();
    for (std::int64_t away = 1; away <= layers; ++away) {
      const bool experts = subject_.has_experts;
      const std::int64_t kept = layers + 1 - away;  // the output counts as a layer
      const auto changed = again([&](PlanSettings& s) {
        s.precision.offload = {
            .cpu_moe_layers = experts ? away : 0, .override_tensors = {}, .gpu_layers = experts ? -1 : kept};
      });
      if (!changed || (!changed->precision.plan.fits && away < layers)) continue;
      advice.push_back(say(experts ? "--n-cpu-moe " : "-ngl ", experts ? away : kept, " ", outcome(*changed),
                           ": the processor computes ", changed->precision.absent_units, " of ",
                           changed->units.units.size(), " units, ",
                           size_text(changed->precision.plan.host_bytes), " of main memory"));
      return;
    }
  }

  void smaller_kv(const Plan& plan, std::vector<std::string>& advice) const {
    if (settings_.kv == KvType::q8) return;
    const auto changed = again([](PlanSettings& s) { s.kv = KvType::q8; });
    if (!changed) return;
    advice.push_back(say("--kv q8 saves ", size_text(plan.parts.kv - changed->precision.plan.parts.kv),
                         " and ", outcome(*changed)));
  }

  void shorter_context(const Plan& plan, std::vector<std::string>& advice) const {
    const std::int64_t context = settings_.context;
    std::int64_t best = 0;
    for (std::int64_t low = 1, high = (context - 1) / shortest_context; low <= high;) {
      const std::int64_t middle = (low + high) / 2;
      const auto changed = again([&](PlanSettings& s) { s.context = middle * shortest_context; });
      if (changed && changed->precision.plan.fits) {
        best = middle * shortest_context;
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    if (best > 0) {
      advice.push_back(say("--context ", best, " instead of ", context, " fits"));
    } else {
      advice.push_back(say("No context is short enough alone: that of ", context, " tokens takes ",
                           size_text(plan.parts.kv)));
    }
  }

  const Subject& subject_;
  const PlanSettings& settings_;
};

// The time that a token's reads take at least, on either side of a card.
Result<void> predict(const Subject& subject, const PlanSettings& settings, const Planned& planned,
                     PlanReport& out) {
  if (!is_card(subject, settings)) return {};
  const auto reads =
      precision::unit_reads(planned.units, planned.precision,
                            precision::chances(planned.units.units, subject.experts_used, {}), subject.host);
  out.device_part.bytes_per_token = static_cast<double>(subject.dense_read) + reads.device;
  out.device_part.gb_per_s = settings.device_gb_per_s;
  if (settings.device_gb_per_s == 0 && settings.device_memory_bytes == 0)
    out.device_part.gb_per_s = subject.device->facts().bandwidth_gb_per_s;
  if (reads.host == 0) return {};
  out.host_part = {.bytes_per_token = reads.host, .gb_per_s = settings.main_memory_gb_per_s};
  if (settings.main_memory_gb_per_s == 0) {
    FOVEA_TRY(out.host_part.gb_per_s, measure_memory_read_gb_per_s());
  }
  return {};
}

Result<PlanReport> report(const Subject& subject, const PlanSettings& settings) {
  FOVEA_TRY(auto planned, plan_once(subject, settings));
  if (!planned.precision.plan.fits) {
    planned.precision.plan.advice.clear();
    Adviser(subject, settings).advise(planned, planned.precision.plan.advice);
  }
  Plan& plan = planned.precision.plan;
  const auto plan_with = [&](const OffloadSettings& offload) -> std::optional<Plan> {
    PlanSettings changed = settings;
    changed.precision.offload = offload;
    auto other = plan_once(subject, changed);
    if (!other) return std::nullopt;
    return std::move(other->precision.plan);
  };
  const auto advice = [&] {
    return runtime::for_less_main_memory(plan, subject.has_experts, planned.units.units.layers(), plan_with);
  };
  if (const auto status = runtime::check_main_memory(plan, advice); !status) {
    if (plan.fits) plan.advice.clear();
    plan.fits = false;
    plan.advice.push_back(status.error().advice);
  }
  PlanReport out{.model = subject.name,
                 .policy = planned.units.policy,
                 .plan = std::move(planned.precision.plan),
                 .context = settings.context,
                 .kv = settings.kv,
                 .chunk = settings.chunk,
                 .units = planned.units.units.size(),
                 .units_offloaded = planned.precision.absent_units,
                 .host_computes = is_card(subject, settings),
                 .cpu_moe_layers = planned.units.cpu_moe_layers};
  FOVEA_CHECK(predict(subject, settings, planned, out));
  out.plan.notes = std::move(planned.units.notes);
  for (std::int64_t layer = 0; layer < planned.units.units.layers(); ++layer)
    out.units_per_layer = std::max<std::int64_t>(
        out.units_per_layer, planned.units.units.first(layer + 1) - planned.units.units.first(layer));
  return out;
}

// A token's reads without those of units: the embedding is one row.
std::int64_t dense_read(const checkpoint::Checkpoint& file, const kernels::Device& device,
                        const models::WeightPlan& weights, const models::ModelConfig& config) {
  const bool experts = config.experts() > 0;
  double units = 0;
  weights.each_matrix([&](const models::MatrixSource& matrix) {
    if (!models::is_unit(experts ? models::UnitScope::experts : models::UnitScope::linear_layers,
                         matrix.role))
      return;
    const double share =
        experts ? static_cast<double>(config.experts_used()) / static_cast<double>(config.experts()) : 1;
    units += share * static_cast<double>(matrix.bytes());
  });
  return models::Placement(file, device, models::UnitScope::none).measure(weights, config).per_token -
         static_cast<std::int64_t>(units);
}

}  // namespace

Result<PlanReport> plan_model(const std::filesystem::path& model, const PlanSettings& given) {
  return at_the_door([&]() -> Result<PlanReport> {
    PlanSettings settings = given;
    FOVEA_TRY(const auto file, checkpoint::Checkpoint::open(model));
    FOVEA_TRY(const auto config, models::read_config(file));
    FOVEA_TRY(const auto weights, models::plan_weights(file, config));
    FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(settings.device));
    FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
    FOVEA_CHECK(choose_sizes(settings, config, *device));
    const bool has_experts = config.experts() > 0;
    return report(
        {.config = &config,
         .weights = &weights,
         .device = device,
         .has_experts = has_experts,
         .experts_used = config.experts_used(),
         .name = config.name.empty() ? model.filename().string() : config.name,
         .dense =
             [&](PolicyKind policy) {
               return models::Placement(file, *device, precision::unit_scope(policy, has_experts))
                   .measure(weights, config)
                   .resident();
             },
         .kv =
             [&](const PlanSettings& s) {
               return runtime::KvCache::bytes(runtime::kv_settings(config, s.context, s.kv));
             },
         .activations =
             [&](const PlanSettings& s) { return layers::Forward::activation_bytes(config, s.chunk); },
         .host = runtime::host_bytes(file, *processor),
         .dense_read = dense_read(file, *device, weights, config)},
        settings);
  });
}

Result<PlanReport> plan_shape(std::string_view name, const PlanSettings& given) {
  return at_the_door([&]() -> Result<PlanReport> {
    PlanSettings settings = given;
    FOVEA_TRY(const precision::ModelShape* const shape, precision::find_shape(name));
    FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(settings.device));
    FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
    const precision::ShapeWeights weights = precision::weights_of(*shape);
    const models::ModelConfig config = precision::config_of(*shape);
    const bool has_experts = shape->experts > 0;
    if (!has_experts && settings.precision.policy == PolicyKind::automatic &&
        settings.precision.tiers.empty())
      settings.precision.policy = PolicyKind::none;
    if (!has_experts && settings.precision.policy != PolicyKind::none)
      return fail(ErrorKind::unsupported, "--shape " + std::string(shape->name),
                  "the tiers of a dense model are planned from its file alone",
                  "Plan without a policy, or give the model");
    FOVEA_CHECK(choose_sizes(settings, config, *device));
    const precision::UnitTable units(weights.plan, models::UnitScope::experts);
    FOVEA_TRY(const auto dense_tier, precision::parse_tiers(std::vector{settings.dense_tier}, units));
    const kernels::Type dense_type = dense_tier.front().type.value_or(kernels::Type::bf16);
    const std::int64_t dense =
        settings.dense_bytes > 0 ? settings.dense_bytes : precision::dense_bytes(*shape, dense_type);
    return report(
        {.config = &config,
         .weights = &weights.plan,
         .device = device,
         .has_experts = has_experts,
         .experts_used = shape->experts_used,
         .name = std::string(shape->name),
         .dense =
             [&](PolicyKind policy) {
               if (policy != PolicyKind::none) return dense;
               return dense + kernels::row_bytes(shape->expert_type, precision::expert_weights(*shape));
             },
         .kv =
             [&](const PlanSettings& s) {
               return precision::kv_bytes(*shape, runtime::storage_type(s.kv), s.context, s.chunk,
                                          runtime::page_tokens);
             },
         .activations =
             [&](const PlanSettings& s) { return layers::Forward::activation_bytes(config, s.chunk); },
         .host =
             [processor](const models::MatrixSource& m) {
               const kernels::Type type = m.tensor->type;
               return models::aligned(processor->packed_bytes(
                   processor->preferred_packing(type, m.rows, m.columns), type, m.rows, m.columns));
             },
         .dense_read =
             shape->tied ? dense : dense - kernels::row_bytes(dense_type, shape->vocabulary * shape->hidden)},
        settings);
  });
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const precision::ModelShape& shape : precision::model_shapes()) names.emplace_back(shape.name);
  return names;
}

}  // namespace fovea
