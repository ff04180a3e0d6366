// Qwen3-Next, and Qwen3.5 and 3.6 with and without experts: gated delta in most layers, gated attention in
// the others, norms that multiply by 1 + weight.
#include <nlohmann/json.hpp>

#include "engine/models/families.h"

namespace fovea::models {
namespace {

constexpr Key key_heads_key{"ssm.group_count", "linear_num_key_heads"};
constexpr Key value_heads_key{"ssm.time_step_rank", "linear_num_value_heads"};
constexpr Key inner_key{"ssm.inner_size", ""};
constexpr std::int64_t max_delta_heads = 4096, max_head = 1 << 16, max_positions = 1 << 16;

// What transformers takes where config.json does not say; GGUF files say all of it.
Result<GatedDeltaConfig> read_delta(const Keys& keys) {
  constexpr Key key_dim{"ssm.state_size", "linear_key_head_dim"}, value_dim{"", "linear_value_head_dim"};
  constexpr Key convolution{"ssm.conv_kernel", "linear_conv_kernel_dim"};
  const auto read = [&](const Key& key, std::int64_t otherwise, std::int64_t most) {
    return keys.is_gguf() ? keys.integer(key, 1, most) : keys.integer_or(key, otherwise, 1, most);
  };
  GatedDeltaConfig config;
  FOVEA_TRY(config.key_heads, read(key_heads_key, 16, max_delta_heads));
  FOVEA_TRY(config.value_heads, read(value_heads_key, 32, max_delta_heads));
  FOVEA_TRY(config.key_dim, read(key_dim, 128, max_head));
  FOVEA_TRY(config.convolution, read(convolution, 4, max_positions));
  if (config.value_heads % config.key_heads != 0)
    return keys.wrong(errors::config_no_multiple(keys.name(value_heads_key), config.value_heads,
                                                 config.key_heads, keys.name(key_heads_key)));
  if (!keys.is_gguf()) {
    FOVEA_TRY(config.value_dim, keys.integer_or(value_dim, 128, 1, max_head));
    return config;
  }
  FOVEA_TRY(const std::int64_t inner, keys.integer(inner_key, 1, max_delta_heads * max_head));
  if (inner % config.value_heads != 0)
    return keys.wrong(errors::config_no_multiple(keys.name(inner_key), inner, config.value_heads,
                                                 keys.name(value_heads_key)));
  config.value_dim = inner / config.value_heads;
  return config;
}

// Each n-th layer is attention's, unless the file lists the kinds.
Result<std::vector<bool>> read_kinds(const Keys& keys, std::int64_t layers) {
  constexpr Key interval_key{"full_attention_interval", "full_attention_interval"};
  constexpr Key recurrent_key{"attention.recurrent_layers", ""};
  FOVEA_TRY(const std::int64_t interval, keys.integer_or(interval_key, 4, 1, INT32_MAX));
  std::vector<bool> recurrent;
  for (std::int64_t layer = 0; layer < layers; ++layer) recurrent.push_back((layer + 1) % interval != 0);
  // Behind those of the model GGUF lists its layers for further tokens.
  if (const std::vector<bool>* listed = keys.booleans(recurrent_key)) {
    if (std::ssize(*listed) < layers)
      return keys.wrong(errors::config_list_length(keys.name(recurrent_key), listed->size(), layers));
    recurrent.assign(listed->begin(), listed->begin() + layers);
  }
  const nlohmann::json* types = keys.list("layer_types");
  if (types == nullptr) return recurrent;
  if (std::ssize(*types) != layers)
    return keys.wrong(errors::config_list_length(keys.name(layer_types_key), types->size(), layers));
  for (std::size_t layer = 0; layer < recurrent.size(); ++layer) {
    recurrent[layer] = (*types)[layer] == "linear_attention";
    if (!recurrent[layer] && (*types)[layer] != "full_attention")
      return keys.wrong(
          errors::layer_type_unsupported(keys.name(layer_types_key), (*types)[layer].dump(), layer));
  }
  return recurrent;
}

Result<void> configure_mixers(const Keys& keys, ModelConfig& config, GatedDeltaConfig delta) {
  config.norm_adds_one = !keys.is_gguf();  // llama.cpp's converter has added it
  each_attention(config, [](AttentionConfig& a) { a.qk_norm = a.gate = true; });
  if (!keys.is_gguf()) FOVEA_CHECK(read_attention_bias(keys, config));
  FOVEA_TRY(const std::vector<bool> recurrent, read_kinds(keys, config.layer_count()));
  for (std::size_t layer = 0; layer < recurrent.size(); ++layer)
    if (recurrent[layer]) config.layers[layer].mixer = delta;
  return {};
}

Result<void> configure_experts(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, true));
  FOVEA_TRY(experts.width, keys.integer(expert_width_key, 1, max_width));
  experts.shared = {.count = 1, .gate = true};
  FOVEA_TRY(experts.shared.width, keys.integer(shared_width_key, 1, max_width));
  FOVEA_TRY(const std::vector<bool> sparse, read_sparse_layers(keys, config.layer_count()));
  put_experts(experts, sparse, config);
  return {};
}

Result<void> configure_next(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(GatedDeltaConfig delta, read_delta(keys));
  delta.joined_gates = true;
  FOVEA_CHECK(configure_mixers(keys, config, delta));
  return configure_experts(keys, config);
}

// In their GGUF files the value heads take turns with the key heads.
Result<void> configure_3_5(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(GatedDeltaConfig delta, read_delta(keys));
  delta.tiled = keys.is_gguf();
  return configure_mixers(keys, config, delta);
}

Result<void> configure_3_5_moe(const Keys& keys, ModelConfig& config) {
  FOVEA_CHECK(configure_3_5(keys, config));
  return configure_experts(keys, config);
}

constexpr double quarter = 0.25;

}  // namespace

const Family qwen3_next{
    .name = "qwen3_next",
    .gguf = {"qwen3next"},
    .hugging_face = {"qwen3_next"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_next_names,
    .gguf_names = &gguf_qwen_next_names,
    .rotary_share = quarter,
    .configure = configure_next,
};

const Family qwen3_5{
    .name = "qwen3_5",
    .gguf = {"qwen35"},
    .hugging_face = {"qwen3_5", "qwen3_5_text"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_next_names,
    .gguf_names = &gguf_qwen_next_names,
    .rotary_share = quarter,
    .configure = configure_3_5,
};

const Family qwen3_5_moe{
    .name = "qwen3_5_moe",
    .gguf = {"qwen35moe"},
    .hugging_face = {"qwen3_5_moe", "qwen3_5_moe_text"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_next_names,
    .gguf_names = &gguf_qwen_next_names,
    .rotary_share = quarter,
    .configure = configure_3_5_moe,
};

}  // namespace fovea::models
