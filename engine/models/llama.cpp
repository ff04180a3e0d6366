// Llama and what is shaped like it: SmolLM2, Mistral (a window on every layer where the file gives one).
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  if (!keys.is_gguf()) {
    FOVEA_CHECK(read_attention_bias(keys, config));
    constexpr Key mlp_bias_key{"", "mlp_bias"};
    FOVEA_TRY(const bool mlp_bias, keys.boolean_or(mlp_bias_key, false));
    if (mlp_bias) return keys.wrong(errors::mlp_biases(keys.name(mlp_bias_key)));
  }
  if (!keys.is_gguf()) {
    FOVEA_TRY(const std::string type, keys.string_or({"", "model_type"}, ""));
    if (type == "llama") return {};  // Llama itself has no windows
    if (!keys.mentions("sliding_window")) {
      return keys.wrong(errors::window_missing(keys.name(sliding_window_key)));
    }
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
