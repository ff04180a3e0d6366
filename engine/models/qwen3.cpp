// Qwen3, dense: each head's q and k are normalised before they rotate (QK-norm).
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  each_attention(config, [](AttentionConfig& a) { a.qk_norm = true; });
  if (!keys.is_gguf()) FOVEA_CHECK(read_attention_bias(keys, config));
  return read_windows(keys, config, WindowDefault::from_max_window_layers);
}

}  // namespace

const Family qwen3{
    .name = "qwen3",
    .gguf = {"qwen3"},
    .hugging_face = {"qwen3"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &dense_names,
    .configure = configure,
};

}  // namespace fovea::models
