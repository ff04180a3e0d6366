#include "engine/runtime/load_settings.h"

#include <algorithm>
#include <string>

#include "engine/api/limits.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/processor.h"

namespace fovea::runtime {
namespace {

constexpr std::int64_t default_context = 8192;
constexpr std::int64_t default_chunk = 256;
// Swaps are published between chunks: shorter ones let a policy follow a long prompt.
constexpr std::int64_t dynamic_chunk = 128;
// A card's tiles take 64 tokens of an expert: of 256 each of 128 experts would get 16.
constexpr std::int64_t card_chunks = 2;

std::unexpected<Error> out_of_range(const char* name, std::int64_t value, Phrase range) {
  return fail(phrases::option_place(name), errors::value_out_of_range(value, std::move(range)));
}

}  // namespace

Result<void> check(const LoadOptions& options) {
  if (options.context < 0 || options.context > max_context)
    return out_of_range("context", options.context, phrases::from_models_to(max_context));
  if (options.threads < 0 || options.threads > 1024)
    return out_of_range("threads", options.threads, phrases::from_all_to(1024));
  if (options.chunk < 0 || options.chunk > max_chunk)
    return out_of_range("chunk", options.chunk, phrases::from_default_to(max_chunk));
  return {};
}

void choose_defaults(LoadOptions& options, const models::ModelConfig& config, bool card) {
  const std::int64_t trained = config.context > 0 ? config.context : default_context;
  if (options.context == 0) options.context = std::min(trained, default_context);
  if (options.chunk == 0) {
    const bool dynamic =
        precision::chosen_policy(options.precision, config.experts() > 0, card) == PolicyKind::dynaexq;
    options.chunk = (dynamic ? dynamic_chunk : default_chunk) * (card ? card_chunks : 1);
  }
  options.chunk = std::min(options.chunk, options.context);
  if (options.threads == 0) options.threads = physical_cores();
  if (options.context > trained)
    log::warning("runtime", "the context of ", options.context, " tokens is longer than the ", trained,
                 " that the model was trained for");
}

void count_card(const models::ModelConfig& config, std::int64_t context, std::int64_t chunk,
                precision::Surroundings& around) {
  const layers::PassLimits limits{.tokens = chunk,
                                  .pages = KvCache::pages(kv_settings(config, context, KvType::f32))};
  const auto alone = layers::Forward::bytes_apart(config, limits, false);
  around.activation_bytes = alone.device;
  // Half of the reserve is for the driver's graphs; what a long context's take beyond that is kept free as
  // well.
  const std::int64_t graphs = layers::Graphs::driver_bytes(config.layer_count(), context, page_tokens);
  around.safety_bytes = std::max(precision::card_safety_bytes, precision::card_safety_bytes / 2 + graphs);
  around.safety_share = 0;
  const std::int64_t saved = models::plan_states(config, context).saved_bytes();
  around.exchange_bytes = alone.host + saved;
  around.exchange_with_host_bytes = layers::Forward::bytes_apart(config, limits, true).host + saved;
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

KvCache::Settings kv_settings(const models::ModelConfig& config, std::int64_t context, KvType kv) {
  KvCache::Settings settings{.shape = {.layers = {}, .page_tokens = page_tokens, .type = storage_type(kv)},
                             .context = context};
  for (const models::LayerConfig& layer : config.layers) {
    const models::AttentionConfig* const attention = layer.attention();
    const bool own = attention && attention->kv_from < 0;
    settings.shape.layers.push_back(own ? PageShape::Layer{attention->kv_heads, attention->head_dim}
                                        : PageShape::Layer{});
  }
  if (const models::StatePlan states = models::plan_states(config, context); states.bytes > 0)
    settings.state = {.bytes = states.bytes,
                      .sequences = states.sequences,
                      .saved = states.saved,
                      .spacing = states.spacing,
                      .turn_ends = states.turn_ends};
  return settings;
}

}  // namespace fovea::runtime
