#include "engine/runtime/load.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/models/no_stream.h"
#include "engine/precision/errors.h"
#include "engine/precision/store_source.h"
#include "engine/precision/weight_divergence.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load_precision.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/sampler.h"
#include "engine/runtime/scheduler.h"
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
  if (plan.plan.first_card.layers > 0)
    options.precision.first_budget_bytes = plan.plan.first_card.budget_bytes;
  return options;
}

std::vector<Phrase> phrases_of(const std::vector<PlanDifference>& differences) {
  std::vector<Phrase> all;
  for (const PlanDifference& each : differences) all.push_back(phrase_of(each));
  return all;
}

// What the plan was made for is there still, or less that is enough for it; else, where the caller wants
// that, the budget is what there is. Of each card.
void keep_to(const Shown& shown, LoadOptions& options, runtime::Machine& machine) {
  if (shown.plan == nullptr) return;
  const PlanBasis& basis = shown.plan->basis;
  machine.facts.main_memory_gb_per_s = basis.main_memory_gb_per_s;
  if (!machine.is_card()) return;
  const auto keep = [&](std::int64_t free, std::int64_t was_free, std::int64_t needs, std::int64_t& budget,
                        std::int64_t& counted) {
    if (free >= budget) return;
    if (needs <= free) {
      counted = was_free;
    } else if (shown.if_changed == IfChanged::plan_anew) {
      budget = free;
    }
  };
  const Plan& plan = shown.plan->plan;
  keep(machine.device_free_bytes(), basis.device_free_bytes, plan.total_bytes, options.precision.budget_bytes,
       machine.facts.device_free_bytes);
  if (machine.first != nullptr)
    keep(machine.first_free_bytes(), basis.first_free_bytes, plan.first_card.total_bytes,
         options.precision.first_budget_bytes, machine.facts.first_free_bytes);
}

// The plan, with the store that it asks for, which is made where it is missing.
Result<runtime::PlannedLoad> plan_and_store(const runtime::Subject& subject, LoadOptions options,
                                            runtime::Machine machine, const Shown& shown,
                                            const ProgressSink& progress, const std::stop_token& stop) {
  keep_to(shown, options, machine);
  FOVEA_TRY(runtime::PlannedLoad planned, runtime::plan_load(subject, options, machine));
  const bool policy = planned.plan.policy() != PolicyKind::none;
  const bool needs_store = policy && !planned.fitted.units.comes_from_host();  // of two cards one for both
  if (!planned.refused && needs_store && !planned.store && machine.has_store) {
    FOVEA_CHECK(runtime::build_store(*subject.checkpoint, planned, *machine.device, progress, stop));
    FOVEA_TRY(planned, runtime::plan_load(subject, options, machine));
  }
  if (planned.refused) return std::unexpected(*std::move(planned.refused));
  if (shown.plan == nullptr) return planned;
  planned.plan.changed = differences(*shown.plan, planned.plan);
  if (!planned.plan.changed.empty() && shown.if_changed == IfChanged::refuse)
    return fail(phrases::plan_place(), errors::plan_does_not_hold(phrases_of(planned.plan.changed)));
  return planned;
}

// What is loaded, from where and for which machine.
struct Loading {
  LoadOptions options;
  Shown shown = {};
  const runtime::PolicyMaker& policy_maker;
  const kernels::Device* device = nullptr;  // null: the options'
  const kernels::Device* first = nullptr;   // another card, for the first layers
  MachineFacts facts = {};
  std::optional<runtime::Weights> weights = {};  // nothing: the model's file
};

Result<void> read_text(const checkpoint::Checkpoint& checkpoint, Engine::Parts& parts) {
  FOVEA_TRY(parts.text, text::open_text_model(checkpoint));
  parts.tokenizer = &parts.text->parts().tokenizer;
  parts.control = chat::ControlTokens(*parts.tokenizer);
  parts.channels = chat::ChannelTokens::of(*parts.tokenizer);
  parts.call_syntax = chat::call_syntax(*parts.text, *parts.tokenizer);
  if (parts.call_syntax == chat::CallSyntax::harmony && !parts.channels) parts.call_syntax.reset();
  for (const TokenId token : parts.tokenizer->end_of_generation()) parts.end_of_generation.insert(token);
  parts.breakers = runtime::sequence_breakers(*parts.tokenizer);
  parts.forms = std::make_unique<chat::FormMasks>(*parts.tokenizer);
  return {};
}

