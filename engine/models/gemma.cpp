// Gemma 3 and 4: windows on five of six layers, norms before and behind each block, GeGLU. Gemma 4 has heads
// of two sizes, experts beside a dense part, layers that read another's keys and values, and an input for
// each layer.
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/models/families.h"

namespace fovea::models {
namespace {

constexpr Key bidirectional_key{"", "use_bidirectional_attention"};
constexpr Key softcap_key{"final_logit_softcapping", "final_logit_softcapping"};
constexpr Key kv_heads_key{"attention.head_count_kv", "num_key_value_heads"};
constexpr Key shared_kv_key{"attention.shared_kv_layers", "num_kv_shared_layers"};
constexpr Key per_layer_key{"embedding_length_per_layer_input", "hidden_size_per_layer_input"};
constexpr std::int64_t usual_period = 6;

Result<void> check_options(const Keys& keys) {
  // "vision": of text there is nothing to look ahead to.
  if (const nlohmann::json* const both = keys.value("use_bidirectional_attention");
      both && *both != false && *both != "vision")
    return keys.wrong(errors::looks_ahead(keys.name(bidirectional_key), both->dump()));
  return {};
}

// Which layers have a window: those that the file lists, else all but each sixth.
Result<std::vector<bool>> read_slides(const Keys& keys, std::int64_t layers) {
  FOVEA_TRY(auto listed, read_layer_types(keys, layers));
  if (listed) return *std::move(listed);
  FOVEA_TRY(
      const std::int64_t period,
      keys.integer_or({"", "sliding_window_pattern", "_sliding_window_pattern"}, usual_period, 1, INT32_MAX));
  std::vector<bool> slides;
  for (std::int64_t layer = 0; layer < layers; ++layer) slides.push_back((layer + 1) % period != 0);
  return slides;
}

// What both have.
Result<std::vector<bool>> configure_both(const Keys& keys, ModelConfig& config, std::int64_t usual_window) {
  FOVEA_CHECK(check_options(keys));
  if (!keys.is_gguf()) FOVEA_CHECK(read_attention_bias(keys, config));
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden));
  FOVEA_TRY(config.logits_softcap, keys.number_or(softcap_key, 0, 0, 1e9));
  FOVEA_TRY(std::int64_t window,
            keys.integer_or(sliding_window_key, keys.is_gguf() ? 0 : usual_window, 0, INT32_MAX));
  if (window >= config.context) window = 0;
  FOVEA_TRY(std::vector<bool> slides, read_slides(keys, config.layer_count()));
  for (std::size_t index = 0; index < slides.size(); ++index) {
    LayerConfig& layer = config.layers[index];
    AttentionConfig& attention = *layer.attention();
    attention.qk_norm = true;
    attention.window = slides[index] ? window : 0;
    attention.rotary = slides[index] ? 1 : 0;
    layer.mixer_norms.after = layer.feed_forward_norms.after = true;
    layer.dense->activation = Activation::gelu_tanh;
  }
  return slides;
}

Result<void> configure_3(const Keys& keys, ModelConfig& config) {
  config.norm_adds_one = !keys.is_gguf();  // llama.cpp's converter has added it
  constexpr std::int64_t usual_window = 4096, layers_of_27b = 62;
  FOVEA_CHECK(configure_both(keys, config, usual_window));
  // GGUF does not say what is divided by; it is the head's size in all models but one.
  double divisor = 0;
  if (!keys.is_gguf()) {
    FOVEA_TRY(divisor, keys.number_or({"", "query_pre_attn_scalar"}, 256, 1e-6, 1e9));
  } else if (config.layer_count() == layers_of_27b) {
    divisor =
        static_cast<double>(config.hidden) / static_cast<double>(config.layers.front().attention()->heads);
  }
  each_attention(config, [&](AttentionConfig& a) { a.scale = divisor > 0 ? 1 / std::sqrt(divisor) : 0; });
  return {};
}

// Heads' sizes and numbers of the layers that see everything; those of the others are read by all families.
Result<void> read_wide_layers(const Keys& keys, const std::vector<bool>& slides, ModelConfig& config) {
  constexpr Key narrow_key{"attention.key_length_swa", ""}, wide_key{"", "global_head_dim"};
  constexpr Key wide_kv_key{"", "num_global_key_value_heads"};
  constexpr std::int64_t usual_wide = 512;
  const std::int64_t layers = config.layer_count(), heads = config.layers.front().attention()->heads;
  FOVEA_TRY(const bool joined, keys.boolean_or({"", "attention_k_eq_v"}, false));
  FOVEA_TRY(const std::int64_t wide, keys.integer_or(wide_key, usual_wide, 2, kernels::max_head_dim));
  FOVEA_TRY(const std::int64_t wide_kv, keys.integer_or(wide_kv_key, 0, 0, heads));
  const std::int64_t read = config.layers.front().attention()->head_dim;
  FOVEA_TRY(const std::int64_t narrow, keys.integer_or(narrow_key, read, 2, kernels::max_head_dim));
  FOVEA_TRY(const std::vector<std::int64_t> kv_heads, keys.integers(kv_heads_key, layers, 1, heads));
  const std::optional<Keys> own = keys.object("per_layer_config");
  for (std::size_t index = 0; index < slides.size(); ++index) {
    AttentionConfig& attention = *config.layers[index].attention();
    if (!kv_heads.empty()) attention.kv_heads = kv_heads[index];
    if (slides[index]) {
      attention.head_dim = narrow;
    } else if (!keys.is_gguf()) {
      attention.head_dim = wide;
      attention.values_are_keys = joined;
      if (joined && wide_kv > 0) attention.kv_heads = wide_kv;
    }
    if (const auto layer = own ? own->object(std::to_string(index)) : std::nullopt) {
      FOVEA_TRY(attention.head_dim,
                layer->integer_or({"", "head_dim"}, attention.head_dim, 2, kernels::max_head_dim));
      FOVEA_TRY(attention.kv_heads,
                layer->integer_or({"", "num_key_value_heads"}, attention.kv_heads, 1, heads));
    }
    if (heads % attention.kv_heads != 0)
      return keys.wrong(errors::config_no_multiple(keys.name(head_count_key), heads, attention.kv_heads,
                                                   keys.name(kv_heads_key)));
    if (attention.head_dim % 2 != 0)
      return keys.wrong(errors::odd_heads(keys.name(wide_key), attention.head_dim));
    attention.v_norm = true;
    attention.scale = 1;
  }
  return {};
}

