#include "engine/runtime/load_settings.h"

#include <algorithm>
#include <string>

#include "engine/api/limits.h"
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
  if (options.sequences < 1 || options.sequences > max_sequences)
    return out_of_range("sequences", options.sequences, phrases::from_1_to(max_sequences));
  if (options.cache_tokens < 0 || options.cache_tokens > max_sequences * max_context)
    return out_of_range("cache_tokens", options.cache_tokens,
                        phrases::from_default_to(max_sequences * max_context));
  return {};
}

void choose_defaults(LoadOptions& options, const models::ModelConfig& config, bool card) {
  const std::int64_t trained = config.context > 0 ? config.context : max_context;
  if (options.context == 0) options.context = std::min(trained, default_context);
  if (options.context_may_shrink)
    options.context = std::min(options.context, std::max(trained, models::extended_context(config)));
  if (options.chunk == 0) {
    const bool moves =
        moves_experts(precision::chosen_policy(options.precision, config.experts() > 0, card)) &&
        !precision::asks_for_places(options.precision);
    options.chunk = (moves ? dynamic_chunk : default_chunk) * (card ? card_chunks : 1);
    options.chunk_may_grow = card && !moves;
  }
  options.chunk = std::min(options.chunk, options.context);
  options.cache_tokens = std::max(options.cache_tokens, options.context);
  if (options.threads == 0) options.threads = physical_cores();
}

std::optional<Phrase> context_note(std::int64_t context, const models::ModelConfig& config) {
  if (config.context <= 0 || context <= config.context) return std::nullopt;
  const std::int64_t longest = models::extended_context(config);
  return context <= longest ? phrases::context_extended(context, config.context, longest)
                            : phrases::context_beyond_model(context, longest);
}

std::int64_t max_pass_tokens(const LoadOptions& options) {
  return options.chunk + options.sequences - 1;
}

layers::PassLimits pass_limits(const models::ModelConfig& config, const LoadOptions& options) {
  return {.tokens = max_pass_tokens(options),
          .pages = KvCache::pages(kv_settings(config, options)),
          .segments = options.sequences};
}

void count_card(const models::ModelConfig& config, const LoadOptions& options, bool goes_on,
                std::int64_t largest_expert, precision::Surroundings& around) {
  const layers::PassLimits limits = pass_limits(config, options);
  const auto bytes = goes_on ? layers::Forward::first_bytes_apart : layers::Forward::bytes_apart;
  const auto alone = bytes(config, limits, false);
  around.activation_bytes = alone.device;
  // Half of the reserve is for the driver's graphs; what a long context's take beyond that is kept free as
  // well.
  const std::int64_t graphs =
      layers::Graphs::driver_bytes(config.layer_count(), options.context, page_tokens, options.sequences);
  around.safety_bytes = std::max(precision::card_safety_bytes, precision::card_safety_bytes / 2 + graphs);
  around.safety_share = 0;
  const std::int64_t saved = goes_on ? 0
                                     : plan_states(config, options).saved_bytes() +
                                           KvCache::window_bytes(kv_settings(config, options)).host;
  around.exchange_bytes = alone.host + saved;
  around.exchange_with_host_bytes = bytes(config, limits, true).host + saved;
  if (largest_expert == 0) return;
  const layers::StreamedExperts::Bytes streaming = layers::StreamedExperts::bytes(
      config, limits.tokens, largest_expert, layers::StreamSettings{}.part_bytes);
  around.stream_bytes = streaming.device;
  around.stream_host_bytes = streaming.host;
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

namespace {

constexpr std::int64_t usual_saved_bytes = std::int64_t{1} << 30;

// So many positions in a row may begin and end within a page.
std::int64_t pages_around(std::int64_t positions) {
  return (positions + page_tokens - 2) / page_tokens + 1;
}

// The pages that a pass sees of each sequence, or what windows see and one page to copy on write. A context
// that is hardly longer is kept as if there were no windows.
void plan_windows(std::int64_t chunk, KvCache::Settings& settings) {
  WindowPages::Settings& windows = settings.windows;
  const std::int64_t all = KvCache::pages(settings), before = windows.window - 1;
  windows.places = settings.sequences * std::max(pages_around(before + chunk), pages_around(before) + 1);
  if (windows.window == 0 || windows.places >= all) {
    windows = {};
    return;
  }
  const std::int64_t of_a_gibibyte = usual_saved_bytes / KvCache::window_page_bytes(settings);
  const std::int64_t of_two_windows = 2 * (windows.window / page_tokens + 2);
  windows.saved =
      std::min(all - windows.places, std::max(of_a_gibibyte, settings.sequences * of_two_windows));
}

}  // namespace

models::StatePlan plan_states(const models::ModelConfig& config, const LoadOptions& options) {
  return models::plan_states(config, std::max(options.context, options.cache_tokens), options.sequences);
}

PageShape page_shape(const models::ModelConfig& config, const LoadOptions& options) {
  PageShape shape{.layers = {}, .page_tokens = page_tokens, .type = storage_type(options.kv)};
  for (const models::LayerConfig& layer : config.layers) {
    const models::AttentionConfig* const attention = layer.attention();
    const bool own = attention && attention->kv_from < 0;
    shape.layers.push_back(own ? PageShape::Layer{.kv_heads = attention->kv_heads,
                                                  .head_dim = attention->head_dim,
                                                  .has_window = attention->window > 0}
                               : PageShape::Layer{});
  }
  return shape;
}

KvCache::Settings kv_settings(const models::ModelConfig& config, const LoadOptions& options) {
  KvCache::Settings settings{.shape = page_shape(config, options),
                             .context = std::max(options.context, options.cache_tokens),
                             .sequences = options.sequences};
  settings.first_layers = options.host_layers;
  for (std::int64_t layer = 0; layer < config.layer_count(); ++layer) {
    const models::AttentionConfig* const attention = config.layer(layer).attention();
    if (attention && attention->kv_from < 0)
      settings.windows.window = std::max(settings.windows.window, attention->window);
  }
  plan_windows(options.chunk, settings);
  if (const models::StatePlan states = plan_states(config, options); states.bytes > 0)
    settings.state = {.bytes = states.bytes,
                      .sequences = states.sequences,
                      .saved = states.saved,
                      .spacing = states.spacing,
                      .turn_ends = states.turn_ends};
  return settings;
}

}  // namespace fovea::runtime