// What a card, or the processor, begins with.
Result<runtime::CardLoad> card_load(const Loading& loading, runtime::PlannedLoad planned,
                                    models::Model& model, std::optional<models::HostWeights>& host,
                                    const kernels::Device& device) {
  const LoadOptions& options = planned.plan.options;
  const PrecisionRequest& precision = options.precision;
  if (precision.policy == PolicyKind::flexquant) {
    FOVEA_TRY(planned.world.weight_divergence,
              precision::weight_divergences(model.checkpoint(), planned.fitted.units.units,
                                            planned.fitted.units.tiers, options.threads));
  }
  FOVEA_TRY(auto policy, loading.policy_maker ? loading.policy_maker(planned.world)
                                              : runtime::make_policy(precision.policy, planned.world,
                                                                     planned.tiers, precision));
  std::unique_ptr<precision::VersionSource> source;
  if (!planned.fitted.units.comes_from_host()) {
    source = planned.store ? std::make_unique<precision::StoreSource>(*std::move(planned.store))
                           : loading.weights->versions(planned.fitted.units);
  }
  return runtime::CardLoad{.planned = std::move(planned),
                           .source = std::move(source),
                           .policy = std::move(policy),
                           .model = model,
                           .host = host ? &*host : nullptr,
                           .device = device};
}

// [layers] what the processor computes beside one card or the other.
std::vector<models::HostShare> host_shares(const runtime::PlannedLoad& planned, std::int64_t layers) {
  if (!planned.first || planned.first->host.empty()) return planned.host;
  std::vector<models::HostShare> shares = planned.host;
  shares.resize(static_cast<std::size_t>(layers));
  std::copy_n(planned.first->host.begin(), planned.plan.options.host_layers, shares.begin());
  return shares;
}

// The policy's part, and who tells what the experts do.
Result<void> add_precision(const Loading& loading, runtime::PlannedLoad planned, Engine::Parts& parts,
                           const ProgressSink& progress, const std::stop_token& stop) {
  const models::ModelConfig& config = parts.model->config();
  if (parts.plan.policy() == PolicyKind::none) {
    const auto experts = parts.expert_layers();
    if (!experts.empty())
      parts.watch = std::make_unique<runtime::UnitWatch>(config.layer_count(), experts, config.experts_used(),
                                                         host_shares(planned, config.layer_count()),
                                                         !parts.device->memory_is_host());
    return {};
  }
  std::vector<runtime::CardLoad> cards;
  if (planned.first) {
    FOVEA_TRY(auto first, card_load(loading, std::move(*planned.first), *parts.first_layers,
                                    parts.first_host_weights, *parts.first_device));
    cards.push_back(std::move(first));
  }
  FOVEA_TRY(auto last,
            card_load(loading, std::move(planned), *parts.model, parts.host_weights, *parts.device));
  cards.push_back(std::move(last));
  FOVEA_TRY(parts.precision, runtime::start_precision(std::move(cards), progress, stop));
  parts.watch = std::make_unique<runtime::UnitWatch>(*parts.precision, config.experts_used());
  return {};
}

bool multiplies_bf16(const checkpoint::Checkpoint& checkpoint) {
  return std::ranges::any_of(checkpoint.tensors(),
                             [](const auto& tensor) { return tensor.type == kernels::Type::bf16; });
}

