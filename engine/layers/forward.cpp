#include "engine/layers/forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "engine/core/result.h"

namespace fovea::layers {
namespace {

using models::LayerWeights;
using models::ModelConfig;

}  // namespace

// Everything that a pass writes, allocated once. T is max_tokens, d the hidden size.
struct Forward::Buffers {
  Buffers(const models::Model& m, const kernels::Device& on, std::int64_t tokens)
      : model(m), device(on), max_tokens(tokens) {}
  ~Buffers() {
    if (memory != nullptr) device.release(memory, bytes);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  bool allocate();
  void rotate_for(std::int64_t context);

  void run(const Pass&, kernels::Stream&);
  void attend(const Pass&, std::int64_t layer, std::int64_t wanted, kernels::Stream&);
  void feed_forward(const LayerWeights&, const float* input, float* output, std::int64_t tokens, bool sparse,
                    kernels::Stream&);

  const models::Model& model;
  const kernels::Device& device;
  std::int64_t max_tokens;
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;

  float* x = nullptr;               // [T, d]                   the residual stream
  float* normed = nullptr;          // [T, d]                   a block's input
  float* branch = nullptr;          // [T, d]                   a block's output, added to x by the next norm
  float* q = nullptr;               // [T, heads, head_dim]
  float* k = nullptr;               // [T, kv_heads, head_dim]
  float* v = nullptr;               // [T, kv_heads, head_dim]
  float* attended = nullptr;        // [T, heads, head_dim]
  float* router_logits = nullptr;   // [T, experts]
  float* router_weights = nullptr;  // [T, experts_used]
  std::int32_t* expert_ids = nullptr;  // [T, experts_used]
  float* shared_weights = nullptr;     // [T]
  std::int32_t* positions = nullptr;   // [T]
  float* inverse_frequency = nullptr;  // [rotary / 2]
  float* logits = nullptr;             // [T, vocabulary]; the system gives pages as they are written
  float magnitude = 1;
  std::int64_t rotated_context = -1;  // that inverse_frequency is for
};

bool Forward::Buffers::allocate() {
  const ModelConfig& c = model.config();
  const std::int64_t t = max_tokens;
  std::pair<float**, std::int64_t> floats[] = {
      {&x, t * c.hidden},
      {&normed, t * c.hidden},
      {&branch, t * c.hidden},
      {&q, t * c.heads * c.head_dim},
      {&k, t * c.kv_heads * c.head_dim},
      {&v, t * c.kv_heads * c.head_dim},
      {&attended, t * c.heads * c.head_dim},
      {&router_logits, t * c.experts},
      {&router_weights, t * c.experts_used},
      {&shared_weights, t},
      {&inverse_frequency, c.rope.rotary / 2},
      {&logits, t * c.vocabulary},
  };
  std::pair<std::int32_t**, std::int64_t> integers[] = {{&expert_ids, t * c.experts_used}, {&positions, t}};

  const auto aligned = [](std::int64_t count) { return (count * 4 + 63) / 64 * 64; };
  for (const auto& [pointer, count] : floats) bytes += aligned(count);
  for (const auto& [pointer, count] : integers) bytes += aligned(count);
  memory = device.allocate(bytes);
  if (memory == nullptr) return false;
  std::byte* next = memory;
  for (const auto& [pointer, count] : integers) {
    *pointer = reinterpret_cast<std::int32_t*>(next);
    next += aligned(count);
  }
  for (const auto& [pointer, count] : floats) {
    *pointer = reinterpret_cast<float*>(next);
    next += aligned(count);
  }
  return true;
}

void Forward::Buffers::rotate_for(std::int64_t context) {
  if (context == rotated_context) return;
  const models::RotaryTable table =
      models::rotary_table(model.config().rope, model.config().context, context);
  std::ranges::copy(table.inverse_frequency, inverse_frequency);
  magnitude = table.magnitude;
  rotated_context = context;
}

// The whole pass. A block reads the norm of x and writes `branch`; the next norm adds branch to x first.
void Forward::Buffers::run(const Pass& pass, kernels::Stream& stream) {
  const ModelConfig& c = model.config();
  const kernels::OperationTable& op = device.operations();
  const auto tokens = static_cast<std::int64_t>(pass.tokens.size());
  const auto eps = static_cast<float>(c.norm_eps);

  rotate_for(pass.context);
  std::iota(positions, positions + tokens, static_cast<std::int32_t>(pass.first));
  op.embed_rows({.table = model.embedding(), .ids = pass.tokens.data(), .tokens = tokens, .out = x}, stream);

  // After the last layer's keys and values are stored, only the rows whose logits are wanted matter.
  std::int64_t begin = 0;
  const float* residual = nullptr;
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    const LayerWeights& w = model.layers()[static_cast<std::size_t>(layer)];
    op.rms_norm({.x = x,
                 .residual = residual,
                 .weight = w.attention_norm,
                 .eps = eps,
                 .rows = tokens,
                 .columns = c.hidden,
                 .out = normed},
                stream);
    if (layer == c.layers - 1 && pass.logits != LogitsWanted::all) {
      begin = pass.logits == LogitsWanted::last ? tokens - 1 : tokens;
    }
    attend(pass, layer, begin, stream);
    if (begin == tokens) return;

    const std::int64_t offset = begin * c.hidden;
    op.rms_norm({.x = x + offset,
                 .residual = branch + offset,
                 .weight = w.feed_forward_norm,
                 .eps = eps,
                 .rows = tokens - begin,
                 .columns = c.hidden,
                 .out = normed + offset},
                stream);
    feed_forward(w, normed + offset, branch + offset, tokens - begin, c.layer_has_experts(layer), stream);
    residual = branch;
  }

