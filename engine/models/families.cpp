#include "engine/models/families.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fovea::models {
namespace {

constexpr Key architecture_key{"general.architecture", "model_type"};
constexpr Key experts_used_key{"expert_used_count", "num_experts_per_tok", "top_k_experts"};
constexpr Key use_window_key{"", "use_sliding_window"};

const std::array families{&llama,   &qwen2,      &qwen3,   &qwen2_moe,   &qwen3_moe, &mixtral, &mellum,
                          &gpt_oss, &qwen3_next, &qwen3_5, &qwen3_5_moe, &gemma3,    &gemma4};

std::vector<std::string> supported_names(bool gguf) {
  std::vector<std::string> names;
  for (const Family* family : families) {
    for (const std::string_view name : gguf ? family->gguf : family->hugging_face) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace

Result<const Family*> find_family(const Keys& keys) {
  FOVEA_TRY(const std::string name, keys.whole().string_or(architecture_key, ""));
  if (name.empty()) {
    return keys.wrong(errors::no_architecture(keys.name(architecture_key), supported_names(keys.is_gguf())));
  }
  for (const Family* family : families) {
    const auto& names = keys.is_gguf() ? family->gguf : family->hugging_face;
    if (std::ranges::find(names, std::string_view(name)) == names.end()) continue;
    if (family != &llama || !keys.is_gguf()) return family;
    FOVEA_TRY(const std::int64_t experts, keys.integer_or(experts_key, 0, 0, max_experts));
    return experts > 0 ? &mixtral : &llama;
  }
  return keys.wrong(
      errors::unknown_architecture(keys.name(architecture_key), name, supported_names(keys.is_gguf())));
}

Result<void> read_attention_bias(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(const bool bias, keys.boolean_or(attention_bias_key, false));
  each_attention(config, [bias](AttentionConfig& a) { a.qkv_bias = a.output_bias = bias; });
  return {};
}

Result<ExpertsConfig> read_experts(const Keys& keys, bool normalise_otherwise) {
  ExpertsConfig config;
  FOVEA_TRY(config.experts, keys.integer(experts_key, 1, max_experts));
  FOVEA_TRY(config.used, keys.integer(experts_used_key, 1, max_experts));
  if (config.used > config.experts) {
    return keys.wrong(errors::more_experts_used(keys.name(experts_used_key), config.used, config.experts,
                                                keys.name(experts_key)));
  }
  // Mixtral's folders have no norm_topk_prob: it always normalises.
  FOVEA_TRY(config.router.normalise,
            keys.boolean_or({"expert_weights_norm", "norm_topk_prob"}, normalise_otherwise));
  // A scale of 0 is how GGUF files say that there is none.
  FOVEA_TRY(const double scale, keys.number_or({"expert_weights_scale", ""}, 1, 0, 1e6));
  config.router.scale = scale == 0 ? 1 : scale;

  constexpr Key gating{"expert_gating_func", ""};
  FOVEA_TRY(const std::int64_t function, keys.integer_or(gating, 1, 0, 1 << 16));
  if (function > 1) return keys.wrong(errors::unknown_gating(keys.name(gating), function));
  constexpr Key groups{"expert_group_count", "n_group"};
  FOVEA_TRY(const std::int64_t group_count, keys.integer_or(groups, 0, 0, max_experts));
  if (group_count > 1) return keys.wrong(errors::grouped_routing(keys.name(groups), group_count));
  return config;
}

void put_experts(const ExpertsConfig& experts, ModelConfig& config) {
  put_experts(experts, std::vector(config.layers.size(), true), config);
}

void put_experts(const ExpertsConfig& experts, const std::vector<bool>& layers, ModelConfig& config) {
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    if (!layers[layer]) continue;
    config.layers[layer].dense.reset();
    config.layers[layer].experts = experts;
  }
}

Result<std::vector<bool>> read_sparse_layers(const Keys& keys, std::int64_t layers) {
  constexpr Key dense_key{"", "mlp_only_layers"};
  FOVEA_TRY(const std::int64_t step, keys.integer_or({"", "decoder_sparse_step"}, 1, 1, max_experts));
  std::vector<bool> sparse(static_cast<std::size_t>(layers));
  for (std::size_t layer = 0; layer < sparse.size(); ++layer)
    sparse[layer] = (static_cast<std::int64_t>(layer) + 1) % step == 0;
  const nlohmann::json* dense = keys.list("mlp_only_layers");
  if (dense == nullptr) {
    if (keys.has(dense_key)) return keys.wrong(errors::no_layer_numbers(keys.name(dense_key)));
    return sparse;
  }
  for (const nlohmann::json& entry : *dense) {
    if (!entry.is_number_integer() || entry.get<std::int64_t>() < 0 || entry.get<std::int64_t>() >= layers) {
      return keys.wrong(errors::no_such_layer(keys.name(dense_key), entry.dump(), layers - 1));
    }
    sparse[entry.get<std::size_t>()] = false;
  }
  return sparse;
}

namespace {

// GGUF's pattern: a truth value for each layer, or n: each n-th sees everything.
Result<std::optional<std::vector<bool>>> read_pattern(const Keys& keys, std::int64_t layers) {
  constexpr Key pattern{"attention.sliding_window_pattern", ""};
  if (!keys.has(pattern)) return std::nullopt;
  if (const std::vector<bool>* listed = keys.booleans(pattern)) {
    if (std::ssize(*listed) != layers)
      return keys.wrong(errors::config_list_length(keys.name(pattern), listed->size(), layers));
    return *listed;
  }
  FOVEA_TRY(const std::int64_t step, keys.integer(pattern, 1, INT32_MAX));
  std::vector<bool> slides;
  for (std::int64_t layer = 0; layer < layers; ++layer) slides.push_back((layer + 1) % step != 0);
  return slides;
}

}  // namespace

Result<std::optional<std::vector<bool>>> read_layer_types(const Keys& keys, std::int64_t layers) {
  if (keys.is_gguf()) return read_pattern(keys, layers);
  const nlohmann::json* types = keys.list("layer_types");
  if (types == nullptr) return std::nullopt;
  if (static_cast<std::int64_t>(types->size()) != layers)
    return keys.wrong(errors::config_list_length(keys.name(layer_types_key), types->size(), layers));
  std::vector<bool> slides;
  for (const nlohmann::json& type : *types) {
    slides.push_back(type == "sliding_attention");
    if (!slides.back() && type != "full_attention")
      return keys.wrong(
          errors::layer_type_unsupported(keys.name(layer_types_key), type.dump(), slides.size() - 1));
  }
  return slides;
}

Result<void> read_windows(const Keys& keys, ModelConfig& config, WindowDefault otherwise) {
  FOVEA_TRY(const bool used, keys.boolean_or(use_window_key, otherwise == WindowDefault::all_layers ||
                                                                 otherwise == WindowDefault::every_other));
  if (!used && !keys.is_gguf()) return {};
  // transformers' own default is 4096, which no file means by leaving the key out.
  if (keys.has(use_window_key) && !keys.mentions("sliding_window")) {
    return keys.wrong(errors::window_missing(keys.name(sliding_window_key)));
  }
  FOVEA_TRY(const std::int64_t window, keys.integer_or(sliding_window_key, 0, 0, INT32_MAX));
  if (window == 0 || window >= config.context) return {};

  const auto put = [&](const auto& slides) {
    for (std::int64_t layer = 0; layer < config.layer_count(); ++layer)
      if (slides(layer)) config.layers[static_cast<std::size_t>(layer)].attention()->window = window;
  };
  FOVEA_TRY(const auto listed, read_layer_types(keys, config.layer_count()));
  if (listed) {
    put([&](std::int64_t layer) { return (*listed)[static_cast<std::size_t>(layer)]; });
    return {};
  }
  if (!keys.is_gguf() && otherwise == WindowDefault::must_be_listed) {
    return keys.wrong(errors::windows_not_listed(keys.name(use_window_key)));
  }
  if (otherwise == WindowDefault::every_other) {
    put([](std::int64_t layer) { return layer % 2 == 0; });
    return {};
  }
  std::int64_t full = 0;
  if (!keys.is_gguf() && otherwise == WindowDefault::from_max_window_layers) {
    FOVEA_TRY(full, keys.integer_or({"", "max_window_layers"}, 28, 0, INT32_MAX));
  }
  put([full](std::int64_t layer) { return layer >= full; });
  return {};
}

}  // namespace fovea::models
