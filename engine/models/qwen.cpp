// Qwen2 and Qwen3, dense and with experts.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

// Qwen2 and Qwen2.5, dense: biases on q, k and v, none on the output.
Result<void> configure_qwen2(const Keys& keys, ModelConfig& config) {
  if (!keys.is_gguf()) each_attention(config, [](AttentionConfig& a) { a.qkv_bias = true; });
  return read_windows(keys, config, WindowDefault::from_max_window_layers);
}

// Qwen1.5-MoE and Qwen2-MoE: routed experts beside a shared one that a sigmoid gates.
Result<void> configure_qwen2_moe(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, false));
  FOVEA_TRY(const std::vector<bool> sparse, read_sparse_layers(keys, config.layer_count()));
  const std::int64_t dense_width = config.layers.front().dense->width;
  experts.shared = {.count = 1, .gate = true};
  // GGUF files may leave out the two widths where they follow from the dense one.
  if (keys.is_gguf() && !keys.has(expert_width_key)) {
    experts.width = dense_width / experts.used;
  } else {
    FOVEA_TRY(experts.width, keys.integer(expert_width_key, 1, max_width));
  }
  if (keys.is_gguf()) {
    FOVEA_TRY(experts.shared.width, keys.integer_or(shared_width_key, dense_width, 1, max_width));
  } else {
    FOVEA_TRY(experts.shared.width, keys.integer(shared_width_key, 1, max_width));
    FOVEA_TRY(const bool bias, keys.boolean_or({"", "qkv_bias"}, true));
    each_attention(config, [bias](AttentionConfig& a) { a.qkv_bias = bias; });
  }
  put_experts(experts, sparse, config);
  return read_windows(keys, config, WindowDefault::must_be_listed);
}

// Qwen3, dense: each head's q and k are normalised before they rotate (QK-norm).
Result<void> configure_qwen3(const Keys& keys, ModelConfig& config) {
  each_attention(config, [](AttentionConfig& a) { a.qk_norm = true; });
  if (!keys.is_gguf()) FOVEA_CHECK(read_attention_bias(keys, config));
  return read_windows(keys, config, WindowDefault::from_max_window_layers);
}

// Qwen3-MoE: QK-norm, many small experts, no shared one. GGUF files mean normalised weights unless they say
// otherwise.
Result<void> configure_qwen3_moe(const Keys& keys, ModelConfig& config) {
  each_attention(config, [](AttentionConfig& a) { a.qk_norm = true; });
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, keys.is_gguf()));
  FOVEA_TRY(const std::vector<bool> sparse, read_sparse_layers(keys, config.layer_count()));
  if (keys.is_gguf() && !keys.has(expert_width_key)) {
    experts.width = config.layers.front().dense->width / experts.used;
  } else {
    FOVEA_TRY(experts.width, keys.integer(expert_width_key, 1, max_width));
  }
  put_experts(experts, sparse, config);
  if (!keys.is_gguf()) FOVEA_CHECK(read_attention_bias(keys, config));
  return read_windows(keys, config, WindowDefault::all_layers);
}

}  // namespace

const Family qwen2{
    .name = "qwen2",
    .gguf = {"qwen2"},
    .hugging_face = {"qwen2"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &dense_names,
    .configure = configure_qwen2,
};

const Family qwen2_moe{
    .name = "qwen2_moe",
    .gguf = {"qwen2moe"},
    .hugging_face = {"qwen2_moe"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_moe_names,
    .configure = configure_qwen2_moe,
};

const Family qwen3{
    .name = "qwen3",
    .gguf = {"qwen3"},
    .hugging_face = {"qwen3"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &dense_names,
    .usual = {.head_dim = 128},
    .configure = configure_qwen3,
};

const Family qwen3_moe{
    .name = "qwen3_moe",
    .gguf = {"qwen3moe"},
    .hugging_face = {"qwen3_moe"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_moe_names,
    .configure = configure_qwen3_moe,
};

}  // namespace fovea::models
