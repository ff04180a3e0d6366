// Qwen3-MoE: QK-norm, many small experts, no shared one. GGUF files mean normalised weights unless they say
// otherwise.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  config.qk_norm = true;
  FOVEA_CHECK(read_experts(keys, config, keys.is_gguf()));
  FOVEA_CHECK(read_sparse_layers(keys, config));
  if (keys.is_gguf() && !keys.has(expert_width_key)) {
    config.expert_width = config.feed_forward / config.experts_used;
  } else {
    FOVEA_TRY(config.expert_width, keys.integer(expert_width_key, 1, max_width));
  }
  if (!keys.is_gguf()) {
    FOVEA_TRY(config.qkv_bias, keys.boolean_or(attention_bias_key, false));
    config.output_bias = config.qkv_bias;
  }
  return read_windows(keys, config, WindowDefault::all_layers);
}

}  // namespace

const Family qwen3_moe{
    .name = "qwen3_moe",
    .gguf = {"qwen3moe"},
    .hugging_face = {"qwen3_moe"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_moe_names,
    .configure = configure,
};

}  // namespace fovea::models
