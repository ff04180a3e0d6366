#include "engine/precision/model_shapes.h"

#include <algorithm>
#include <string>

#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

using kernels::Type;

constexpr ModelShape gpt_oss(const char* name, std::int64_t layers, std::int64_t experts) {
  return {.name = name,
          .layers = layers,
          .hidden = 2880,
          .heads = 64,
          .kv_heads = 8,
          .head_dim = 64,
          .vocabulary = 201088,
          .context = 131072,
          .experts = experts,
          .experts_used = 4,
          .expert_width = 2880,
          .expert_type = Type::mxfp4,
          .biases = true,
          .window = 128};
}

constexpr ModelShape qwen3_5_35b(const char* name) {
  return {.name = name,
          .layers = 40,
          .hidden = 2048,
          .heads = 16,
          .kv_heads = 2,
          .head_dim = 256,
          .vocabulary = 248320,
          .context = 262144,
          .experts = 256,
          .experts_used = 8,
          .expert_width = 512,
          .shared_width = 512,
          .qk_norm = true,
          .attention_gate = true,
          .attention_interval = 4,
          .linear = {.key_heads = 16, .value_heads = 32, .head_dim = 128, .convolution = 4}};
}

constexpr ModelShape qwen3_5_27b(const char* name) {
  return {.name = name,
          .layers = 64,
          .hidden = 5120,
          .heads = 24,
          .kv_heads = 4,
          .head_dim = 256,
          .vocabulary = 248320,
          .context = 262144,
          .dense_width = 17408,
          .qk_norm = true,
          .attention_gate = true,
          .attention_interval = 4,
          .linear = {.key_heads = 16, .value_heads = 48, .head_dim = 128, .convolution = 4}};
}