// The last layers read the keys and values of the last one before them that sees as much.
Result<void> share_keys_and_values(const Keys& keys, const std::vector<bool>& slides, ModelConfig& config) {
  FOVEA_TRY(const std::int64_t shared, keys.integer_or(shared_kv_key, 0, 0, config.layer_count() - 1));
  const std::int64_t first = config.layer_count() - shared;
  for (std::int64_t layer = first; layer < config.layer_count(); ++layer) {
    AttentionConfig& attention = *config.layers[static_cast<std::size_t>(layer)].attention();
    const bool slides_too = slides[static_cast<std::size_t>(layer)];
    std::int64_t from = first - 1;
    while (from >= 0 && slides[static_cast<std::size_t>(from)] != slides_too) --from;
    if (from < 0) return keys.wrong(errors::nothing_to_share(keys.name(shared_kv_key), shared, layer));
    attention.kv_from = from;
    attention.values_are_keys = false;
  }
  FOVEA_TRY(const bool wide, keys.boolean_or({"", "use_double_wide_mlp"}, false));
  for (std::int64_t layer = first; wide && layer < config.layer_count(); ++layer)
    config.layers[static_cast<std::size_t>(layer)].dense->width *= 2;
  return {};
}

Result<void> put_experts_beside(const Keys& keys, ModelConfig& config) {
  constexpr Key enabled_key{"", "enable_moe_block"};
  FOVEA_TRY(const bool enabled, keys.boolean_or(enabled_key, false));
  if (keys.is_gguf() ? !keys.has(experts_key) : !enabled) return {};
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, true));
  FOVEA_TRY(experts.width, keys.integer(expert_width_key, 1, max_width));
  experts.activation = Activation::gelu_tanh;
  experts.router.own_norm = experts.router.expert_scales = true;
  experts.norms = {.before = true, .after = true};
  for (LayerConfig& layer : config.layers) {
    layer.experts = experts;
    layer.dense->norms.after = true;
  }
  return {};
}

Result<void> configure_4(const Keys& keys, ModelConfig& config) {
  constexpr std::int64_t usual_window = 512, usual_input = 256;
  FOVEA_TRY(std::vector<bool> slides, configure_both(keys, config, usual_window));
  if (!keys.is_gguf() && slides.back()) {  // as transformers has it
    slides.back() = false;
    config.layers.back().attention()->window = config.layers.back().attention()->rotary = 0;
  }
  FOVEA_CHECK(read_wide_layers(keys, slides, config));
  FOVEA_TRY(const std::vector<std::int64_t> widths,
            keys.integers({"feed_forward_length", ""}, config.layer_count(), 1, max_width));
  for (std::size_t layer = 0; layer < widths.size(); ++layer)
    config.layers[layer].dense->width = widths[layer];
  FOVEA_CHECK(share_keys_and_values(keys, slides, config));
  FOVEA_CHECK(put_experts_beside(keys, config));
  std::int64_t input = keys.is_gguf() || keys.mentions(per_layer_key.json) ? 0 : usual_input;
  FOVEA_TRY(input, keys.integer_or(per_layer_key, input, 0, max_width));
  for (LayerConfig& layer : config.layers) {
    layer.per_layer_input = input;
    layer.output_scale = true;
  }
  return {};
}

constexpr Family gemma(std::string_view name, std::string_view text_name, std::int64_t vocabulary,
                       bool sizes_by_layer, Result<void> (*configure)(const Keys&, ModelConfig&)) {
  return {.name = name,
          .gguf = {name},
          .hugging_face = {name, text_name},
          .gguf_style = kernels::RotaryStyle::half_split,
          .folder_names = &gemma_names,
          .gguf_names = &gguf_gemma_names,
          .rotary_by_kind = true,
          .usual_theta = 1e6,
          .gguf_sliding_theta = 1e4,
          .usual = {.context = 131072,
                    .heads = 8,
                    .kv_heads = 4,
                    .head_dim = 256,
                    .vocabulary = vocabulary,
                    .tied = true},
          .activation = "gelu_pytorch_tanh",
          .caps_logits = true,
          .sizes_by_layer = sizes_by_layer,
          .configure = configure};
}

}  // namespace

constinit const Family gemma3 = gemma("gemma3", "gemma3_text", 262208, false, configure_3);
constinit const Family gemma4 = gemma("gemma4", "gemma4_text", 262144, true, configure_4);

}  // namespace fovea::models