// Weights, buffers and cache as the plan has them.
Result<void> carry_out(const Loading& loading, checkpoint::Checkpoint checkpoint,
                       runtime::PlannedLoad planned, Engine::Parts& parts, const ProgressSink& progress,
                       const std::stop_token& stop) {
  parts.plan = planned.plan;
  const LoadOptions& options = parts.plan.options;
  const bool policy = parts.plan.policy() != PolicyKind::none;
  const models::UnitScope units = policy ? planned.fitted.units.units.scope() : models::UnitScope::none;
  const std::vector<models::HostShare> host = planned.host;
  FOVEA_TRY(const kernels::Device* const own, runtime::chosen_device({}));
  layers::HostPart host_part{
      .device = loading.weights && loading.weights->processor ? loading.weights->processor : own,
      .threads = options.threads};
  models::LayerRange range{0, parts.info.layers};
  if (options.host_layers > 0) {
    range.first = options.host_layers;
    FOVEA_TRY(auto again, checkpoint::Checkpoint::open(options.model));
    const kernels::Device& place = parts.first_device ? *parts.first_device : *host_part.device;
    const std::vector<models::HostShare> beside =
        planned.first ? planned.first->host : std::vector<models::HostShare>();
    FOVEA_TRY(parts.first_layers,
              models::Model::load(std::move(again), place, options.threads, progress, stop,
                                  parts.first_device ? units : models::UnitScope::none, beside,
                                  models::LayerRange{0, options.host_layers}));
    if (!beside.empty()) {
      FOVEA_TRY(parts.first_host_weights, models::HostWeights::load(*parts.first_layers, *host_part.device,
                                                                    options.threads, progress, stop));
      host_part.first_weights = &*parts.first_host_weights;
      host_part.first_uses_per_token = planned.first->host_uses_per_token;
    }
    host_part.first_layers = &*parts.first_layers;
    host_part.first_device = parts.first_device;
    host_part.first_stream = {.multiplies_bf16 = multiplies_bf16(parts.first_layers->checkpoint())};
  }
  FOVEA_TRY(parts.model, models::Model::load(std::move(checkpoint), *parts.device, options.threads, progress,
                                             stop, units, host, range));
  if (!host.empty()) {
    FOVEA_TRY(parts.host_weights,
              models::HostWeights::load(*parts.model, *host_part.device, options.threads, progress, stop));
    host_part.weights = &*parts.host_weights;
    host_part.uses_per_token = planned.host_uses_per_token;
  }
  if (planned.fitted.units.brings_experts)
    host_part.stream.from_tokens = options.precision.offload.stream_from;
  if (planned.first && planned.first->fitted.units.brings_experts)
    host_part.first_streams.from_tokens = options.precision.offload.stream_from;
  FOVEA_CHECK(add_precision(loading, std::move(planned), parts, progress, stop));
  if (parts.precision && parts.precision->not_cached())
    parts.plan.plan.notes.push_back(phrases::versions_are_not_kept(parts.precision->not_cached()->what));
  FOVEA_TRY(parts.forward,
            layers::Forward::create(*parts.model, *parts.device,
                                    runtime::pass_limits(parts.model->config(), options), host_part));
  if (const auto why = parts.forward->not_streamed()) {
    std::vector<Phrase>& notes = parts.plan.plan.notes;
    std::erase_if(notes, [](const Phrase& note) { return note.is(phrases::prompts_bring_experts.code); });
    notes.push_back(phrases::prompts_bring_no_experts(why->what));
  }
  FOVEA_TRY(parts.cache, runtime::KvCache::create(runtime::kv_settings(parts.model->config(), options),
                                                  *parts.device, *parts.stream,
                                                  parts.first_device ? parts.first_device : host_part.device,
                                                  parts.forward->first_stream()));
  parts.scheduler = std::make_unique<runtime::Scheduler>(parts);
  return {};
}

void log_loaded(const Engine::Parts& parts, double seconds) {
  const LoadOptions& options = parts.plan.options;
  log::info("runtime", "loaded ", options.model.string(), " (", parts.info.architecture, ") in ", seconds,
            " s: weights ", parts.model->weight_bytes(), " bytes, on the host beside them ",
            parts.host_weight_bytes(), " bytes, KV cache ", parts.cache->bytes(), " and there ",
            parts.cache->first_bytes(), " bytes for ", options.context, " tokens, activations ",
            parts.forward->bytes().device, " bytes, ", options.threads, " threads, ",
            parts.device->instruction_set());
  const Plan& plan = parts.plan.plan;
  if (parts.plan.host_computes)
    log::info("runtime", "the plan for ", parts.device->name(), ": ", plan.total_bytes, " of ",
              plan.budget_bytes, " bytes, and beside it ", plan.units_on_host,
              " units that the processor computes and buffers, ", plan.host_bytes, " bytes of main memory");
  for (const Phrase& note : plan.notes) log::info("runtime", english(note));
  for (const PlanDifference& each : parts.plan.changed)
    log::info("runtime", "planned anew: ", english(phrase_of(each)));
}

