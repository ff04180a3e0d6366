#include "engine/models/rope.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "engine/checkpoint/checkpoint.h"

namespace fovea::models {
namespace {

constexpr Key theta_key{"rope.freq_base", "rope_theta"};
constexpr Key type_key{"rope.scaling.type", "rope_type", "type"};
constexpr Key factor_key{"rope.scaling.factor", "factor"};
constexpr Key old_factor_key{"rope.scale_linear", ""};
constexpr Key original_context_key{"rope.scaling.original_context_length",
                                   "original_max_position_embeddings"};
constexpr Key attention_factor_key{"rope.scaling.attn_factor", "attention_factor"};
constexpr double max_factor = 1e6;

// YaRN's magnitude for a context `factor` times as long (Peng et al. 2023, eq. 22).
double yarn_magnitude(double factor, double scale) {
  return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

Result<RopeScaling> scaling_type(const Keys& keys, const std::string& name) {
  if (name == "none" || name == "default") return RopeScaling::none;
  if (name == "linear") return RopeScaling::linear;
  if (name == "yarn") return RopeScaling::yarn;
  if (!keys.is_gguf() && name == "dynamic") return RopeScaling::dynamic;
  if (!keys.is_gguf() && name == "llama3") return RopeScaling::llama3;
  return keys.wrong(errors::unknown_rope(keys.name(type_key), name));
}

Result<void> read_yarn(const Keys& keys, const Family& family, RopeConfig& rope) {
  FOVEA_TRY(rope.beta_fast, keys.number_or({"rope.scaling.yarn_beta_fast", "beta_fast"}, 32, 0, 1e6));
  FOVEA_TRY(rope.beta_slow, keys.number_or({"rope.scaling.yarn_beta_slow", "beta_slow"}, 1, 0, 1e6));
  if (rope.beta_fast == 0) rope.beta_fast = 32;
  if (rope.beta_slow == 0) rope.beta_slow = 1;
  FOVEA_TRY(rope.truncate, keys.boolean_or({"", "truncate"}, true));
  if (keys.is_gguf()) {
    rope.truncate = family.yarn_truncates;
    // llama.cpp: the usual magnitude, times attn_factor; with a log multiplier, over the magnitude that it
    // gives.
    FOVEA_TRY(const double times, keys.number_or(attention_factor_key, 1, 0, max_factor));
    FOVEA_TRY(const double log_scale,
              keys.number_or({"rope.scaling.yarn_log_multiplier", ""}, 0, 0, max_factor));
    rope.attention_factor = yarn_magnitude(rope.factor, 1) * (times == 0 ? 1 : times);
    if (log_scale != 0) rope.attention_factor /= yarn_magnitude(rope.factor, log_scale);
    // What transformers calls attention_factor; llama.cpp's converter writes it, llama.cpp does not read it.
    FOVEA_TRY(rope.attention_factor,
              keys.number_or({"rope.scaling.yarn_attn_factor", ""}, rope.attention_factor, 0, max_factor));
    return {};
  }
  FOVEA_TRY(rope.attention_factor, keys.number_or(attention_factor_key, 0, 0, max_factor));
  FOVEA_TRY(const double scale, keys.number_or({"", "mscale"}, 0, 0, max_factor));
  FOVEA_TRY(const double scale_all, keys.number_or({"", "mscale_all_dim"}, 0, 0, max_factor));
  if (keys.has(attention_factor_key)) return {};
  rope.attention_factor = scale != 0 && scale_all != 0
                              ? yarn_magnitude(rope.factor, scale) / yarn_magnitude(rope.factor, scale_all)
                              : yarn_magnitude(rope.factor, 1);
  return {};
}

// `keys` is the object with the scaling's values; `outer` the whole configuration.
Result<void> read_scaling(const Keys& keys, const Keys& outer, const Family& family, std::int64_t context,
                          RopeConfig& rope) {
  FOVEA_TRY(rope.original_context, outer.integer_or(original_context_key, 0, 1, INT32_MAX));
  if (rope.original_context == 0) {
    FOVEA_TRY(rope.original_context, keys.integer_or(original_context_key, context, 1, INT32_MAX));
  }
  if (rope.scaling == RopeScaling::none) return {};
  if (rope.scaling == RopeScaling::yarn && !keys.has(factor_key)) {
    rope.factor = static_cast<double>(context) / static_cast<double>(rope.original_context);
  } else {
    FOVEA_TRY(rope.factor, keys.number(factor_key, 1e-3, max_factor));
  }
  if (rope.scaling == RopeScaling::yarn) FOVEA_CHECK(read_yarn(keys, family, rope));
  if (rope.scaling == RopeScaling::llama3) {
    constexpr Key low_key{"", "low_freq_factor"};
    constexpr Key high_key{"", "high_freq_factor"};
    FOVEA_TRY(rope.low_frequency_factor, keys.number(low_key, 1e-6, max_factor));
    FOVEA_TRY(rope.high_frequency_factor, keys.number(high_key, 1e-6, max_factor));
    if (rope.high_frequency_factor <= rope.low_frequency_factor) {
      return keys.wrong(errors::rope_frequencies(keys.name(high_key), rope.high_frequency_factor,
                                                 rope.low_frequency_factor));
    }
  }
  return {};
}

// Gemma 4's "proportional": the pairs of the whole head, of which the first turn and the others stay, as GGUF
// files say it by factors.
constexpr std::string_view proportional = "proportional";
constexpr float stays = 1e30F;
Result<void> read_proportional(const Keys& keys, RopeConfig& rope) {
  FOVEA_TRY(const double share, keys.number_or({"", "partial_rotary_factor"}, 1, 0, 1));
  FOVEA_TRY(const double factor, keys.number_or(factor_key, 1, 1e-3, max_factor));
  const auto turning = static_cast<std::size_t>(share * static_cast<double>(rope.rotary) / 2);
  rope.frequency_factors.assign(static_cast<std::size_t>(rope.rotary / 2), stays);
  std::fill_n(rope.frequency_factors.begin(), turning, static_cast<float>(factor));
  return {};
}

// How much of each head turns.
Result<void> read_share(const Keys& keys, const Family& family, std::int64_t head_dim, RopeConfig& rope) {
  constexpr Key partial{"", "partial_rotary_factor"};
  if (!keys.has(partial)) return {};
  FOVEA_TRY(const double share, keys.number(partial, 0, 1));
  if (share != 1 && family.rotary_share == 1)
    return keys.wrong(errors::config_number_unsupported(keys.name(partial), share, 1));
  rope.rotary = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
  return {};
}

// One table: `keys` is its object in config.json, `outer` the whole configuration.
Result<void> read_table(const Keys& keys, const Keys& outer, const Family& family, std::int64_t context,
                        std::int64_t head_dim, RopeConfig& rope) {
  FOVEA_TRY(rope.theta, keys.number_or(theta_key, rope.theta, 1.0000001, 1e15));
  FOVEA_TRY(const std::string type, keys.string_or(type_key, "default"));
  if (type == proportional && family.rotary_by_kind) return read_proportional(keys, rope);
  FOVEA_CHECK(read_share(keys, family, head_dim, rope));
  // Text has one position, of which every section is a part.
  if (keys.list("mrope_section") && family.rotary_share == 1)
    return keys.wrong(errors::multimodal_rotation(keys.name({"", "mrope_section"})));
  FOVEA_TRY(rope.scaling, scaling_type(keys, type));
  return read_scaling(keys, outer, family, context, rope);
}

Result<void> read_folder(const Keys& keys, const Family& family, const ModelConfig& config,
                         std::int64_t head_dim, RopeConfig& rope) {
  FOVEA_TRY(rope.theta, keys.number_or(theta_key, family.usual_theta, 1.0000001, 1e15));
  FOVEA_CHECK(read_share(keys, family, head_dim, rope));
  std::optional<Keys> inner = keys.object("rope_parameters");
  if (!inner) inner = keys.object("rope_scaling");
  if (!inner) return {};
  for (const char* nested : {"full_attention", "sliding_attention"}) {
    if (inner->object(nested)) {
      return keys.wrong(errors::rope_of_its_own(keys.name({"", nested})));
    }
  }
  return read_table(*inner, keys, family, config.context, head_dim, rope);
}

// The size of the heads that turn by a table.
std::int64_t head_of_table(const ModelConfig& config, std::int64_t table, std::int64_t otherwise) {
  for (const LayerConfig& layer : config.layers)
    if (const AttentionConfig* const a = layer.attention(); a && a->rotary == table) return a->head_dim;
  return otherwise;
}

// A table for layers that see everything, and one for those with a window.
Result<void> read_kinds(const Keys& keys, const Family& family, const RopeConfig& usual,
                        ModelConfig& config) {
  constexpr Key parameters_key{"", "rope_parameters"};
  const std::optional<Keys> kinds = keys.object("rope_parameters");
  if (!kinds && keys.has(parameters_key))
    return keys.wrong(errors::rope_by_kind_missing(keys.name(parameters_key)));
  const std::optional<Keys> old = kinds ? std::nullopt : keys.object("rope_scaling");
  config.rotary.clear();
  for (const auto& [kind, theta, theta_name] :
       {std::tuple("full_attention", family.usual_theta, theta_key),
        std::tuple("sliding_attention", family.usual_sliding_theta, Key{"", "rope_local_base_freq"})}) {
    RopeConfig& rope = config.rotary.emplace_back(usual);
    rope.rotary = head_of_table(config, std::ssize(config.rotary) - 1, usual.rotary);
    FOVEA_TRY(rope.theta, keys.number_or(theta_name, theta, 1.0000001, 1e15));
    // Older files scale the layers that see everything.
    const std::optional<Keys> inner = kinds                       ? kinds->object(kind)
                                      : config.rotary.size() == 1 ? old
                                                                  : std::nullopt;
    if (kinds && !inner) return kinds->wrong(errors::rope_of_kind_missing(kinds->name({"", kind})));
    if (inner) FOVEA_CHECK(read_table(*inner, keys, family, config.context, rope.rotary, rope));
  }
  return {};
}

Result<void> read_gguf(const Keys& keys, const checkpoint::Checkpoint& checkpoint, const Family& family,
                       const ModelConfig& config, std::int64_t head_dim, RopeConfig& rope) {
  FOVEA_TRY(rope.theta, keys.number_or(theta_key, 1e4, 1.0000001, 1e15));
  constexpr Key dimensions{"rope.dimension_count", ""};
  FOVEA_TRY(rope.rotary, keys.integer_or(dimensions, rope.rotary, 1, INT32_MAX));
  if (rope.rotary > head_dim || (rope.rotary != head_dim && family.rotary_share == 1)) {
    return keys.wrong(errors::partial_rotation(keys.name(dimensions), rope.rotary, head_dim));
  }
  const bool has_factor = keys.has(factor_key) || keys.has(old_factor_key);
  FOVEA_TRY(const std::string type, keys.string_or(type_key, has_factor ? "linear" : "none"));
  FOVEA_TRY(rope.scaling, scaling_type(keys, type));
  if (rope.scaling == RopeScaling::linear && !keys.has(factor_key)) {
    FOVEA_TRY(rope.factor, keys.number_or(old_factor_key, 1, 1e-3, max_factor));
  } else {
    FOVEA_CHECK(read_scaling(keys, keys, family, config.context, rope));
  }

  const auto* tensor = checkpoint.find("rope_freqs.weight");
  if (tensor == nullptr) return {};
  const Phrase where = phrases::tensor_place(checkpoint.path(), tensor->name);
  if (tensor->type != kernels::Type::f32 || tensor->elements() != rope.rotary / 2) {
    return fail(where, errors::rope_tensor(kernels::type_name(tensor->type), tensor->shape, rope.rotary / 2));
  }
  rope.frequency_factors.resize(static_cast<std::size_t>(rope.rotary / 2));
  std::memcpy(rope.frequency_factors.data(), checkpoint.bytes(*tensor).data(),
              rope.frequency_factors.size() * sizeof(float));
  if (!std::ranges::all_of(rope.frequency_factors, [](float f) { return std::isfinite(f) && f > 0; })) {
    return fail(where, errors::rope_factor());
  }
  return {};
}

// YaRN: between the dimensions that turn beta_fast and beta_slow times within the trained context,
// frequencies go from untouched to divided by the factor (Peng et al. 2023, §3.2).
double yarn_share_kept(const RopeConfig& rope, double pair) {
  const double size = static_cast<double>(rope.rotary);
  const auto dimension_of = [&](double turns) {
    return size * std::log(static_cast<double>(rope.original_context) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
  };
  double low = dimension_of(rope.beta_fast);
  double high = dimension_of(rope.beta_slow);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, size - 1);
  if (low == high) high += 0.001;
  return 1 - std::clamp((pair - low) / (high - low), 0.0, 1.0);
}

double llama3_frequency(const RopeConfig& rope, double frequency) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const double original = static_cast<double>(rope.original_context);
  if (wavelength < original / rope.high_frequency_factor) return frequency;
  if (wavelength > original / rope.low_frequency_factor) return frequency / rope.factor;
  const double smooth = (original / wavelength - rope.low_frequency_factor) /
                        (rope.high_frequency_factor - rope.low_frequency_factor);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
}

}  // namespace

Result<void> read_rope(const Keys& keys, const checkpoint::Checkpoint& checkpoint, const Family& family,
                       ModelConfig& config) {
  RopeConfig rope;
  const auto first = std::ranges::find_if(
      config.layers, [](const LayerConfig& layer) { return layer.attention() != nullptr; });
  if (first == config.layers.end()) return {};
  const std::int64_t head_dim = head_of_table(config, 0, first->attention()->head_dim);
  rope.rotary = static_cast<std::int64_t>(static_cast<double>(head_dim) * family.rotary_share);
  if (keys.is_gguf()) {
    rope.style = family.gguf_style;
    FOVEA_CHECK(read_gguf(keys, checkpoint, family, config, head_dim, rope));
  } else if (family.rotary_by_kind) {
    return read_kinds(keys, family, rope, config);
  } else {
    FOVEA_CHECK(read_folder(keys, family, config, head_dim, rope));
  }
  if (rope.rotary < 2 || rope.rotary % 2 != 0)
    return keys.wrong(
        errors::odd_rotation(keys.name({"rope.dimension_count", "partial_rotary_factor"}), rope.rotary));
  config.rotary = {rope};
  if (!family.rotary_by_kind) return {};
  // GGUF: the scaling is of the layers that see everything.
  RopeConfig sliding{
      .theta = rope.theta, .rotary = rope.rotary, .style = rope.style, .frequency_factors = {}};
  const double theta = family.gguf_sliding_theta > 0 ? family.gguf_sliding_theta : rope.theta;
  FOVEA_TRY(sliding.theta, keys.number_or({"rope.freq_base_swa", ""}, theta, 1.0000001, 1e15));
  sliding.rotary = head_of_table(config, 1, rope.rotary);
  FOVEA_TRY(sliding.rotary,
            keys.integer_or({"rope.dimension_count_swa", ""}, sliding.rotary, 2, sliding.rotary));
  config.rotary.push_back(std::move(sliding));
  return {};
}

std::int64_t extended_context(const ModelConfig& config) {
  const auto of_table = [&](std::int64_t index) {
    const RopeConfig& rope = config.rotary[static_cast<std::size_t>(index)];
    if (rope.scaling != RopeScaling::yarn && rope.scaling != RopeScaling::dynamic) return config.context;
    const std::int64_t from = rope.scaling == RopeScaling::yarn ? rope.original_context : config.context;
    return std::max<std::int64_t>(config.context, std::llround(static_cast<double>(from) * rope.factor));
  };
  std::optional<std::int64_t> longest;
  const auto bound = [&](std::int64_t table) {
    const std::int64_t here = of_table(table);
    longest = std::min(longest.value_or(here), here);
  };
  for (const LayerConfig& layer : config.layers) {
    if (const AttentionConfig* const attention = layer.attention();
        attention && attention->window == 0 && attention->rotary >= 0)
      bound(attention->rotary);
    if (const auto* const latent = std::get_if<LatentAttentionConfig>(&layer.mixer)) bound(latent->rotary);
  }
  return longest.value_or(config.context);
}

RotaryTable rotary_table(const RopeConfig& rope, std::int64_t context, std::int64_t tokens) {
  const double size = static_cast<double>(rope.rotary);
  double theta = rope.theta;
  if (rope.scaling == RopeScaling::dynamic && tokens > context && rope.rotary > 2) {
    const double scale =
        rope.factor * static_cast<double>(tokens) / static_cast<double>(context) - (rope.factor - 1);
    theta *= std::pow(scale, size / (size - 2));
  }

  RotaryTable table;
  table.inverse_frequency.resize(static_cast<std::size_t>(rope.rotary / 2));
  for (std::size_t pair = 0; pair < table.inverse_frequency.size(); ++pair) {
    double frequency = std::pow(theta, -2 * static_cast<double>(pair) / size);
    switch (rope.scaling) {
      case RopeScaling::linear:
        frequency /= rope.factor;
        break;
      case RopeScaling::llama3:
        frequency = llama3_frequency(rope, frequency);
        break;
      case RopeScaling::yarn: {
        const double kept = yarn_share_kept(rope, static_cast<double>(pair));
        frequency = frequency / rope.factor * (1 - kept) + frequency * kept;
        break;
      }
      case RopeScaling::none:
      case RopeScaling::dynamic:
        break;
    }
    if (!rope.frequency_factors.empty()) frequency /= static_cast<double>(rope.frequency_factors[pair]);
    table.inverse_frequency[pair] = static_cast<float>(frequency);
  }
  if (rope.scaling == RopeScaling::yarn) {
    table.magnitude = static_cast<float>(rope.attention_factor > 0 ? rope.attention_factor
                                                                   : yarn_magnitude(rope.factor, 1));
  }
  return table;
}

}  // namespace fovea::models
