#include "engine/precision/model_shapes.h"

#include <algorithm>
#include <string>

#include "engine/models/say.h"

namespace fovea::precision {
namespace {

using kernels::Type;

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
    {.name = "gpt-oss-120b",
     .layers = 36,
     .hidden = 2880,
     .heads = 64,
     .kv_heads = 8,
     .head_dim = 64,
     .vocabulary = 201088,
     .context = 131072,
     .experts = 128,
     .experts_used = 4,
     .expert_width = 2880,
     .expert_type = Type::mxfp4,
     .biases = true,
     .window = 128},
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

constexpr std::int64_t state_copies = 2;  // of linear attention: running, and at the turn's beginning

std::int64_t pages_of(std::int64_t tokens, std::int64_t page_tokens) {
  return (tokens + page_tokens - 1) / page_tokens + 1;
}

// Weights of one layer's linear attention: the projection to q, k, v and the gate z, the one to β and α, and
// the output.
std::int64_t linear_attention_weights(const ModelShape& shape) {
  const LinearAttention& linear = shape.linear;
  const std::int64_t keys = linear.key_heads * linear.head_dim;
  const std::int64_t values = linear.value_heads * linear.head_dim;
  return shape.hidden * (2 * keys + 2 * values) + shape.hidden * 2 * linear.value_heads +
         values * shape.hidden;
}

// The channels that the convolution runs over: q, k and v.
std::int64_t convolution_channels(const LinearAttention& linear) {
  return (2 * linear.key_heads + linear.value_heads) * linear.head_dim;
}

std::int64_t vectors_of(const ModelShape& shape) {
  const std::int64_t q = shape.heads * shape.head_dim;
  const std::int64_t kv = shape.kv_heads * shape.head_dim;
  std::int64_t sum = shape.hidden * (2 * shape.layers + 1);
  if (shape.qk_norm) sum += shape.full_layers() * 2 * shape.head_dim;
  if (shape.biases) {
    const std::int64_t expert = 2 * shape.expert_width + shape.hidden;
    sum += shape.layers * (q + 2 * kv + shape.hidden + shape.heads + shape.experts + shape.experts * expert);
  }
  const LinearAttention& linear = shape.linear;
  return sum + shape.linear_layers() * (convolution_channels(linear) * linear.convolution + linear.head_dim +
                                        2 * linear.value_heads);
}

}  // namespace

std::span<const ModelShape> model_shapes() {
  return shapes;
}

Result<const ModelShape*> find_shape(std::string_view name) {
  const auto* const found = std::ranges::find(shapes, name, &ModelShape::name);
  if (found != std::end(shapes)) return found;
  std::string known;
  for (const ModelShape& shape : shapes) known += (known.empty() ? "" : ", ") + std::string(shape.name);
  return fail(ErrorKind::not_found, "--shape", "\"" + std::string(name) + "\" is not a shape",
              "Known are " + known);
}

DenseWeights dense_weights(const ModelShape& shape) {
  const std::int64_t d = shape.hidden;
  const std::int64_t q = shape.heads * shape.head_dim;
  const std::int64_t kv = shape.kv_heads * shape.head_dim;
  const std::int64_t full = d * (shape.attention_gate ? 2 * q : q) + 2 * d * kv + q * d;
  return {.embeddings = (shape.tied ? 1 : 2) * shape.vocabulary * d,
          .attention = shape.full_layers() * full + shape.linear_layers() * linear_attention_weights(shape),
          .feed_forward = shape.layers * 3 * d * shape.dense_width,
          .shared_experts = shape.shared_width > 0 ? shape.layers * (3 * d * shape.shared_width + d) : 0,
          .routers = shape.layers * shape.experts * d,
          .vectors = vectors_of(shape)};
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

std::int64_t kv_bytes(const ModelShape& shape, Type type, std::int64_t context, std::int64_t chunk,
                      std::int64_t page_tokens) {
  const std::int64_t page = 2 * shape.kv_heads * page_tokens * kernels::row_bytes(type, shape.head_dim);
  const std::int64_t windowed = shape.window > 0 ? shape.full_layers() / 2 : 0;
  const std::int64_t seen = std::min(context, shape.window + chunk);
  const std::int64_t pages = (shape.full_layers() - windowed) * pages_of(context, page_tokens) +
                             windowed * pages_of(seen, page_tokens);
  const LinearAttention& linear = shape.linear;
  const std::int64_t state = linear.value_heads * linear.head_dim * linear.head_dim +
                             convolution_channels(linear) * std::max<std::int64_t>(linear.convolution - 1, 0);
  return pages * page + shape.linear_layers() * state * 4 * state_copies;
}

models::ModelConfig config_of(const ModelShape& shape) {
  models::ModelConfig config;
  config.name = shape.name;
  config.layers = shape.layers;
  config.hidden = shape.hidden;
  config.heads = shape.attention_gate ? 2 * shape.heads : shape.heads;
  config.kv_heads = shape.kv_heads;
  config.head_dim = shape.head_dim;
  config.vocabulary = shape.vocabulary;
  config.context = shape.context;
  config.rope.rotary = shape.head_dim;
  config.experts = shape.experts;
  config.experts_used = shape.experts_used;
  config.feed_forward = shape.dense_width;
  config.expert_width = shape.expert_width;
  config.shared_width = shape.shared_width;
  return config;
}

ShapeWeights weights_of(const ModelShape& shape) {
  ShapeWeights weights;
  const std::int64_t width = shape.expert_width, d = shape.hidden;
  const auto add = [&](std::int64_t layer, const char* name, std::int64_t rows, std::int64_t columns) {
    auto tensor = std::make_unique<checkpoint::TensorInfo>();
    tensor->name = models::say("blk.", layer, ".ffn_", name, "_exps.weight");
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
