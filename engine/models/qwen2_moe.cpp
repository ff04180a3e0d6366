// Qwen1.5-MoE and Qwen2-MoE: routed experts beside a shared one that a sigmoid gates.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

constexpr Key shared_width_key{"expert_shared_feed_forward_length", "shared_expert_intermediate_size"};

Result<void> configure(const Keys& keys, ModelConfig& config) {
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
