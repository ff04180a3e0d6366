#include "engine/runtime/load.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/models/no_stream.h"
#include "engine/precision/made_versions.h"
#include "engine/precision/store_source.h"
#include "engine/runtime/load_precision.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/sampler.h"
#include "engine/text/text_model.h"

namespace fovea {
namespace {

// A plan that was shown, and what to do where it does not hold any more.
struct Shown {
  const LoadPlan* plan = nullptr;
  IfChanged if_changed = IfChanged::plan_anew;
};

// What was shown, with what it left open decided as it was then.
LoadOptions options_of(const LoadPlan& plan) {
  LoadOptions options = plan.options;
  if (plan.host_computes) options.precision.budget_bytes = plan.plan.budget_bytes;
  return options;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

// The plan, with the store that it asks for, which is made where it is missing.
Result<runtime::PlannedLoad> plan_and_store(const runtime::Subject& subject, LoadOptions options,
                                            runtime::Machine machine, const Shown& shown,
                                            const ProgressSink& progress, const std::stop_token& stop) {
  if (shown.plan != nullptr) {
    machine.facts.main_memory_gb_per_s = shown.plan->basis.main_memory_gb_per_s;
    const std::int64_t free = machine.device_free_bytes();
    if (machine.is_card() && options.precision.budget_bytes > free &&
        shown.if_changed == IfChanged::plan_anew)
      options.precision.budget_bytes = free;
  }
  FOVEA_TRY(runtime::PlannedLoad planned, runtime::plan_load(subject, options, machine));
  const bool policy = planned.plan.policy() != PolicyKind::none;
  if (!planned.refused && policy && !planned.store && machine.has_store) {
    FOVEA_CHECK(runtime::build_store(*subject.checkpoint, planned, *machine.device, progress, stop));
    FOVEA_TRY(planned, runtime::plan_load(subject, options, machine));
  }
  if (planned.refused) return std::unexpected(*std::move(planned.refused));
  if (shown.plan == nullptr) return planned;
  const auto changed = differences(*shown.plan, planned.plan);
  if (!changed.empty() && shown.if_changed == IfChanged::refuse)
    return fail(ErrorKind::invalid, "the plan", "it does not hold any more: " + joined(changed),
                "Plan again, and load that");
  std::ranges::copy(changed, std::back_inserter(planned.plan.plan.notes));
  return planned;
}

Result<std::unique_ptr<Engine::Parts>> assemble(const LoadOptions& asked, const Shown& shown,
                                                const runtime::PolicyMaker& policy_maker,
                                                const ProgressSink& progress, std::stop_token stop,
                                                const kernels::Device* device, std::int64_t main_memory_bytes,
                                                std::optional<runtime::MadeWeights> made = {}) {
  const auto start = std::chrono::steady_clock::now();
  FOVEA_CHECK(runtime::check(asked));
  LoadOptions options = asked;
  auto parts = std::make_unique<Engine::Parts>();
  parts->device = device;
  if (!device) {
    FOVEA_TRY(parts->device, runtime::chosen_device(options.device));
  }
  FOVEA_TRY(auto checkpoint, made ? Result<checkpoint::Checkpoint>(std::move(made->checkpoint))
                                  : checkpoint::Checkpoint::open(options.model));
  FOVEA_TRY(parts->info, models::describe(checkpoint));
  if (options.need_tokenizer) {
    FOVEA_TRY(parts->text, text::open_text_model(checkpoint));
    parts->tokenizer = &parts->text->parts().tokenizer;
    parts->control = runtime::ControlTokens(*parts->tokenizer);
    for (const TokenId token : parts->tokenizer->end_of_generation()) parts->end_of_generation.insert(token);
    parts->breakers = runtime::sequence_breakers(*parts->tokenizer);
  }
  FOVEA_TRY(const models::ModelConfig config, models::read_config(checkpoint));
  FOVEA_TRY(const models::WeightPlan weights, models::plan_weights(checkpoint, config));
  FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
  runtime::choose_defaults(options, config, !parts->device->memory_is_host());
  const bool bf16 = std::ranges::any_of(
      checkpoint.tensors(), [](const auto& tensor) { return tensor.type == kernels::Type::bf16; });
  parts->stream = parts->device->make_stream({.threads = options.threads, .multiplies_bf16 = bf16});
  if (!parts->stream) return models::no_stream(*parts->device);
  runtime::Subject subject = runtime::subject_of(checkpoint, weights, config, *parts->device, *processor);
  if (subject.name.empty()) subject.name = options.model.filename().string();
  FOVEA_TRY(auto planned,
            plan_and_store(subject, options,
                           {.device = parts->device,
                            .facts = {.main_memory_bytes = main_memory_bytes},
                            .has_store = !made.has_value()},
                           shown, progress, stop));
  parts->plan = planned.plan;
  const LoadOptions& settings = parts->plan.options;
  const std::vector<models::HostShare> host = planned.host;
  const bool policy = settings.precision.policy != PolicyKind::none;
  FOVEA_TRY(parts->model,
            models::Model::load(std::move(checkpoint), *parts->device, settings.threads, progress, stop,
                                policy ? planned.fitted.units.units.scope() : models::UnitScope::none, host));
  layers::HostPart host_part;
  if (!host.empty()) {
    FOVEA_TRY(host_part.device, runtime::chosen_device({}));
    FOVEA_TRY(parts->host_weights,
              models::HostWeights::load(*parts->model, *host_part.device, settings.threads, progress, stop));
    host_part.weights = &*parts->host_weights;
    host_part.threads = settings.threads;
  }
  if (policy) {
    FOVEA_TRY(auto chooser, policy_maker ? policy_maker(planned.world)
                                         : runtime::make_policy(settings.precision.policy, planned.world,
                                                                planned.tiers, settings.precision.dynaexq));
    std::unique_ptr<precision::VersionSource> source;
    if (made) {
      source = std::make_unique<precision::MadeVersions>(planned.fitted.units.units, planned.fitted.units.tiers, *parts->device,
                                                         made->seed);
    } else {
      source = std::make_unique<precision::StoreSource>(*std::move(planned.store));
    }
    FOVEA_TRY(parts->precision,
              runtime::start_precision(std::move(planned), std::move(source), std::move(chooser), *parts->model,
                                       *parts->device, *parts->stream, progress, stop));
    parts->watch = std::make_unique<runtime::UnitWatch>(*parts->precision, config.experts_used);
  } else if (const auto experts = runtime::expert_layers(*parts->model); !experts.empty()) {
    parts->watch = std::make_unique<runtime::UnitWatch>(config.layers, experts, config.experts_used, host,
                                                        !parts->device->memory_is_host());
  }
  const runtime::KvCache::Settings kv = runtime::kv_settings(config, settings.context, settings.kv);
  FOVEA_TRY(parts->forward, layers::Forward::create(*parts->model, *parts->device, settings.chunk,
                                                    runtime::KvCache::pages(kv), host_part));
  FOVEA_TRY(parts->cache, runtime::KvCache::create(kv, *parts->device, *parts->stream));

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  log::info("runtime", "loaded ", settings.model.string(), " (", parts->info.architecture, ") in ",
            seconds.count(), " s: weights ", parts->model->weight_bytes(), " bytes, on the host beside them ",
            parts->host_weights ? parts->host_weights->bytes() : 0, " bytes, KV cache ",
            parts->cache->bytes(), " bytes for ", settings.context, " tokens, activations ",
            parts->forward->bytes().device, " bytes, ", settings.threads, " threads, ",
            parts->device->instruction_set());
  return parts;
}

}  // namespace

Result<std::unique_ptr<Engine>> runtime::load(const LoadOptions& options, const PolicyMaker& policy_maker,
                                              const ProgressSink& progress, std::stop_token stop,
                                              const kernels::Device* device, std::int64_t main_memory_bytes,
                                              const ForwardSink& forward) {
  return at_the_door([&]() -> Result<std::unique_ptr<Engine>> {
    FOVEA_TRY(auto parts,
              assemble(options, {}, policy_maker, progress, std::move(stop), device, main_memory_bytes));
    if (forward) forward(*parts->forward);
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> runtime::load_made(const LoadOptions& options, MadeWeights made,
                                                   const ProgressSink& progress, std::stop_token stop,
                                                   const kernels::Device* device) {
  return at_the_door([&]() -> Result<std::unique_ptr<Engine>> {
    auto routing = std::move(made.routing);
    const PolicyMaker policy_maker = std::move(made.policy_maker);
    FOVEA_TRY(auto parts,
              assemble(options, {}, policy_maker, progress, std::move(stop), device, 0, std::move(made)));
    FOVEA_CHECK(parts->forward->allow_choices());
    parts->routing = std::move(routing);
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> Engine::load(const LoadOptions& options, const ProgressSink& progress,
                                             std::stop_token stop) {
  return runtime::load(options, {}, progress, std::move(stop));
}

Result<std::unique_ptr<Engine>> Engine::load(const LoadPlan& plan, IfChanged if_changed,
                                             const ProgressSink& progress, std::stop_token stop) {
  return at_the_door([&]() -> Result<std::unique_ptr<Engine>> {
    FOVEA_TRY(auto parts, assemble(options_of(plan), {.plan = &plan, .if_changed = if_changed}, {}, progress,
                                   std::move(stop), nullptr, 0));
    return std::make_unique<Engine>(std::move(parts));
  });
}

}  // namespace fovea
