#include "engine/models/config.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/quantization.h"
#include "engine/models/families.h"
#include "engine/models/rope.h"

namespace fovea::models {
namespace {

constexpr Key layers_key{"block_count", "num_hidden_layers"};
constexpr Key hidden_key{"embedding_length", "hidden_size"};
constexpr Key kv_heads_key{"attention.head_count_kv", "num_key_value_heads"};
constexpr Key head_dim_key{"attention.key_length", "head_dim"};
constexpr Key value_dim_key{"attention.value_length", ""};
constexpr Key context_key{"context_length", "max_position_embeddings"};
constexpr Key width_key{"feed_forward_length", "intermediate_size"};
constexpr Key norm_eps_key{"attention.layer_norm_rms_epsilon", "rms_norm_eps"};
constexpr Key vocabulary_key{"vocab_size", "vocab_size"};

constexpr std::int64_t max_layers = 4096;
constexpr std::int64_t max_hidden = 1 << 20;
constexpr std::int64_t max_heads = 4096;
constexpr std::int64_t max_vocabulary = 1 << 26;

// Options that would change the computation and that no supported family has, with the value that means
// "off".
struct RefusedNumber {
  Key key;
  double off;
};
constexpr RefusedNumber refused_numbers[] = {
    {{"attention.scale", ""}, 0},
    {{"attention.max_alibi_bias", ""}, 0},
    {{"attention.clamp_kqv", "clip_qkv"}, 0},
    {{"logit_scale", "logits_scaling"}, 1},
    {{"residual_scale", "residual_multiplier"}, 1},
    {{"embedding_scale", "embedding_multiplier"}, 1},
    {{"attn_logit_softcapping", "attn_logit_softcapping"}, 0},
    {{"rope.scaling.alpha", ""}, 0},
};

Result<void> refuse_options(const Keys& keys, const Family& family) {
  constexpr Key cap{"final_logit_softcapping", "final_logit_softcapping"};
  if (!family.caps_logits) {
    FOVEA_TRY(const double found, keys.number_or(cap, 0, -1e30, 1e30));
    if (found != 0) return keys.wrong(errors::config_number_unsupported(keys.name(cap), found, 0));
  }
  for (const auto& [key, off] : refused_numbers) {
    FOVEA_TRY(const double value, keys.number_or(key, off, -1e30, 1e30));
    const bool unset = keys.is_gguf() && value == 0;
    if (value != off && !unset)
      return keys.wrong(errors::config_number_unsupported(keys.name(key), value, off));
  }
  constexpr Key parallel{"use_parallel_residual", ""};
  FOVEA_TRY(const bool parallel_residual, keys.boolean_or(parallel, false));
  if (parallel_residual) return keys.wrong(errors::parallel_residual(keys.name(parallel)));
  constexpr Key causal{"attention.causal", ""};
  FOVEA_TRY(const bool is_causal, keys.boolean_or(causal, true));
  if (!is_causal) return keys.wrong(errors::not_causal(keys.name(causal)));

  constexpr Key activation{"", "hidden_activation", "hidden_act"};
  FOVEA_TRY(std::string function, keys.string_or(activation, family.activation));
  if (function == "swish") function = "silu";
  if (function != family.activation)
    return keys.wrong(errors::config_name_unsupported(keys.name(activation), function, family.activation));
  return {};
}

// Of a family that need not say it.
Result<std::int64_t> integer_or_usual(const Keys& keys, const Key& key, std::int64_t usual,
                                      std::int64_t most) {
  return usual > 0 ? keys.integer_or(key, usual, 1, most) : keys.integer(key, 1, most);
}

Result<AttentionConfig> read_heads(const Keys& keys, const Family& family, const ModelConfig& config) {
  AttentionConfig attention;
  const Family::Usual usual = keys.is_gguf() ? Family::Usual{} : family.usual;
  FOVEA_TRY(attention.heads, integer_or_usual(keys, head_count_key, usual.heads, max_heads));
  // Those of each layer are read by the family.
  if (keys.is_gguf() && family.sizes_by_layer) {
    attention.kv_heads = attention.heads;
  } else {
    FOVEA_TRY(
        attention.kv_heads,
        keys.integer_or(kv_heads_key, usual.kv_heads > 0 ? usual.kv_heads : attention.heads, 1, max_heads));
  }
  if (attention.heads % attention.kv_heads != 0) {
    return keys.wrong(errors::config_no_multiple(keys.name(head_count_key), attention.heads,
                                                 attention.kv_heads, keys.name(kv_heads_key)));
  }
  const std::int64_t quotient = usual.head_dim > 0 ? usual.head_dim : config.hidden / attention.heads;
  FOVEA_TRY(attention.head_dim, keys.integer_or(head_dim_key, quotient, 1, kernels::max_head_dim));
  if (!keys.has(head_dim_key) && usual.head_dim == 0 && config.hidden % attention.heads != 0) {
    return keys.wrong(errors::config_no_multiple(keys.name(hidden_key), config.hidden, attention.heads,
                                                 keys.name(head_count_key)));
  }
  if (attention.head_dim < 2 || attention.head_dim % 2 != 0) {
    return keys.wrong(errors::odd_heads(keys.name(head_dim_key), attention.head_dim));
  }
  FOVEA_TRY(const std::int64_t value_dim,
            keys.integer_or(value_dim_key, attention.head_dim, 1, kernels::max_head_dim));
  if (value_dim != attention.head_dim) {
    return keys.wrong(errors::other_value_heads(keys.name(value_dim_key), value_dim, attention.head_dim));
  }
  return attention;
}

// GGUF: the embedding's rows, else the tokeniser's length, else the key. Folders: the key.
Result<void> read_vocabulary(const Keys& keys, const checkpoint::Checkpoint& checkpoint, const Family& family,
                             ModelConfig& config) {
  if (keys.is_gguf()) {
    if (const auto* table = checkpoint.find(gguf_names.embedding); table && table->shape.size() == 2) {
      config.vocabulary = table->shape[0];
    } else if (const auto* tokens = checkpoint.metadata().strings("tokenizer.ggml.tokens")) {
      config.vocabulary = static_cast<std::int64_t>(tokens->size());
    }
    if (config.vocabulary > 0 && config.vocabulary <= max_vocabulary) return {};
  }
  FOVEA_TRY(
      config.vocabulary,
      integer_or_usual(keys, vocabulary_key, keys.is_gguf() ? 0 : family.usual.vocabulary, max_vocabulary));
  return {};
}

// GGUF has no keys for these: the tensors say it.
void read_gguf_biases(const checkpoint::Checkpoint& checkpoint, AttentionConfig& attention) {
  attention.qkv_bias = checkpoint.find(bias_of(expand(gguf_names.q, 0))) != nullptr ||
                       checkpoint.find(bias_of(expand(gguf_names.qkv, 0))) != nullptr;
  attention.output_bias = checkpoint.find(bias_of(expand(gguf_names.attention_output, 0))) != nullptr;
}

// What GGUF has no keys for: layers whose keys are their values too, and scales of layers' outputs.
void read_from_tensors(const checkpoint::Checkpoint& checkpoint, const TensorNames& names,
                       ModelConfig& config) {
  for (std::int64_t index = 0; index < config.layer_count(); ++index) {
    LayerConfig& layer = config.layers[static_cast<std::size_t>(index)];
    const auto has = [&](std::string_view name) { return checkpoint.find(expand(name, index)) != nullptr; };
    layer.output_scale = has(names.output_scale);
    if (AttentionConfig* const attention = layer.attention(); attention && attention->kv_from < 0)
      attention->values_are_keys = has(names.k) && !has(names.v);
  }
}

std::string model_name(const Keys& keys, const checkpoint::Checkpoint& checkpoint) {
  if (keys.is_gguf()) {
    if (const auto name = checkpoint.metadata().string("general.name"); name && !name->empty())
      return std::string(*name);
    return checkpoint.path().stem().string();
  }
  const auto folder = checkpoint.path().has_filename() ? checkpoint.path() : checkpoint.path().parent_path();
  return folder.filename().string();
}

}  // namespace

std::int64_t state_elements(const MixerConfig& mixer, std::int64_t hidden) {
  const auto convolved = [](std::int64_t channels, std::int64_t positions) {
    return channels * std::max<std::int64_t>(positions - 1, 0);
  };
  if (const auto* delta = std::get_if<GatedDeltaConfig>(&mixer))
    return delta->value_heads * delta->key_dim * delta->value_dim +
           convolved(delta->channels(), delta->convolution);
  if (const auto* mamba = std::get_if<Mamba2Config>(&mixer))
    return mamba->heads * mamba->head_dim * mamba->state + convolved(mamba->channels(), mamba->convolution);
  if (const auto* short_one = std::get_if<ShortConvolutionConfig>(&mixer))
    return convolved(hidden, short_one->convolution);
  return 0;
}

StatePlan plan_states(const ModelConfig& config, std::int64_t context, std::int64_t sequences) {
  constexpr std::int64_t usual_spacing = 256, usual_turn_ends = 16, min_saved = 8;
  constexpr std::int64_t usual_memory = std::int64_t{1} << 30;
  StatePlan plan;
  for (const LayerConfig& layer : config.layers) plan.bytes += 4 * state_elements(layer.mixer, config.hidden);
  if (plan.bytes == 0) return plan;
  plan.sequences = sequences + 1;
  const std::int64_t most = std::max(min_saved, usual_memory / plan.bytes);
  plan.turn_ends = std::min(usual_turn_ends, most / 3);
  const auto within = [&] { return (context + plan.spacing - 1) / plan.spacing; };
  plan.spacing = usual_spacing;
  while (plan.turn_ends + within() > most) plan.spacing *= 2;
  plan.saved = plan.turn_ends + within();
  return plan;
}

std::int64_t ModelConfig::experts() const {
  const auto found = std::ranges::find_if(layers, [](const LayerConfig& l) { return l.experts.has_value(); });
  return found == layers.end() ? 0 : found->experts->experts;
}

std::int64_t ModelConfig::experts_used() const {
  const auto found = std::ranges::find_if(layers, [](const LayerConfig& l) { return l.experts.has_value(); });
  return found == layers.end() ? 0 : found->experts->used;
}

Result<ModelConfig> read_config(const checkpoint::Checkpoint& checkpoint) {
  const Keys keys(checkpoint);
  FOVEA_TRY(const Family* family, find_family(keys));
  FOVEA_CHECK(refuse_options(keys, *family));
  // Opening the weights has read it already; this refuses what a folder without them says.
  FOVEA_CHECK(checkpoint::read_quantization(checkpoint.config(), checkpoint.path() / "config.json"));

  ModelConfig config;
  config.name = model_name(keys, checkpoint);
  config.architecture = family->name;
  FOVEA_TRY(std::int64_t layers, keys.integer(layers_key, 1, max_layers));
  // GGUF counts the layers that predict further tokens, too; they stand behind the others.
  FOVEA_TRY(const std::int64_t further, keys.integer_or({"nextn_predict_layers", ""}, 0, 0, layers - 1));
  layers -= further;
  FOVEA_TRY(config.hidden, keys.integer(hidden_key, 1, max_hidden));
  FOVEA_TRY(config.context,
            integer_or_usual(keys, context_key, keys.is_gguf() ? 0 : family->usual.context, INT32_MAX));
  LayerConfig layer;
  layer.dense.emplace();
  // Those of each layer are read by the family.
  if (!keys.is_gguf() || !family->sizes_by_layer) {
    FOVEA_TRY(layer.dense->width, keys.integer_or(width_key, 0, 1, max_width));
  }
  FOVEA_TRY(config.norm_eps, keys.number_or(norm_eps_key, family == &mixtral ? 1e-5 : 1e-6, 0, 1));
  FOVEA_TRY(layer.mixer, read_heads(keys, *family, config));
  FOVEA_CHECK(read_vocabulary(keys, checkpoint, *family, config));
  if (keys.is_gguf()) {
    config.tied_embeddings = checkpoint.find(gguf_names.output) == nullptr;
    read_gguf_biases(checkpoint, *layer.attention());
  } else {
    FOVEA_TRY(config.tied_embeddings, keys.boolean_or({"", "tie_word_embeddings"}, family->usual.tied));
  }
  config.layers.assign(static_cast<std::size_t>(layers), layer);
  FOVEA_CHECK(family->configure(keys, config));
  if (keys.is_gguf() && family->sizes_by_layer) read_from_tensors(checkpoint, *family->gguf_names, config);
  // Where every layer has experts nobody asks.
  const auto has_no_width = [](const LayerConfig& each) { return each.dense && each.dense->width == 0; };
  if (std::ranges::any_of(config.layers, has_no_width)) FOVEA_CHECK(keys.integer(width_key, 1, max_width));
  FOVEA_CHECK(read_rope(keys, checkpoint, *family, config));
  return config;
}

}  // namespace fovea::models