constexpr ModelShape shapes[] = {
    // Qwen/Qwen3-30B-A3B-Instruct-2507: 30.5 B parameters, 29.9 B without embeddings.
    {.name = "qwen3-30b-a3b",
     .layers = 48,
     .hidden = 2048,
     .heads = 32,
     .kv_heads = 4,
     .head_dim = 128,
     .vocabulary = 151936,
     .context = 262144,
     .experts = 128,
     .experts_used = 8,
     .expert_width = 768,
     .qk_norm = true},
    // Qwen/Qwen3-Next-80B-A3B-Instruct: 80 B parameters, 79 B without embeddings. Its extra layer that
    // predicts further tokens is not counted: nobody needs it to chat.
    {.name = "qwen3-next-80b-a3b",
     .layers = 48,
     .hidden = 2048,
     .heads = 16,
     .kv_heads = 2,
     .head_dim = 256,
     .vocabulary = 151936,
     .context = 262144,
     .experts = 512,
     .experts_used = 10,
     .expert_width = 512,
     .shared_width = 512,
     .qk_norm = true,
     .attention_gate = true,
     .attention_interval = 4,
     .linear = {.key_heads = 16, .value_heads = 32, .head_dim = 128, .convolution = 4}},
    // mistralai/Mixtral-8x7B-Instruct-v0.1: 46.7 B parameters.
    {.name = "mixtral-8x7b",
     .layers = 32,
     .hidden = 4096,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .vocabulary = 32000,
     .context = 32768,
     .experts = 8,
     .experts_used = 2,
     .expert_width = 14336},
    // openai/gpt-oss-120b: 116.8 B parameters, 60.8 GiB as published. Even layers have the window.
    gpt_oss("gpt-oss-120b", 36, 128),
    // openai/gpt-oss-20b: 20.9 B parameters, 12.8 GiB as published.
    gpt_oss("gpt-oss-20b", 24, 32),
    // Qwen/Qwen3.5-35B-A3B and Qwen/Qwen3.6-35B-A3B: 35 B parameters, 3 B of them for a token; the layer that
    // predicts further tokens and the eyes are not counted.
    qwen3_5_35b("qwen3.5-35b-a3b"),
    qwen3_5_35b("qwen3.6-35b-a3b"),
    // Qwen/Qwen3.5-122B-A10B: 122 B parameters (122.11 B in GGUF files), 10 B of them for a token, likewise.
    // Sizes as NVIDIA/Megatron-LM's examples/multimodal_dev/scripts/run_qwen35_vl.sh has them.
    {.name = "qwen3.5-122b-a10b",
     .layers = 48,
     .hidden = 3072,
     .heads = 32,
     .kv_heads = 2,
     .head_dim = 256,
     .vocabulary = 248320,
     .context = 262144,
     .experts = 256,
     .experts_used = 8,
     .expert_width = 1024,
     .shared_width = 1024,
     .qk_norm = true,
     .attention_gate = true,
     .attention_interval = 4,
     .linear = {.key_heads = 16, .value_heads = 64, .head_dim = 128, .convolution = 4}},
    // Qwen/Qwen3.5-27B and Qwen/Qwen3.6-27B: 27 B parameters (26.90 B in GGUF files), likewise.
    qwen3_5_27b("qwen3.5-27b"),
    qwen3_5_27b("qwen3.6-27b"),
    // Qwen/Qwen3.5-9B: 9 B parameters (8.95 B in GGUF files), likewise. Sizes as in Megatron-LM, and in
    // THUDM/slime's scripts/models.
    {.name = "qwen3.5-9b",
     .layers = 32,
     .hidden = 4096,
     .heads = 16,
     .kv_heads = 4,
     .head_dim = 256,
     .vocabulary = 248320,
     .context = 262144,
     .dense_width = 12288,
     .qk_norm = true,
     .attention_gate = true,
     .attention_interval = 4,
     .linear = {.key_heads = 16, .value_heads = 32, .head_dim = 128, .convolution = 4}},
    // Qwen/Qwen3.5-4B: 4 B parameters (4.21 B in GGUF files), likewise.
    {.name = "qwen3.5-4b",
     .layers = 32,
     .hidden = 2560,
     .heads = 16,
     .kv_heads = 4,
     .head_dim = 256,
     .vocabulary = 248320,
     .context = 262144,
     .dense_width = 9216,
     .qk_norm = true,
     .tied = true,
     .attention_gate = true,
     .attention_interval = 4,
     .linear = {.key_heads = 16, .value_heads = 32, .head_dim = 128, .convolution = 4}},
    // JetBrains/Mellum2-12B-A2.5B-Instruct: 12 B parameters (24.3 GB of BF16), 2.5 B of them for a token; the
    // layer that predicts further tokens is not counted. Sizes as transformers' MellumConfig has them; three
    // of four layers have the window.
    {.name = "mellum2-12b-a2.5b",
     .layers = 28,
     .hidden = 2304,
     .heads = 32,
     .kv_heads = 4,
     .head_dim = 128,
     .vocabulary = 98304,
     .context = 131072,
     .experts = 64,
     .experts_used = 8,
     .expert_width = 896,
     .qk_norm = true,
     .window = 1024,
     .window_interval = 4},
    // google/gemma-4-26B-A4B-it: 25.2 B parameters, 3.8 B of them for a token.
    {.name = "gemma-4-26b-a4b",
     .layers = 30,
     .hidden = 2816,
     .heads = 16,
     .kv_heads = 8,
     .head_dim = 256,
     .vocabulary = 262144,
     .context = 262144,
     .experts = 128,
     .experts_used = 8,
     .expert_width = 704,
     .dense_width = 2112,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 1024,
     .window_interval = 6,
     .wide = {.kv_heads = 2, .head_dim = 512, .values_are_keys = true}},
    // google/gemma-4-31B-it: 30.7 B parameters.
    {.name = "gemma-4-31b",
     .layers = 60,
     .hidden = 5376,
     .heads = 32,
     .kv_heads = 16,
     .head_dim = 256,
     .vocabulary = 262144,
     .context = 262144,
     .dense_width = 21504,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 1024,
     .window_interval = 6,
     .wide = {.kv_heads = 4, .head_dim = 512, .values_are_keys = true}},
    // google/gemma-4-E4B-it: 8 B parameters with embeddings, 0.45 of them eyes and ears; 7.52 B in GGUF
    // files, which have the keys and values that the last layers do not use (55 M). Sizes of the E models as
    // google-deepmind/gemma's gemma4/_gemma4.py has them.
    {.name = "gemma-4-e4b",
     .layers = 42,
     .hidden = 2560,
     .heads = 8,
     .kv_heads = 2,
     .head_dim = 256,
     .vocabulary = 262144,
     .context = 131072,
     .dense_width = 10240,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .per_layer_input = 256,
     .shared_kv_layers = 18,
     .window = 512,
     .window_interval = 6,
     .wide = {.head_dim = 512}},
    // google/gemma-4-E2B-it: 5.1 B parameters with embeddings, 0.45 of them eyes and ears; 4.65 B in GGUF
    // files, likewise (19 M).
    {.name = "gemma-4-e2b",
     .layers = 35,
     .hidden = 1536,
     .heads = 8,
     .kv_heads = 1,
     .head_dim = 256,
     .vocabulary = 262144,
     .context = 131072,
     .dense_width = 6144,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .per_layer_input = 256,
     .shared_kv_layers = 20,
     .double_wide = true,
     .window = 512,
     .window_interval = 5,
     .wide = {.head_dim = 512}},
    // google/gemma-3-27b-it: 27.0 B parameters without the eyes.
    {.name = "gemma-3-27b",
     .layers = 62,
     .hidden = 5376,
     .heads = 32,
     .kv_heads = 16,
     .head_dim = 128,
     .vocabulary = 262208,
     .context = 131072,
     .dense_width = 21504,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 1024,
     .window_interval = 6},
    // google/gemma-3-12b-it: 11.77 B parameters without the eyes. Sizes of the smaller ones as
    // google-deepmind/gemma's gm/nn/_gemma.py has them; vocabularies as their config.json.
    {.name = "gemma-3-12b",
     .layers = 48,
     .hidden = 3840,
     .heads = 16,
     .kv_heads = 8,
     .head_dim = 256,
     .vocabulary = 262208,
     .context = 131072,
     .dense_width = 15360,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 1024,
     .window_interval = 6},
    // google/gemma-3-4b-it: 3.88 B parameters without the eyes.
    {.name = "gemma-3-4b",
     .layers = 34,
     .hidden = 2560,
     .heads = 8,
     .kv_heads = 4,
     .head_dim = 256,
     .vocabulary = 262208,
     .context = 131072,
     .dense_width = 10240,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 1024,
     .window_interval = 6},
    // google/gemma-3-1b-it: 1.00 B parameters.
    {.name = "gemma-3-1b",
     .layers = 26,
     .hidden = 1152,
     .heads = 4,
     .kv_heads = 1,
     .head_dim = 256,
     .vocabulary = 262144,
     .context = 32768,
     .dense_width = 6912,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 512,
     .window_interval = 6},
    // google/gemma-3-270m-it: 268 M parameters.
    {.name = "gemma-3-270m",
     .layers = 18,
     .hidden = 640,
     .heads = 4,
     .kv_heads = 1,
     .head_dim = 256,
     .vocabulary = 262144,
     .context = 32768,
     .dense_width = 2048,
     .qk_norm = true,
     .tied = true,
     .norms_behind = true,
     .window = 512,
     .window_interval = 6},
    // Qwen/Qwen3-4B-Instruct-2507: 4.0 B parameters, 3.6 B without embeddings.
    {.name = "qwen3-4b",
     .layers = 36,
     .hidden = 2560,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .vocabulary = 151936,
     .context = 262144,
     .dense_width = 9728,
     .qk_norm = true,
     .tied = true},
};

