#include <algorithm>
#include <chrono>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"
#include "engine/text/text_model.h"
#include "kernels/cpu/device.h"

namespace fovea {
namespace {

constexpr std::int64_t default_context = 8192;
constexpr std::int64_t most_context = std::int64_t{1} << 24;
constexpr std::int64_t most_chunk = 8192;
constexpr std::int64_t page_tokens = 64;

std::unexpected<Error> out_of_range(const char* name, std::int64_t value, std::string range) {
  return fail(ErrorKind::invalid, name,
              "the value is " + std::to_string(value) + ", it must be " + std::move(range));
}

Result<void> check(const LoadRequest& request) {
  if (request.context < 0 || request.context > most_context)
    return out_of_range("context", request.context, "0 (the model's) … " + std::to_string(most_context));
  if (request.threads < 0 || request.threads > 1024)
    return out_of_range("threads", request.threads, "0 (all) … 1024");
  if (request.chunk < 1 || request.chunk > most_chunk)
    return out_of_range("chunk", request.chunk, "1 … " + std::to_string(most_chunk));
  return {};
}

kernels::Type storage_type(KvType kv) {
  switch (kv) {
    case KvType::f32:
      return kernels::Type::f32;
    case KvType::f16:
      return kernels::Type::f16;
    case KvType::q8:
      break;
  }
  return kernels::Type::q8_0;
}

void choose_defaults(LoadRequest& settings, const models::ModelConfig& config) {
  const std::int64_t trained = config.context > 0 ? config.context : default_context;
  if (settings.context == 0) settings.context = std::min(trained, default_context);
  settings.chunk = std::min(settings.chunk, settings.context);
  if (settings.context > trained)
    log::warning("runtime", "the context of ", settings.context, " tokens is longer than the ", trained,
                 " that the model was trained for");
}

Result<std::unique_ptr<Engine::Parts>> assemble(const LoadRequest& request, const ProgressSink& progress,
                                                std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  FOVEA_CHECK(check(request));
  auto parts = std::make_unique<Engine::Parts>();
  LoadRequest& settings = parts->settings = request;
  if (settings.threads == 0) settings.threads = runtime::physical_cores();
  FOVEA_TRY(parts->device, runtime::chosen_device());
  FOVEA_TRY(auto checkpoint, checkpoint::Checkpoint::open(request.model));
  FOVEA_TRY(parts->info, models::describe(checkpoint));
  if (request.need_tokenizer) {
    FOVEA_TRY(parts->text, text::open_text_model(checkpoint));
    parts->tokenizer = &parts->text->parts().tokenizer;
    parts->control = runtime::ControlTokens(*parts->tokenizer);
    for (const TokenId token : parts->tokenizer->end_of_generation()) parts->end_of_generation.insert(token);
  }
  FOVEA_TRY(parts->model, models::Model::load(std::move(checkpoint), *parts->device, settings.threads,
                                              progress, std::move(stop)));

  const models::ModelConfig& config = parts->model->config();
  choose_defaults(settings, config);
  FOVEA_TRY(parts->forward, layers::Forward::create(*parts->model, *parts->device, settings.chunk));
  FOVEA_TRY(parts->cache, runtime::KvCache::create({.shape = {.layers = config.layers,
                                                              .kv_heads = config.kv_heads,
                                                              .head_dim = config.head_dim,
                                                              .page_tokens = page_tokens,
                                                              .type = storage_type(settings.kv)},
                                                    .context = settings.context},
                                                   *parts->device));
  parts->stream = parts->device->make_stream({.threads = settings.threads});

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  log::info("runtime", "loaded ", request.model.string(), " (", parts->info.architecture, ") in ",
            seconds.count(), " s: weights ", parts->model->weight_bytes(), " bytes, KV cache ",
            parts->cache->bytes(), " bytes for ", settings.context, " tokens, activations ",
            parts->forward->activation_bytes(), " bytes, ", settings.threads, " threads, ",
            parts->device->instruction_set());
  return parts;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::load(const LoadRequest& request, const ProgressSink& progress,
                                             std::stop_token stop) {
  return at_the_door([&]() -> Result<std::unique_ptr<Engine>> {
    FOVEA_TRY(auto parts, assemble(request, progress, std::move(stop)));
    return std::make_unique<Engine>(std::move(parts));
  });
}

}  // namespace fovea
