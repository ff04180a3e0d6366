// Mellum 2: Qwen3-MoE's layers, windows on those that the file lists, and a rotary table for each of the
// two kinds of layer.
#include <nlohmann/json.hpp>

#include "engine/models/families.h"

namespace fovea::models {
namespace {

// mlp_layer_types: which layers have experts; without the list all.
Result<std::vector<bool>> read_feed_forward_types(const Keys& keys, std::int64_t layers) {
  constexpr Key types_key{"", "mlp_layer_types"};
  std::vector<bool> sparse(static_cast<std::size_t>(layers), true);
  const nlohmann::json* types = keys.list("mlp_layer_types");
  if (types == nullptr) return sparse;
  if (types->size() != sparse.size())
    return keys.wrong(errors::config_list_length(keys.name(types_key), types->size(), layers));
  for (std::size_t layer = 0; layer < sparse.size(); ++layer) {
    sparse[layer] = (*types)[layer] == "sparse";
    if (!sparse[layer] && (*types)[layer] != "dense")
      return keys.wrong(errors::layer_type_unsupported(keys.name(types_key), (*types)[layer].dump(), layer));
  }
  return sparse;
}

Result<void> configure(const Keys& keys, ModelConfig& config) {
  each_attention(config, [](AttentionConfig& a) { a.qk_norm = true; });
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, true));
  FOVEA_TRY(experts.width, keys.integer(expert_width_key, 1, max_width));
  FOVEA_TRY(const std::vector<bool> sparse, read_feed_forward_types(keys, config.layer_count()));
  put_experts(experts, sparse, config);
  if (!keys.is_gguf()) FOVEA_CHECK(read_attention_bias(keys, config));
  // Without a list every layer sees everything.
  FOVEA_TRY(const auto slides, read_layer_types(keys, config.layer_count()));
  if (!slides) return {};
  for (std::size_t layer = 0; layer < slides->size(); ++layer)
    config.layers[layer].attention()->rotary = (*slides)[layer] ? 1 : 0;
  return read_windows(keys, config, WindowDefault::all_layers);
}

}  // namespace

const Family mellum{
    .name = "mellum",
    .gguf = {"mellum"},
    .hugging_face = {"mellum"},
    .gguf_style = kernels::RotaryStyle::half_split,
    .folder_names = &qwen_moe_names,
    .rotary_by_kind = true,
    .usual_theta = 5e5,
    .configure = configure,
};

}  // namespace fovea::models
