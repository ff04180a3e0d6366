#include <algorithm>
#include <cmath>

#include "engine/api/devices.h"
#include "engine/api/plan.h"
#include "engine/core/result.h"
#include "engine/models/say.h"
#include "engine/precision/model_shapes.h"
#include "engine/precision/size_text.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"

namespace fovea {
namespace {

using models::say;
using precision::size_text;

Result<runtime::Machine> machine_of(const LoadOptions& options, const MachineFacts& facts) {
  FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(options.device));
  return runtime::Machine{.device = device, .facts = facts};
}

Result<LoadPlan> plan_of(const runtime::Subject& subject, LoadOptions options,
                         const runtime::Machine& machine) {
  FOVEA_CHECK(runtime::check(options));
  runtime::choose_defaults(options, *subject.config, machine.is_card());
  FOVEA_TRY(runtime::PlannedLoad planned, runtime::plan_load(subject, options, machine));
  return std::move(planned.plan);
}

// "3 units at q4", "2 units on the host"
std::vector<std::pair<std::string, std::int64_t>> units_by_tier(const LoadPlan& plan) {
  std::vector<std::pair<std::string, std::int64_t>> units;
  for (const PlanTier& tier : plan.plan.parts.experts) units.emplace_back(tier.name, tier.units);
  units.emplace_back(plan.host_computes ? "host" : "disk", plan.units_offloaded);
  return units;
}

}  // namespace

double LoadPlan::first_token_seconds(std::int64_t prompt_tokens) const {
  if (prompt.gop_per_s <= 0 || prompt_tokens < 1) return 0;
  const auto tokens = static_cast<double>(prompt_tokens);
  const double arithmetic =
      2 * (prompt.multiply_adds * tokens + prompt.attention_multiply_adds * tokens * tokens / 2 +
           prompt.output_multiply_adds) /
      (1e9 * prompt.gop_per_s);
  const double passes = std::ceil(tokens / static_cast<double>(options.chunk));
  const double reads = device_part.gb_per_s > 0 ? passes * prompt.bytes / (1e9 * device_part.gb_per_s) : 0;
  return std::max(arithmetic, reads);
}

std::vector<std::string> differences(const LoadPlan& was, const LoadPlan& is) {
  std::vector<std::string> found;
  const auto tell = [&](const char* what, const std::string& before, const std::string& now) {
    if (before != now) found.push_back(say(what, " is ", now, ", the plan had ", before));
  };
  tell("the budget", size_text(was.plan.budget_bytes), size_text(is.plan.budget_bytes));
  const auto before = units_by_tier(was), now = units_by_tier(is);
  if (before != now || was.unit_tiers != is.unit_tiers) {
    std::int64_t moved = 0;
    for (std::size_t unit = 0; unit < std::min(was.unit_tiers.size(), is.unit_tiers.size()); ++unit)
      moved += was.unit_tiers[unit] != is.unit_tiers[unit];
    std::string text = say(moved, " of ", is.units(), " units have another tier:");
    for (const auto& [tier, units] : now) text += say(" ", units, " at ", tier, ",");
    text.pop_back();
    text += " (the plan had";
    for (const auto& [tier, units] : before) text += say(" ", units, " at ", tier, ",");
    text.pop_back();
    found.push_back(text + ")");
  }
  if (found.empty()) return found;
  // Why.
  if (was.basis.store_fingerprint != is.basis.store_fingerprint)
    found.push_back(was.basis.store_fingerprint.empty()
                        ? "the plan was made without a store, with all units hurt alike; the store says more"
                        : "the store is another one than the plan's");
  if (is.basis.device_free_bytes < was.basis.device_free_bytes)
    found.push_back(say(size_text(is.basis.device_free_bytes), " of the device's memory are free, the plan saw ",
                        size_text(was.basis.device_free_bytes)));
  return found;
}

Result<LoadPlan> plan_model(const LoadOptions& options, const MachineFacts& facts) {
  return at_the_door([&]() -> Result<LoadPlan> {
    FOVEA_TRY(const auto file, checkpoint::Checkpoint::open(options.model));
    FOVEA_TRY(const auto config, models::read_config(file));
    FOVEA_TRY(const auto weights, models::plan_weights(file, config));
    FOVEA_TRY(const runtime::Machine machine, machine_of(options, facts));
    FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
    runtime::Subject subject = runtime::subject_of(file, weights, config, *machine.device, *processor);
    if (subject.name.empty()) subject.name = options.model.filename().string();
    return plan_of(subject, options, machine);
  });
}

Result<LoadPlan> plan_shape(const ShapeChoice& choice, const LoadOptions& given, const MachineFacts& facts) {
  return at_the_door([&]() -> Result<LoadPlan> {
    LoadOptions options = given;
    FOVEA_TRY(const precision::ModelShape* const shape, precision::find_shape(choice.name));
    FOVEA_TRY(const runtime::Machine machine, machine_of(options, facts));
    FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
    const precision::ShapeWeights weights = precision::weights_of(*shape);
    const models::ModelConfig config = precision::config_of(*shape);
    const bool has_experts = shape->experts > 0;
    if (!has_experts && options.precision.policy == PolicyKind::automatic && options.precision.tiers.empty())
      options.precision.policy = PolicyKind::none;
    if (!has_experts && options.precision.policy != PolicyKind::none)
      return fail(ErrorKind::unsupported, "--shape " + std::string(shape->name),
                  "the tiers of a dense model are planned from its file alone",
                  "Plan without a policy, or give the model");
    const precision::UnitTable units(weights.plan, models::UnitScope::experts);
    FOVEA_TRY(const auto dense_tier, precision::parse_tiers(std::vector{choice.dense_tier}, units));
    const kernels::Type dense_type = dense_tier.front().type.value_or(kernels::Type::bf16);
    const std::int64_t dense =
        choice.dense_bytes > 0 ? choice.dense_bytes : precision::dense_bytes(*shape, dense_type);
    return plan_of({.name = std::string(shape->name),
                    .config = &config,
                    .weights = &weights.plan,
                    .dense_bytes =
                        [&](models::UnitScope scope) {
                          if (scope != models::UnitScope::none) return dense;
                          return dense + kernels::row_bytes(shape->expert_type, precision::expert_weights(*shape));
                        },
                    .kv_bytes =
                        [&](const LoadOptions& o) {
                          return precision::kv_bytes(*shape, runtime::storage_type(o.kv), o.context, o.chunk,
                                                     runtime::page_tokens);
                        },
                    .host_bytes =
                        [processor](const models::MatrixSource& m) {
                          const kernels::Type type = m.tensor->type;
                          return models::aligned(processor->packed_bytes(
                              processor->preferred_packing(type, m.rows, m.columns), type, m.rows, m.columns));
                        },
                    .dense_bytes_per_token =
                        shape->tied ? dense
                                    : dense - kernels::row_bytes(dense_type, shape->vocabulary * shape->hidden),
                    .multiply_adds = static_cast<double>(precision::multiply_adds(*shape))},
                   options, machine);
  });
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const precision::ModelShape& shape : precision::model_shapes()) names.emplace_back(shape.name);
  return names;
}

}  // namespace fovea
