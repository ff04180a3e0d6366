#include <algorithm>
#include <cmath>

#include "engine/api/devices.h"
#include "engine/api/plan.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"
#include "engine/precision/model_shapes.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"

namespace fovea {
namespace {

Result<runtime::Machine> machine_of(const LoadOptions& options, const MachineFacts& facts) {
  FOVEA_TRY(const runtime::ChosenDevices chosen, runtime::chosen_devices(options.device));
  if (chosen.first != nullptr && facts.device_memory_bytes > 0)
    return fail(phrases::option_place("--device-memory"), errors::device_memory_of_two_cards());
  return runtime::Machine{.device = chosen.device, .first = chosen.first, .facts = facts};
}

Result<LoadPlan> plan_of(const runtime::Subject& subject, LoadOptions options,
                         const runtime::Machine& machine) {
  FOVEA_CHECK(runtime::check(options));
  runtime::choose_defaults(options, *subject.config, machine.is_card());
  FOVEA_TRY(runtime::PlannedLoad planned, runtime::plan_load(subject, options, machine));
  return std::move(planned.plan);
}

// "3 q4, 2 host"
std::string units_by_tier(const LoadPlan& plan) {
  std::string text;
  const auto add = [&](std::int64_t units, std::string_view name) {
    if (units > 0) text += (text.empty() ? "" : ", ") + std::to_string(units) + " " + std::string(name);
  };
  for (const PlanTier& tier : plan.plan.parts.experts) add(tier.units, tier.name);
  add(plan.units_offloaded, plan.host_computes ? "host" : "disk");
  return text;
}

// Of a weight in a GGUF file of that precision. Q4_K_M keeps some matrices at six bits: 4.89 is what
// llama.cpp measured (tools/quantize/README.md).
double bits_in_file(const precision::Tier& tier, kernels::Type published) {
  constexpr double q4_k_m = 4.8944;
  const kernels::Type type = tier.type.value_or(published);
  return type == kernels::Type::q4_f ? q4_k_m : kernels::bits_per_weight(type);
}

// How many units begin at another tier.
std::int64_t units_moved(const LoadPlan& was, const LoadPlan& is) {
  if (was.units() != is.units()) return std::max(was.units(), is.units());
  std::int64_t moved = 0;
  for (std::size_t unit = 0; unit < is.unit_tiers.size(); ++unit)
    moved += was.unit_tiers[unit] != is.unit_tiers[unit];
  return moved;
}

}  // namespace

double LoadPlan::first_token_seconds(std::int64_t prompt_tokens) const {
  const auto tokens = static_cast<double>(prompt_tokens);
  const double passes = std::ceil(tokens / static_cast<double>(options.chunk));
  const auto seconds = [&](const PromptPart& part, double gb_per_s, double multiply_adds_once) {
    if (part.gop_per_s <= 0) return 0.0;
    const double arithmetic = 2 * (part.multiply_adds * tokens + multiply_adds_once) / (1e9 * part.gop_per_s);
    return std::max(arithmetic, gb_per_s > 0 ? passes * part.bytes / (1e9 * gb_per_s) : 0);
  };
  const bool on_host = prompt.host.multiply_adds > 0, first_there = prompt.before.multiply_adds > 0;
  if (prompt_tokens < 1 || prompt.device.gop_per_s <= 0 || (on_host && prompt.host.gop_per_s <= 0) ||
      (first_there && prompt.before.gop_per_s <= 0))
    return 0;
  const auto attended = [&](const std::vector<AttentionPart>& parts) {
    double multiply_adds = 0;
    for (const AttentionPart& part : parts) {
      const auto window =
          static_cast<double>(part.window > 0 ? std::min(part.window, prompt_tokens) : prompt_tokens);
      multiply_adds += part.multiply_adds * (window * (window + 1) / 2 + (tokens - window) * window);
    }
    return multiply_adds;
  };
  const double once = prompt.output_multiply_adds + attended(prompt.attention);
  const double device = seconds(prompt.device, device_part.gb_per_s, once);
  // One place behind the other.
  const double before = seconds(prompt.before, host_part.gb_per_s, attended(prompt.before_attention));
  if (!on_host) return before + device;
  const double apart = std::max(device, seconds(prompt.host, host_part.gb_per_s, 0));
  const std::int64_t from = options.precision.offload.stream_from;
  if (prompt.brought_bytes == 0 || from > std::min(prompt_tokens, options.chunk)) return before + apart;
  PromptPart all = prompt.device;
  all.multiply_adds += prompt.host.multiply_adds;
  all.bytes += prompt.brought_bytes;
  const double brought = std::max(seconds(all, device_part.gb_per_s, once),
                                  passes * prompt.brought_bytes / (1e9 * prompt.link_gb_per_s));
  return before + (from > 0 ? brought : std::min(apart, brought));
}

std::vector<PlanDifference> differences(const LoadPlan& was, const LoadPlan& is) {
  using enum PlanDifference::What;
  std::vector<PlanDifference> found;
  const auto compare = [&](PlanDifference::What what, std::int64_t before, std::int64_t now) {
    if (before != now) found.push_back({.what = what, .before = before, .now = now});
  };
  compare(budget, was.plan.budget_bytes, is.plan.budget_bytes);
  compare(budget, was.plan.first_card.budget_bytes, is.plan.first_card.budget_bytes);
  compare(first_layers, was.plan.first_card.layers, is.plan.first_card.layers);
  compare(device_bytes, was.plan.total_bytes + was.plan.first_card.total_bytes,
          is.plan.total_bytes + is.plan.first_card.total_bytes);
  compare(host_bytes, was.plan.host_bytes, is.plan.host_bytes);
  const std::int64_t moved = units_moved(was, is);
  if (moved > 0)
    found.push_back({.what = units,
                     .before = moved,
                     .now = is.units(),
                     .before_name = units_by_tier(was),
                     .now_name = units_by_tier(is)});
  // Another store means other choices even where all units begin alike; the first one may confirm the plan.
  const std::string &before = was.basis.store_fingerprint, &now = is.basis.store_fingerprint;
  if (before != now && !(before.empty() && found.empty()))
    found.push_back({.what = store, .before_name = before, .now_name = now});
  if (!found.empty()) compare(device_free, was.basis.device_free_bytes, is.basis.device_free_bytes);
  return found;
}

Phrase phrase_of(const PlanDifference& d) {
  const auto sizes = [&](const auto& phrase) { return phrase(Bytes{d.now}, Bytes{d.before}); };
  switch (d.what) {
    case PlanDifference::What::budget:
      return sizes(phrases::budget_is_other);
    case PlanDifference::What::first_layers:
      return phrases::first_layers_are_others(d.now, d.before);
    case PlanDifference::What::device_bytes:
      return sizes(phrases::device_takes_other);
    case PlanDifference::What::host_bytes:
      return sizes(phrases::host_takes_other);
    case PlanDifference::What::device_free:
      return sizes(phrases::device_free_is_other);
    case PlanDifference::What::units:
      return phrases::tiers_are_others(d.before, d.now, d.now_name, d.before_name);
    case PlanDifference::What::store:
      break;
  }
  const auto named = [](const std::string& name) {
    return name.empty() ? phrases::no_store() : phrases::the_store(name);
  };
  return phrases::store_is_another(named(d.now_name), named(d.before_name));
}

Result<LoadPlan> plan_model(const LoadOptions& options, const MachineFacts& facts) {
  return exhaustion_as_error([&]() -> Result<LoadPlan> {
    FOVEA_TRY(const runtime::Machine machine, machine_of(options, facts));
    return runtime::plan_file(options, machine);
  });
}

Result<LoadPlan> runtime::plan_file(const LoadOptions& options, const Machine& machine) {
  FOVEA_TRY(const auto file, checkpoint::Checkpoint::open(options.model));
  FOVEA_TRY(const auto config, models::read_config(file));
  FOVEA_TRY(const auto weights, models::plan_weights(file, config));
  FOVEA_TRY(const kernels::Device* processor, chosen_device({}));
  Subject subject = subject_of(options.model, file, weights, config, *machine.device, *processor);
  std::optional<Subject> on_first;
  if (machine.first != nullptr)
    subject.on_first =
        &on_first.emplace(subject_of(options.model, file, weights, config, *machine.first, *processor));
  return plan_of(subject, options, machine);
}

Result<LoadPlan> plan_shape(const ShapeChoice& choice, const LoadOptions& given, const MachineFacts& facts) {
  return exhaustion_as_error([&]() -> Result<LoadPlan> {
    LoadOptions options = given;
    FOVEA_TRY(const precision::ModelShape* const shape, precision::find_shape(choice.name));
    FOVEA_TRY(const runtime::Machine machine, machine_of(options, facts));
    FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
    const precision::ShapeWeights weights = precision::weights_of(*shape);
    const models::ModelConfig config = precision::config_of(*shape);
    const bool has_experts = shape->experts > 0;
    if (lowers_layers(options.precision.policy))
      return fail(phrases::shape_place(shape->name), errors::shape_has_no_layers());
    if (!has_experts && options.precision.policy == PolicyKind::automatic && options.precision.tiers.empty())
      options.precision.policy = PolicyKind::none;
    if (!has_experts && options.precision.policy != PolicyKind::none)
      return fail(phrases::shape_place(shape->name), errors::dense_shape_has_no_tiers());
    const precision::UnitTable units(weights.plan, models::UnitScope::experts);
    FOVEA_TRY(const auto dense_tier, precision::parse_tiers(std::vector{choice.dense_tier}, units));
    const kernels::Type dense_type = dense_tier.front().type.value_or(kernels::Type::bf16);
    const std::int64_t dense =
        choice.dense_bytes > 0 ? choice.dense_bytes : precision::dense_bytes(*shape, dense_type);
    const std::int64_t table = shape->vocabulary * shape->hidden, layer_count = shape->layers;
    const std::int64_t looked_up = precision::looked_up_weights(*shape);
    const std::int64_t in_layers =
        std::max<std::int64_t>(0, dense - kernels::row_bytes(dense_type, table + looked_up));
    const std::int64_t chosen = shape->experts_used * 3 * shape->hidden * shape->expert_width;  // of a layer
    const auto share = [layer_count](const models::LayerRange& layers) {
      return static_cast<double>(layers.end - layers.first) / static_cast<double>(layer_count);
    };
    // The embedding is with the first layer, the output with the last.
    const auto dense_of = [=](const models::LayerRange& layers) -> std::int64_t {
      if (layers == models::LayerRange{0, layer_count}) return dense;
      return std::llround(share(layers) * static_cast<double>(in_layers)) +
             (layers.first == 0 ? kernels::row_bytes(dense_type, looked_up) : 0) +
             (layers.end == layer_count ? kernels::row_bytes(dense_type, table) : 0);
    };
    runtime::Subject subject{
        .name = std::string(shape->name),
        .config = &config,
        .weights = &weights.plan,
        .dense_bytes = [&](models::UnitScope scope, const models::LayerRange& layers) -> std::int64_t {
          if (scope != models::UnitScope::none) return dense_of(layers);
          const std::int64_t experts =
              kernels::row_bytes(shape->expert_type, precision::expert_weights(*shape));
          return dense_of(layers) + std::llround(share(layers) * static_cast<double>(experts));
        },
        .host_bytes =
            [processor](const models::MatrixSource& m) {
              const kernels::Type type = m.tensor->type;
              return models::aligned(processor->packed_bytes(
                  processor->preferred_packing(type, m.rows, m.columns), type, m.rows, m.columns));
            },
        .dense_bytes_per_token =
            [&](models::UnitScope, const models::LayerRange& layers) {
              return static_cast<double>(dense_of(layers) -
                                         (layers.first == 0 ? kernels::row_bytes(dense_type, looked_up) : 0));
            },
        .multiply_adds =
            [&](const models::LayerRange& layers) {
              return share(layers) * static_cast<double>(precision::multiply_adds(*shape));
            },
        .host_layers =
            [&](models::UnitScope, std::int64_t layers) {
              const double of_all = share({0, layers});
              const auto bytes = of_all * static_cast<double>(in_layers);
              return runtime::Subject::HostLayers{
                  .host_bytes = std::llround(bytes) + kernels::row_bytes(dense_type, table),
                  .bytes_per_token = bytes,
                  .multiply_adds =
                      of_all * static_cast<double>(precision::multiply_adds(*shape) - layer_count * chosen)};
            }};
    runtime::Subject on_first = subject;  // it has no weights that a card would pack
    subject.on_first = &on_first;
    return plan_of(subject, options, machine);
  });
}

Result<ShapeFacts> shape_facts(const ShapeChoice& choice, const std::string& expert_tier) {
  FOVEA_TRY(const precision::ModelShape* const shape, precision::find_shape(choice.name));
  FOVEA_TRY(const precision::Tier experts, precision::parse_tier(expert_tier));
  FOVEA_TRY(const precision::Tier others, precision::parse_tier(choice.dense_tier));
  const precision::DenseWeights dense = precision::dense_weights(*shape);
  const std::int64_t in_experts = precision::expert_weights(*shape);
  const std::int64_t in_others = dense.matrices() + dense.vectors;
  const double bits = static_cast<double>(in_experts) * bits_in_file(experts, shape->expert_type) +
                      static_cast<double>(in_others) * bits_in_file(others, kernels::Type::bf16);
  return ShapeFacts{.parameters = in_experts + in_others,
                    .parameters_active = precision::multiply_adds(*shape) + shape->vocabulary * shape->hidden,
                    .experts = shape->experts,
                    .experts_used = shape->experts_used,
                    .context = shape->context,
                    .file_bytes = std::llround(bits / 8)};
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const precision::ModelShape& shape : precision::model_shapes()) names.emplace_back(shape.name);
  return names;
}

}  // namespace fovea
