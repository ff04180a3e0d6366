// gpt-oss: windows on every other layer, attention sinks, few large experts with biases and a clamped SwiGLU.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

// Options of config.json that would change the computation; the published models all have these values.
Result<void> check_activation(const Keys& keys) {
  constexpr Key limit{"", "swiglu_limit"}, alpha{"", "swiglu_alpha"};
  for (const auto& [key, expected] :
       {std::pair{limit, 1.0 * kernels::clamped_silu_limit}, std::pair{alpha, 1.702}}) {
    FOVEA_TRY(const double found, keys.number_or(key, expected, -1e30, 1e30));
    if (found != expected)
      return keys.wrong(errors::config_number_unsupported(keys.name(key), found, expected));
  }
  return {};
}

Result<void> configure(const Keys& keys, ModelConfig& config) {
  FOVEA_CHECK(check_activation(keys));
  each_attention(config, [](AttentionConfig& a) { a.sinks = true; });
  if (!keys.is_gguf()) {
    FOVEA_TRY(const bool bias, keys.boolean_or(attention_bias_key, true));
    each_attention(config, [bias](AttentionConfig& a) { a.qkv_bias = a.output_bias = bias; });
  }
  // The softmax goes over the chosen experts alone: the same as weights divided by their sum.
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, true));
  FOVEA_TRY(experts.width, keys.integer_or({"expert_feed_forward_length", ""},
                                           config.layers.front().dense->width, 1, max_width));
  experts.router.normalise = true;
  experts.router.bias = true;
  experts.activation = Activation::clamped_silu;
  experts.bias = true;
  put_experts(experts, config);
  return read_windows(keys, config, WindowDefault::every_other);
}

}  // namespace

const Family gpt_oss{
    .name = "gpt_oss",
    .gguf = {"gpt-oss"},
    .hugging_face = {"gpt_oss"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &gpt_oss_names,
    .gguf_names = &gguf_gpt_oss_names,
    .yarn_truncates = false,
    .configure = configure,
};

}  // namespace fovea::models
