// Qwen1.5-MoE and Qwen2-MoE: routed experts beside a shared one that a sigmoid gates.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

constexpr Key shared_width_key{"expert_shared_feed_forward_length", "shared_expert_intermediate_size"};

Result<void> configure(const Keys& keys, ModelConfig& config) {
  FOVEA_CHECK(read_experts(keys, config, false));
  FOVEA_CHECK(read_sparse_layers(keys, config));
  // GGUF files may leave out the two widths where they follow from the dense one.
  if (keys.is_gguf() && !keys.has(expert_width_key)) {
    config.expert_width = config.feed_forward / config.experts_used;
  } else {
    FOVEA_TRY(config.expert_width, keys.integer(expert_width_key, 1, max_width));
  }
  if (keys.is_gguf()) {
    FOVEA_TRY(config.shared_width, keys.integer_or(shared_width_key, config.feed_forward, 1, max_width));
  } else {
    FOVEA_TRY(config.shared_width, keys.integer(shared_width_key, 1, max_width));
    FOVEA_TRY(config.qkv_bias, keys.boolean_or({"", "qkv_bias"}, true));
  }
  return read_windows(keys, config, WindowDefault::must_be_listed);
}

}  // namespace

const Family qwen2_moe{
    .name = "qwen2_moe",
    .gguf = {"qwen2moe"},
    .hugging_face = {"qwen2_moe"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_moe_names,
    .configure = configure,
};

}  // namespace fovea::models
