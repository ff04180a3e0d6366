// Llama and what is shaped like it: SmolLM2, Mistral (a window on every layer where the file gives one).
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  if (!keys.is_gguf()) {
    FOVEA_TRY(config.qkv_bias, keys.boolean_or(attention_bias_key, false));
    config.output_bias = config.qkv_bias;
    FOVEA_TRY(const bool mlp_bias, keys.boolean_or({"", "mlp_bias"}, false));
    if (mlp_bias) return keys.unsupported({"", "mlp_bias"}, "is true: biases in the feed-forward layers");
  }
  return read_windows(keys, config, WindowDefault::all_layers);
}

}  // namespace

const Family llama{
    .name = "llama",
    .gguf = {"llama"},
    .hugging_face = {"llama", "mistral"},
    .gguf_style = kernels::RotaryStyle::interleaved,
    .folder_names = &dense_names,
    .configure = configure,
};

}  // namespace fovea::models