Result<std::unique_ptr<Engine::Parts>> assemble(Loading loading, const ProgressSink& progress,
                                                const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  LoadOptions& options = loading.options;
  FOVEA_CHECK(runtime::check(options));
  auto parts = std::make_unique<Engine::Parts>();
  parts->device = loading.device;
  parts->first_device = loading.first;
  if (!parts->device) {
    FOVEA_TRY(const runtime::ChosenDevices chosen, runtime::chosen_devices(options.device));
    parts->device = chosen.device;
    parts->first_device = chosen.first;
  }
  FOVEA_TRY(auto checkpoint, loading.weights
                                 ? Result<checkpoint::Checkpoint>(std::move(loading.weights->checkpoint))
                                 : checkpoint::Checkpoint::open(options.model));
  FOVEA_TRY(parts->info, models::describe(checkpoint));
  if (options.need_tokenizer) FOVEA_CHECK(read_text(checkpoint, *parts));
  FOVEA_TRY(const models::ModelConfig config, models::read_config(checkpoint));
  FOVEA_TRY(const models::WeightPlan weights, models::plan_weights(checkpoint, config));
  FOVEA_TRY(const kernels::Device* processor, runtime::chosen_device({}));
  runtime::choose_defaults(options, config, !parts->device->memory_is_host());
  parts->stream = parts->device->make_stream(
      {.threads = options.threads, .multiplies_bf16 = multiplies_bf16(checkpoint)});
  if (!parts->stream) return models::no_stream(*parts->device);
  parts->energy = std::make_unique<runtime::EnergyMeter>(!parts->device->memory_is_host());
  runtime::Subject subject =
      runtime::subject_of(options.model, checkpoint, weights, config, *parts->device, *processor);
  std::optional<runtime::Subject> on_first;
  if (parts->first_device)
    subject.on_first = &on_first.emplace(
        runtime::subject_of(options.model, checkpoint, weights, config, *parts->first_device, *processor));
  FOVEA_TRY(auto planned, plan_and_store(subject, options,
                                         {.device = parts->device,
                                          .first = parts->first_device,
                                          .facts = loading.facts,
                                          .has_store = !(loading.weights && loading.weights->versions),
                                          .has_file = !loading.weights},
                                         loading.shown, progress, stop));
  FOVEA_CHECK(carry_out(loading, std::move(checkpoint), std::move(planned), *parts, progress, stop));
  log_loaded(*parts, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return parts;
}

// assemble(options); and where they change places with the processor's although nobody asked for it, and main
// memory cannot be pinned for that, once more with experts that stay where they are.
template <class Assemble>
Result<std::unique_ptr<Engine::Parts>> or_stay(const LoadOptions& options, bool asked_for,
                                               const Assemble& assemble) {
  auto parts = assemble(options);
  if (parts || asked_for || !parts.error().is(errors::no_memory_to_change_places.code)) return parts;
  const Phrase why = parts.error().what;
  LoadOptions still = options;
  still.precision.policy = PolicyKind::none;
  still.precision.tiers.clear();
  FOVEA_TRY(parts, assemble(still));
  (*parts)->plan.plan.notes.push_back(phrases::experts_stay(why));
  return parts;
}

}  // namespace

Result<std::unique_ptr<Engine>> runtime::load(const LoadOptions& options, const PolicyMaker& policy_maker,
                                              const ProgressSink& progress, std::stop_token stop,
                                              const kernels::Device* device, const MachineFacts& facts,
                                              const ForwardSink& forward, const kernels::Device* first) {
  return exhaustion_as_error([&]() -> Result<std::unique_ptr<Engine>> {
    const bool asked_for = options.precision.policy != PolicyKind::automatic;
    FOVEA_TRY(auto parts, or_stay(options, asked_for, [&](const LoadOptions& each) {
                return assemble({.options = each,
                                 .policy_maker = policy_maker,
                                 .device = device,
                                 .first = first,
                                 .facts = facts},
                                progress, stop);
              }));
    if (forward) forward(*parts->forward);
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> runtime::load(const LoadPlan& plan, IfChanged if_changed,
                                              const kernels::Device* device, const MachineFacts& facts,
                                              const ProgressSink& progress, std::stop_token stop,
                                              const kernels::Device* first) {
  return exhaustion_as_error([&]() -> Result<std::unique_ptr<Engine>> {
    const runtime::PolicyMaker nobody;
    FOVEA_TRY(auto parts,
              or_stay(options_of(plan), if_changed == IfChanged::refuse, [&](const LoadOptions& each) {
                return assemble({.options = each,
                                 .shown = {.plan = &plan, .if_changed = if_changed},
                                 .policy_maker = nobody,
                                 .device = device,
                                 .first = first,
                                 .facts = facts},
                                progress, stop);
              }));
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> runtime::load(const LoadOptions& options, Weights weights,
                                              const PolicyMaker& policy_maker, const ProgressSink& progress,
                                              std::stop_token stop, const kernels::Device& device,
                                              const ForwardSink& forward) {
  return exhaustion_as_error([&]() -> Result<std::unique_ptr<Engine>> {
    FOVEA_TRY(auto parts, assemble({.options = options,
                                    .policy_maker = policy_maker,
                                    .device = &device,
                                    .weights = std::move(weights)},
                                   progress, stop));
    if (forward) forward(*parts->forward);
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> Engine::load(const LoadOptions& options, const ProgressSink& progress,
                                             std::stop_token stop) {
  return runtime::load(options, {}, progress, std::move(stop));
}

Result<std::unique_ptr<Engine>> Engine::load(const LoadPlan& plan, IfChanged if_changed,
                                             const ProgressSink& progress, std::stop_token stop) {
  return runtime::load(plan, if_changed, nullptr, {}, progress, std::move(stop));
}

}  // namespace fovea
