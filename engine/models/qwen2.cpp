// Qwen2 and Qwen2.5, dense: biases on q, k and v, none on the output.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  if (!keys.is_gguf()) each_attention(config, [](AttentionConfig& a) { a.qkv_bias = true; });
  return read_windows(keys, config, WindowDefault::from_max_window_layers);
}

}  // namespace

const Family qwen2{
    .name = "qwen2",
    .gguf = {"qwen2"},
    .hugging_face = {"qwen2"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &dense_names,
    .configure = configure,
};

}  // namespace fovea::models
