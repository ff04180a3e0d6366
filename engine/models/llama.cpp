// Llama, and Mixtral, which has its attention.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

// Llama and what is shaped like it: SmolLM2, Mistral (a window on every layer where the file gives one).
Result<void> configure_llama(const Keys& keys, ModelConfig& config) {
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

// Mixtral: Llama's attention, few large experts, the chosen weights normalised. GGUF calls it "llama" with
// experts.
Result<void> configure_mixtral(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, true));
  experts.width = config.layers.front().dense->width;
  put_experts(experts, config);
  return read_windows(keys, config, WindowDefault::all_layers);
}

}  // namespace

const Family llama{
    .name = "llama",
    .gguf = {"llama"},
    .hugging_face = {"llama", "mistral"},
    .gguf_style = kernels::RotaryStyle::interleaved,
    .folder_names = &dense_names,
    .configure = configure_llama,
};

const Family mixtral{
    .name = "mixtral",
    .gguf = {},
    .hugging_face = {"mixtral"},
    .gguf_style = kernels::RotaryStyle::interleaved,
    .folder_names = &mixtral_names,
    .usual_theta = 1e6,
    .configure = configure_mixtral,
};

}  // namespace fovea::models