struct MixerWeights {
  std::int64_t matrices = 0;
  std::int64_t vectors = 0;  // norms, biases, sinks, convolutions
};

MixerWeights weights_of(const models::AttentionConfig& a, std::int64_t d) {
  const bool own = a.kv_from < 0;
  const std::int64_t q = a.heads * a.head_dim, kv = own ? a.kv_heads * a.head_dim : 0;
  return {.matrices = d * (a.gate ? 2 * q : q) + (a.values_are_keys ? 1 : 2) * d * kv + q * d,
          .vectors = (a.qk_norm ? (own ? 2 : 1) * a.head_dim : 0) + (a.qkv_bias ? q + 2 * kv : 0) +
                     (a.output_bias ? d : 0) + (a.sinks ? a.heads : 0)};
}

// The projection to q, k, v and the gate z, the one to β and α, and the output; the convolution, a norm of
// the heads, and A and its bias.
MixerWeights weights_of(const models::GatedDeltaConfig& g, std::int64_t d) {
  const std::int64_t values = g.value_heads * g.value_dim;
  return {.matrices = d * (g.channels() + values) + d * 2 * g.value_heads + values * d,
          .vectors = g.channels() * g.convolution + g.value_dim + 2 * g.value_heads};
}

MixerWeights weights_of(const models::MixerConfig& mixer, std::int64_t d) {
  if (const auto* attention = std::get_if<models::AttentionConfig>(&mixer)) return weights_of(*attention, d);
  return weights_of(std::get<models::GatedDeltaConfig>(mixer), d);
}

