#include "engine/runtime/load.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/models/no_stream.h"
#include "engine/precision/synthetic_versions.h"
#include "engine/runtime/load_precision.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/sampler.h"
#include "engine/text/text_model.h"

namespace fovea {
namespace {

Result<std::unique_ptr<Engine::Parts>> assemble(const LoadRequest& request,
                                                const runtime::PolicyMaker& policy_maker,
                                                const ProgressSink& progress, std::stop_token stop,
                                                const kernels::Device* device, std::int64_t main_memory_bytes,
                                                std::optional<runtime::MadeWeights> made = {}) {
  const auto start = std::chrono::steady_clock::now();
  FOVEA_CHECK(runtime::check(request));
  auto parts = std::make_unique<Engine::Parts>();
  LoadRequest& settings = parts->settings = request;
  if (settings.threads == 0) settings.threads = runtime::physical_cores();
  parts->device = device;
  if (!device) {
    FOVEA_TRY(parts->device, runtime::chosen_device(request.device));
  }
  FOVEA_TRY(auto checkpoint, made ? Result<checkpoint::Checkpoint>(std::move(made->checkpoint))
                                  : checkpoint::Checkpoint::open(request.model));
  FOVEA_TRY(parts->info, models::describe(checkpoint));
  if (request.need_tokenizer) {
    FOVEA_TRY(parts->text, text::open_text_model(checkpoint));
    parts->tokenizer = &parts->text->parts().tokenizer;
    parts->control = runtime::ControlTokens(*parts->tokenizer);
    for (const TokenId token : parts->tokenizer->end_of_generation()) parts->end_of_generation.insert(token);
    parts->breakers = runtime::sequence_breakers(*parts->tokenizer);
  }
  FOVEA_TRY(const models::ModelConfig config, models::read_config(checkpoint));
  runtime::choose_defaults(settings, config, !parts->device->memory_is_host());
  const bool bf16 = std::ranges::any_of(
      checkpoint.tensors(), [](const auto& tensor) { return tensor.type == kernels::Type::bf16; });
  parts->stream = parts->device->make_stream({.threads = settings.threads, .multiplies_bf16 = bf16});
  if (!parts->stream) return models::no_stream(*parts->device);
  runtime::VersionMaker versions;
  if (made) {
    versions = [device = parts->device, seed = made->seed](const precision::UnitPlan& units) {
      return std::make_unique<precision::SyntheticVersions>(units.units, units.tiers, *device, seed);
    };
  }
  if (main_memory_bytes == 0) main_memory_bytes = runtime::memory().free_bytes;
  FOVEA_TRY(auto prepared, runtime::prepare_precision(checkpoint, config, settings, *parts->device,
                                                      main_memory_bytes, progress, stop, versions));
  settings.precision.policy = prepared ? prepared->units.policy : PolicyKind::none;
  std::vector<models::HostShare> host;
  if (prepared) {
    host = prepared->host;
  } else if (!parts->device->memory_is_host()) {
    FOVEA_TRY(host,
              runtime::plan_without_policy(checkpoint, config, settings, *parts->device, main_memory_bytes));
  }
  FOVEA_TRY(parts->model,
            models::Model::load(std::move(checkpoint), *parts->device, settings.threads, progress, stop,
                                prepared ? prepared->units.units.scope() : models::UnitScope::none, host));
  layers::HostPart host_part;
  if (!host.empty()) {
    FOVEA_TRY(host_part.device, runtime::chosen_device({}));
    FOVEA_TRY(parts->host_weights,
              models::HostWeights::load(*parts->model, *host_part.device, settings.threads, progress, stop));
    host_part.weights = &*parts->host_weights;
    host_part.threads = settings.threads;
  }
  if (prepared) {
    FOVEA_TRY(auto policy, policy_maker ? policy_maker(prepared->world)
                                        : runtime::make_policy(*prepared, settings.precision));
    FOVEA_TRY(parts->precision,
              runtime::start_precision(*std::move(prepared), std::move(policy), *parts->model, settings,
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
  log::info("runtime", "loaded ", request.model.string(), " (", parts->info.architecture, ") in ",
            seconds.count(), " s: weights ", parts->model->weight_bytes(), " bytes, on the host beside them ",
            parts->host_weights ? parts->host_weights->bytes() : 0, " bytes, KV cache ",
            parts->cache->bytes(), " bytes for ", settings.context, " tokens, activations ",
            parts->forward->bytes().device, " bytes, ", settings.threads, " threads, ",
            parts->device->instruction_set());
  return parts;
}

}  // namespace

Result<std::unique_ptr<Engine>> runtime::load(const LoadRequest& request, const PolicyMaker& policy_maker,
                                              const ProgressSink& progress, std::stop_token stop,
                                              const kernels::Device* device, std::int64_t main_memory_bytes,
                                              const ForwardSink& forward) {
  return at_the_door([&]() -> Result<std::unique_ptr<Engine>> {
    FOVEA_TRY(auto parts,
              assemble(request, policy_maker, progress, std::move(stop), device, main_memory_bytes));
    if (forward) forward(*parts->forward);
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> runtime::load_made(const LoadRequest& request, MadeWeights made,
                                                   const ProgressSink& progress, std::stop_token stop,
                                                   const kernels::Device* device) {
  return at_the_door([&]() -> Result<std::unique_ptr<Engine>> {
    auto routing = std::move(made.routing);
    const PolicyMaker policy_maker = std::move(made.policy_maker);
    FOVEA_TRY(auto parts,
              assemble(request, policy_maker, progress, std::move(stop), device, 0, std::move(made)));
    FOVEA_CHECK(parts->forward->allow_choices());
    parts->routing = std::move(routing);
    return std::make_unique<Engine>(std::move(parts));
  });
}

Result<std::unique_ptr<Engine>> Engine::load(const LoadRequest& request, const ProgressSink& progress,
                                             std::stop_token stop) {
  return runtime::load(request, {}, progress, std::move(stop));
}

}  // namespace fovea
