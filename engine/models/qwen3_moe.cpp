// Qwen3-MoE: QK-norm, many small experts, no shared one. GGUF files mean normalised weights unless they say
// otherwise.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
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

const Family qwen3_moe{
    .name = "qwen3_moe",
    .gguf = {"qwen3moe"},
    .hugging_face = {"qwen3_moe"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_moe_names,
    .configure = configure,
};

}  // namespace fovea::models