// The last layers read the keys and values of the last one before them that sees as much.
void share_keys_and_values(const ModelShape& shape, models::ModelConfig& config) {
  const std::int64_t first = shape.layers - shape.shared_kv_layers;
  for (std::int64_t layer = first; layer < shape.layers; ++layer) {
    models::LayerConfig& sharing = config.layers[static_cast<std::size_t>(layer)];
    std::int64_t from = first - 1;
    while (config.layer(from).attention()->window != sharing.attention()->window) --from;
    sharing.attention()->kv_from = from;
    if (shape.double_wide) sharing.dense->width *= 2;
  }
}

}  // namespace

std::span<const ModelShape> model_shapes() {
  return shapes;
}

Result<const ModelShape*> find_shape(std::string_view name) {
  const auto* const found = std::ranges::find(shapes, name, &ModelShape::name);
  if (found != std::end(shapes)) return found;
  std::vector<std::string> known;
  for (const ModelShape& shape : shapes) known.emplace_back(shape.name);
  return fail(phrases::option_place("--shape"), errors::unknown_shape(name, std::move(known)));
}

DenseWeights dense_weights(const ModelShape& shape) {
  const models::ModelConfig config = config_of(shape);
  const std::int64_t d = config.hidden, input = config.per_layer_input();
  DenseWeights sum{.embeddings = looked_up_weights(shape) + config.vocabulary * d, .vectors = d + input};
  for (const models::LayerConfig& layer : config.layers) {
    sum.layer_inputs += 3 * d * layer.per_layer_input;
    sum.vectors += layer.per_layer_input > 0 ? d : 0;
    const MixerWeights mixer = weights_of(layer.mixer, d);
    sum.attention += mixer.matrices;
    sum.vectors += mixer.vectors + 2 * d;
    sum.vectors += (layer.mixer_norms.after ? d : 0) + (layer.feed_forward_norms.after ? d : 0) +
                   (layer.dense && layer.dense->norms.after ? d : 0);
    if (layer.dense) sum.feed_forward += 3 * d * layer.dense->width;
    if (!layer.experts) continue;
    const models::ExpertsConfig& experts = *layer.experts;
    sum.vectors += (experts.norms.before ? d : 0) + (experts.norms.after ? d : 0) +
                   (experts.router.own_norm ? d : 0) + (experts.router.expert_scales ? experts.experts : 0);
    sum.shared_experts += 3 * d * experts.shared.total_width() + (experts.shared.gate ? d : 0);
    sum.routers += experts.experts * d;
    sum.vectors += (experts.router.bias ? experts.experts : 0) +
                   (experts.bias ? experts.experts * (2 * experts.width + d) : 0);
  }
  return sum;
}

std::int64_t looked_up_weights(const ModelShape& shape) {
  return shape.vocabulary * ((shape.tied ? 0 : shape.hidden) + shape.layers * shape.per_layer_input);
}

std::int64_t expert_weights(const ModelShape& shape) {
  return shape.layers * shape.experts * 3 * shape.hidden * shape.expert_width;
}

std::int64_t multiply_adds(const ModelShape& shape) {
  const DenseWeights dense = dense_weights(shape);
  const std::int64_t chosen =
      shape.experts > 0 ? expert_weights(shape) / shape.experts * shape.experts_used : 0;
  return dense.matrices() - dense.embeddings + chosen;
}