  const std::int64_t offset = begin * c.hidden;
  op.rms_norm({.x = x + offset,
               .residual = branch + offset,
               .weight = model.output_norm(),
               .eps = eps,
               .rows = tokens - begin,
               .columns = c.hidden,
               .out = normed + offset},
              stream);
  const kernels::Projection output{.weight = model.output(), .out = logits, .out_stride = c.vocabulary};
  op.linear(
      {.x = normed + offset, .tokens = tokens - begin, .columns = c.hidden, .projections = {&output, 1}},
      stream);
}

// branch = attention(normed), for the rows from `wanted` on; keys and values of all rows go to the cache.
void Forward::Buffers::attend(const Pass& pass, std::int64_t layer, std::int64_t wanted,
                              kernels::Stream& stream) {
  const ModelConfig& c = model.config();
  const kernels::OperationTable& op = device.operations();
  const models::AttentionWeights& w = model.layers()[static_cast<std::size_t>(layer)].attention;
  const kernels::KvPages& pages = pass.cache[static_cast<std::size_t>(layer)];
  const auto tokens = static_cast<std::int64_t>(pass.tokens.size());
  const auto eps = static_cast<float>(c.norm_eps);
  const std::int64_t q_width = c.heads * c.head_dim;
  const std::int64_t kv_width = c.kv_heads * c.head_dim;

  const kernels::Projection qkv[] = {{.weight = w.q, .bias = w.q_bias, .out = q, .out_stride = q_width},
                                     {.weight = w.k, .bias = w.k_bias, .out = k, .out_stride = kv_width},
                                     {.weight = w.v, .bias = w.v_bias, .out = v, .out_stride = kv_width}};
  op.linear({.x = normed, .tokens = tokens, .columns = c.hidden, .projections = qkv}, stream);

  const std::pair<float*, std::int64_t> rotating[] = {{q, c.heads}, {k, c.kv_heads}};
  if (c.qk_norm) {
    for (const auto& [values, heads] : rotating) {
      op.rms_norm({.x = values,
                   .weight = values == q ? w.q_norm : w.k_norm,
                   .eps = eps,
                   .rows = tokens * heads,
                   .columns = c.head_dim,
                   .out = values},
                  stream);
    }
  }
  for (const auto& [values, heads] : rotating) {
    op.rotary({.x = values,
               .stride = heads * c.head_dim,
               .tokens = tokens,
               .heads = heads,
               .head_dim = c.head_dim,
               .rotary = c.rope.rotary,
               .positions = positions,
               .inverse_frequency = inverse_frequency,
               .magnitude = magnitude,
               .style = c.rope.style},
              stream);
  }
  op.kv_store({.k = k,
               .v = v,
               .k_stride = kv_width,
               .v_stride = kv_width,
               .first = pass.first,
               .tokens = tokens,
               .pages = pages},
              stream);
  if (wanted == tokens) return;

  op.attention({.q = q + wanted * q_width,
                .q_stride = q_width,
                .first = pass.first + wanted,
                .tokens = tokens - wanted,
                .heads = c.heads,
                .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.head_dim))),
                .window = c.window(layer),
                .pages = pages,
                .out = attended},
               stream);
  const kernels::Projection output{
      .weight = w.output, .bias = w.output_bias, .out = branch + wanted * c.hidden, .out_stride = c.hidden};
  op.linear({.x = attended, .tokens = tokens - wanted, .columns = q_width, .projections = {&output, 1}},
            stream);
}