std::int64_t dense_bytes(const ModelShape& shape, Type matrices) {
  const DenseWeights weights = dense_weights(shape);
  return kernels::row_bytes(matrices, weights.matrices()) + weights.vectors * 4;
}

models::ModelConfig config_of(const ModelShape& shape) {
  models::ModelConfig config;
  config.name = shape.name;
  config.hidden = shape.hidden;
  config.vocabulary = shape.vocabulary;
  config.context = shape.context;
  config.tied_embeddings = shape.tied;
  config.rotary = {{.rotary = shape.head_dim, .frequency_factors = {}}};
  models::LayerConfig layer;
  if (shape.experts > 0) {
    layer.experts = models::ExpertsConfig{.experts = shape.experts,
                                          .used = shape.experts_used,
                                          .width = shape.expert_width,
                                          .bias = shape.biases,
                                          .router = {.bias = shape.biases}};
    if (shape.shared_width > 0)
      layer.experts->shared = {.count = 1, .width = shape.shared_width, .gate = true};
  }
  if (shape.dense_width > 0 || shape.experts == 0)
    layer.dense = models::DenseConfig{.width = shape.dense_width};
  layer.mixer_norms.after = layer.feed_forward_norms.after = shape.norms_behind;
  layer.per_layer_input = shape.per_layer_input;
  if (layer.experts && layer.dense) {
    layer.dense->norms.after = true;
    layer.experts->norms = {.before = true, .after = true};
    layer.experts->router.own_norm = layer.experts->router.expert_scales = true;
  }
  for (std::int64_t index = 0; index < shape.layers; ++index) {
    const LinearAttention& linear = shape.linear;
    if ((index + 1) % shape.attention_interval != 0) {
      layer.mixer = models::GatedDeltaConfig{.key_heads = linear.key_heads,
                                             .value_heads = linear.value_heads,
                                             .key_dim = linear.head_dim,
                                             .value_dim = linear.head_dim,
                                             .convolution = linear.convolution};
    } else {
      const bool sees_all = shape.window == 0 || (index + 1) % shape.window_interval == 0;
      const WideAttention wide = sees_all ? shape.wide : WideAttention{};
      layer.mixer = models::AttentionConfig{.heads = shape.heads,
                                            .kv_heads = wide.kv_heads > 0 ? wide.kv_heads : shape.kv_heads,
                                            .head_dim = wide.head_dim > 0 ? wide.head_dim : shape.head_dim,
                                            .window = sees_all ? 0 : shape.window,
                                            .qk_norm = shape.qk_norm,
                                            .qkv_bias = shape.biases,
                                            .output_bias = shape.biases,
                                            .sinks = shape.biases,
                                            .gate = shape.attention_gate,
                                            .values_are_keys = wide.values_are_keys};
    }
    config.layers.push_back(layer);
  }
  share_keys_and_values(shape, config);
  return config;
}

ShapeWeights weights_of(const ModelShape& shape) {
  ShapeWeights weights;
  const std::int64_t width = shape.expert_width, d = shape.hidden;
  const auto add = [&](std::int64_t layer, const char* name, std::int64_t rows, std::int64_t columns) {
    auto tensor = std::make_unique<checkpoint::TensorInfo>();
    tensor->name = "blk." + std::to_string(layer) + ".ffn_" + name + "_exps.weight";
    tensor->type = shape.expert_type;
    tensor->shape = {shape.experts, rows, columns};
    return weights.tensors.emplace_back(std::move(tensor)).get();
  };
  weights.plan.layers.resize(static_cast<std::size_t>(shape.layers));
  if (shape.experts == 0) return weights;
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const auto* const gate = add(layer, "gate", width, d);
    const auto* const up = add(layer, "up", width, d);
    const auto* const down = add(layer, "down", d, width);
    auto& experts = weights.plan.layers[static_cast<std::size_t>(layer)].experts;
    for (std::int64_t e = 0; e < shape.experts; ++e) {
      experts.push_back({.gate = {gate, e * width, width, d, models::Role::routed_expert},
                         .up = {up, e * width, width, d, models::Role::routed_expert},
                         .down = {down, e * d, d, width, models::Role::routed_expert}});
    }
  }
  return weights;
}

}  // namespace fovea::precision