// output = the routed experts' weighted sum, and the dense or shared expert. input and output [tokens, d]
void Forward::Buffers::feed_forward(const LayerWeights& w, const float* input, float* output,
                                    std::int64_t tokens, bool sparse, kernels::Stream& stream) {
  const ModelConfig& c = model.config();
  const kernels::OperationTable& op = device.operations();
  kernels::FeedForward layer{.x = input, .tokens = tokens, .d = c.hidden, .experts = {}, .out = output};
  if (w.shared.gate) layer.shared = &w.shared;
  if (sparse) {
    // The router and the shared expert's gate read the same input.
    const kernels::Projection routing[] = {
        {.weight = w.router, .out = router_logits, .out_stride = c.experts},
        {.weight = w.shared_gate, .out = shared_weights, .out_stride = 1}};
    const std::size_t projections = w.shared_gate ? 2 : 1;
    op.linear({.x = input, .tokens = tokens, .columns = c.hidden, .projections = {routing, projections}},
              stream);
    op.route({.logits = router_logits,
              .tokens = tokens,
              .experts = c.experts,
              .used = c.experts_used,
              .normalise = c.normalise_router,
              .scale = static_cast<float>(c.router_scale),
              .ids = expert_ids,
              .weights = router_weights},
             stream);
    layer.experts = w.experts;
    layer.used = c.experts_used;
    layer.ids = expert_ids;
    layer.weights = router_weights;
    if (w.shared_gate) {
      op.sigmoid({.x = shared_weights, .count = tokens}, stream);
      layer.shared_weights = shared_weights;
    }
  }
  op.feed_forward(layer, stream);
}

Forward::Forward(std::unique_ptr<Buffers> buffers) : buffers_(std::move(buffers)) {}
Forward::Forward(Forward&&) noexcept = default;
Forward& Forward::operator=(Forward&&) noexcept = default;
Forward::~Forward() = default;

Result<Forward> Forward::create(const models::Model& model, const kernels::Device& device,
                                std::int64_t max_tokens) {
  auto buffers = std::make_unique<Buffers>(model, device, max_tokens);
  if (!buffers->allocate()) {
    return fail(ErrorKind::memory, "forward pass",
                "the activations need " + std::to_string(buffers->bytes >> 20) + " MiB, more than there is",
                "Choose a smaller prefill chunk");
  }
  return Forward(std::move(buffers));
}

std::span<const float> Forward::run(const Pass& pass, kernels::Stream& stream) {
  buffers_->run(pass, stream);
  stream.synchronize();
  const auto vocabulary = static_cast<std::size_t>(buffers_->model.config().vocabulary);
  switch (pass.logits) {
    case LogitsWanted::none:
      return {};
    case LogitsWanted::last:
      return {buffers_->logits, vocabulary};
    case LogitsWanted::all:
      return {buffers_->logits, pass.tokens.size() * vocabulary};
  }
  return {};
}

std::int64_t Forward::activation_bytes() const {
  return buffers_->bytes;
}

}  // namespace fovea::layers
