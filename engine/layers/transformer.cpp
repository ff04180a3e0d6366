#include "engine/layers/transformer.h"

#include <array>
#include <cmath>

namespace fovea::layers {

using models::AttentionConfig;
using models::AttentionWeights;
using models::LayerWeights;

namespace {

// Whose keys and values a layer reads.
std::size_t kv_layer(std::int64_t layer, const AttentionConfig& config) {
  return static_cast<std::size_t>(config.kv_from < 0 ? layer : config.kv_from);
}

}  // namespace

bool Transformer::run() {
  const auto [first, end] = model_.range();
  rows_ = {0, batch_.rows};
  if (first == 0) embed();  // x = embedding[tokens]
  norm(a_.x, model_.layers()[static_cast<std::size_t>(first)].mixer_norm, a_.h, a_.h_quantised);
  for (std::int64_t layer = first; layer < end; ++layer) {
    mix(layer);                              // x += mixer(h);  h = norm(x)
    if (rows_.count == 0) return true;       // nobody wants what follows
    if (!feed_forward(layer)) return false;  // x += experts(h);  h = norm(x)
  }
  if (end == config_.layer_count()) logits();  // h · outputᵀ
  return true;
}

void Transformer::embed() {
  op_.embed_rows({.table = model_.embedding(),
                  .ids = batch_.tokens,
                  .tokens = batch_.rows,
                  .out = a_.x,
                  .scale = static_cast<float>(config_.embedding_scale)},
                 stream_);
  if (config_.per_layer_input() > 0) make_layer_inputs();
}

// The addition of a block's output y, its norm, where it has one, and the next block's are one operation.
// Without the next one's weight no norm follows.
kernels::RmsNorm Transformer::behind(const float* output_norm, float scale, const float* weight) const {
  const std::int64_t d = config_.hidden;
  const auto eps = static_cast<float>(config_.norm_eps);
  return {.x = row(a_.x, d, rows_.first),
          .residual = row(a_.y, d, rows_.first),
          .residual_weight = output_norm,
          .residual_eps = eps,
          .scale = scale,
          .weight = weight,
          .eps = eps,
          .rows = rows_.count,
          .columns = d,
          .out = weight ? row(a_.h, d, rows_.first) : nullptr,
          .quantised = weight ? a_.h_quantised : nullptr};
}

// Of what reads h behind a layer.
const float* Transformer::next_norm(std::int64_t layer) const {
  return layer + 1 < config_.layer_count() ? model_.layers()[static_cast<std::size_t>(layer + 1)].mixer_norm
                                           : model_.output_norm();
}

// Of the rows that are computed; x and out [rows, d] begin with row 0.
void Transformer::norm(const float* x, const float* weight, float* out, std::byte* quantised) {
  const std::int64_t d = config_.hidden, begin = rows_.first * d;
  op_.rms_norm({.x = const_cast<float*>(x) + begin,  // not written where nothing is added
                .weight = weight,
                .eps = static_cast<float>(config_.norm_eps),
                .rows = rows_.count,
                .columns = d,
                .out = out + begin,
                .quantised = quantised},
               stream_);
}

// For each token and layer a vector of p: (√p · table[token] + norm(x · projectionᵀ / √d)) / √2.
void Transformer::make_layer_inputs() {
  const std::int64_t d = config_.hidden, p = config_.per_layer_input(), all = p * config_.layer_count();
  op_.embed_rows({.table = model_.layer_embedding(),
                  .ids = batch_.tokens,
                  .tokens = batch_.rows,
                  .out = a_.layer_inputs,
                  .scale = std::sqrt(static_cast<float>(p))},
                 stream_);
  const std::array projection{
      kernels::Projection{.weight = model_.layer_projection(), .out = a_.layer_products, .out_stride = all}};
  op_.linear({.x = a_.x, .tokens = batch_.rows, .columns = d, .projections = projection}, stream_);
  // A norm does not see that its input is divided by √d, but for ε.
  op_.rms_norm({.x = a_.layer_inputs,
                .residual = a_.layer_products,
                .residual_weight = model_.layer_projection_norm(),
                .residual_eps = static_cast<float>(config_.norm_eps * static_cast<double>(d)),
                .scale = std::sqrt(0.5F),
                .rows = batch_.rows * config_.layer_count(),
                .columns = p},
               stream_);
}

// y = output(GELU(gate(x)) · the layer's input);  x += y;  h = norm(x)
void Transformer::add_layer_input(std::int64_t layer, const LayerWeights& w) {
  const std::int64_t d = config_.hidden, p = config_.layer(layer).per_layer_input;
  const std::array gate{kernels::Projection{.weight = w.input.gate, .out = a_.layer_gate, .out_stride = p}};
  op_.linear({.x = row(a_.x, d, rows_.first), .tokens = rows_.count, .columns = d, .projections = gate},
             stream_);
  const std::int64_t all = p * config_.layer_count();
  op_.gating({.x = a_.layer_gate,
              .gate = row(a_.layer_inputs, all, rows_.first) + layer * p,
              .gate_stride = all,
              .rows = rows_.count,
              .columns = p,
              .form = kernels::GatingForm::gelu_tanh},
             stream_);
  const std::array output{
      kernels::Projection{.weight = w.input.output, .out = row(a_.y, d, rows_.first), .out_stride = d}};
  op_.linear({.x = a_.layer_gate,
              .tokens = rows_.count,
              .columns = p,
              .projections = output,
              .then = behind(w.input.post_norm, w.output_scale, next_norm(layer))},
             stream_);
}

// Of the other kinds of mixer none is run: models::check refuses them.
void Transformer::mix(std::int64_t layer) {
  const LayerWeights& w = model_.layers()[static_cast<std::size_t>(layer)];
  const models::MixerConfig& mixer = config_.layer(layer).mixer;
  if (const auto* const delta = std::get_if<models::GatedDeltaConfig>(&mixer)) {
    gated_delta(layer, *delta, w);
  } else {
    attention(layer, std::get<AttentionConfig>(mixer), w);
  }
  state_at_ += models::state_elements(mixer, config_.hidden);
}

void Transformer::attention(std::int64_t layer, const AttentionConfig& config, const LayerWeights& w) {
  queries_keys_and_values(layer, config, w.attention);
  // Of the last layer only the wanted rows go on.
  rows_ = batch_.routed(layer, config_.layer_count());
  if (rows_.count > 0) attend(layer, config, w);
}

// y = output(norm(delta rule) · silu(z)), over what each row's own sequence has in its state: first the rows
// that the convolution looks back at, then the heads'.
void Transformer::gated_delta(std::int64_t layer, const models::GatedDeltaConfig& config,
                              const LayerWeights& w) {
  const models::DeltaWeights& delta = w.delta;
  const std::int64_t keys = config.key_heads * config.key_dim, values = config.value_heads * config.value_dim;
  const std::int64_t channels = config.channels();
  std::vector<kernels::Projection> projections{
      {.weight = w.attention.q, .out = a_.qkv, .out_stride = channels},
      {.weight = w.attention.k, .out = a_.qkv + keys, .out_stride = channels},
      {.weight = w.attention.v, .out = a_.qkv + 2 * keys, .out_stride = channels},
      {.weight = delta.z, .out = a_.z, .out_stride = values},
      {.weight = delta.b, .out = a_.delta_gates, .out_stride = 2 * config.value_heads}};
  std::int64_t group = config.value_heads / config.key_heads;
  if (delta.a) {
    group = config.value_heads;
    projections.push_back(
        {.weight = delta.a, .out = a_.delta_gates + group, .out_stride = 2 * config.value_heads});
  }
  steps_.project(layer, Steps::Input::attention, rows_,
                 {.x = a_.h,
                  .tokens = rows_.count,
                  .columns = config_.hidden,
                  .projections = projections,
                  .quantised = a_.h_quantised});

  for (const Batch::Part& part : batch_.parts) {
    auto* const looked_back = reinterpret_cast<float*>(part.state) + state_at_;
    float* const qkv = row(a_.qkv, channels, part.rows.first);
    op_.short_convolution({.x = qkv,
                           .weight = delta.convolution,
                           .state = looked_back,
                           .tokens = part.rows.count,
                           .channels = channels,
                           .positions = config.convolution},
                          stream_);
    const float* const gates = row(a_.delta_gates, 2 * config.value_heads, part.rows.first);
    op_.gated_delta({.qkv = qkv,
                     .z = row(a_.z, values, part.rows.first),
                     .a = gates + group,
                     .b = gates,
                     .ab_stride = 2 * config.value_heads,
                     .ab_group = group,
                     .rate = delta.rate,
                     .step_bias = delta.step_bias,
                     .norm = delta.norm,
                     .eps = static_cast<float>(config_.norm_eps),
                     .tokens = part.rows.count,
                     .key_heads = config.key_heads,
                     .value_heads = config.value_heads,
                     .key_dim = config.key_dim,
                     .value_dim = config.value_dim,
                     .sharing = config.sharing(),
                     .state = looked_back + (config.convolution - 1) * channels,
                     .out = row(a_.attended, values, part.rows.first)},
                    stream_);
  }
  rows_ = batch_.routed(layer, config_.layer_count());
  if (rows_.count > 0) project_output(layer, values, w, nullptr);
}

// q, k, v = h · Wᵀ; the heads of q and k are normalised and turned; k and v go to their sequence's pages.
void Transformer::queries_keys_and_values(std::int64_t layer, const AttentionConfig& config,
                                          const AttentionWeights& w) {
  const std::int64_t width = config.heads * config.head_dim, kv_width = config.kv_heads * config.head_dim;
  const std::array projections{
      kernels::Projection{.weight = w.q,
                          .bias = w.q_bias,
                          .out = config.gate ? a_.gated_q : a_.q,
                          .out_stride = config.gate ? 2 * width : width},
      kernels::Projection{.weight = w.k, .bias = w.k_bias, .out = a_.k, .out_stride = kv_width},
      kernels::Projection{.weight = w.v, .bias = w.v_bias, .out = a_.v, .out_stride = kv_width}};
  const bool own = config.kv_from < 0;
  const float* const values = config.values_are_keys ? a_.k : a_.v;
  steps_.project(layer, Steps::Input::attention, rows_,
                 {.x = a_.h,
                  .tokens = rows_.count,
                  .columns = config_.hidden,
                  .projections = std::span(projections)
                                     .first(!own                     ? 1
                                            : config.values_are_keys ? 2
                                                                     : 3),
                  .quantised = a_.h_quantised});

  const auto table = static_cast<std::size_t>(config.rotary);
  for (const Batch::Part& part : batch_.parts) {
    op_.attention_inputs({.q = row(a_.q, width, part.rows.first),
                          .gated_q = config.gate ? row(a_.gated_q, 2 * width, part.rows.first) : nullptr,
                          .k = own ? row(a_.k, kv_width, part.rows.first) : nullptr,
                          .v = values + part.rows.first * kv_width,
                          .q_stride = width,
                          .k_stride = kv_width,
                          .v_stride = kv_width,
                          .tokens = part.rows.count,
                          .heads = config.heads,
                          .positions = batch_.positions + part.rows.first,
                          .q_norm = w.q_norm,
                          .k_norm = w.k_norm,
                          .v_norm = config.v_norm,
                          .eps = static_cast<float>(config_.norm_eps),
                          .rotary = config_.rotary[table].rotary,
                          .inverse_frequency = rotary_.tables[table].inverse_frequency,
                          .magnitude = rotary_.tables[table].magnitude,
                          .style = config_.rotary[table].style,
                          .pages = part.pages[kv_layer(layer, config)]},
                         stream_);
  }
}

// y = output(softmax(scale · q · kᵀ) v), over what each row's own sequence has in its pages; with a gate,
// output(σ(gate) · softmax(…) v).
void Transformer::attend(std::int64_t layer, const AttentionConfig& config, const LayerWeights& w) {
  const std::int64_t width = config.heads * config.head_dim;
  const double scale = config.scale != 0 ? config.scale : 1 / std::sqrt(static_cast<double>(config.head_dim));
  const auto quantised_rows = [&](const Rows& rows) {
    return config.gate ? nullptr : quantised(a_.attended_quantised, rows);
  };
  const std::byte* seen_quantised = nullptr;
  for (const Batch::Part& part : batch_.parts) {
    const Rows rows = common(rows_, part.rows);
    if (rows.count == 0) continue;
    op_.attention({.q = row(a_.q, width, rows.first),
                   .q_stride = width,
                   .first = part.first + rows.first - part.rows.first,
                   .tokens = rows.count,
                   .heads = config.heads,
                   .scale = static_cast<float>(scale),
                   .window = config.window,
                   .sinks = w.attention.sinks,
                   .pages = part.pages[kv_layer(layer, config)],
                   .out = row(a_.attended, width, rows.first),
                   .position = part.position,
                   .quantised = quantised_rows(rows),
                   .alone = part.is_alone},
                  stream_);
    seen_quantised = quantised_rows(rows);
  }
  if (config.gate) {
    const float* const gated = row(a_.gated_q, 2 * width, rows_.first);
    op_.gating({.x = row(a_.attended, width, rows_.first),
                .gate = gated + config.head_dim,
                .gate_stride = 2 * config.head_dim,
                .rows = rows_.count * config.heads,
                .columns = config.head_dim},
               stream_);
  }
  project_output(layer, width, w, seen_quantised);
}

// y = attended · outputᵀ;  x += y;  h = norm(x)
void Transformer::project_output(std::int64_t layer, std::int64_t width, const LayerWeights& w,
                                 const std::byte* quantised) {
  const std::int64_t d = config_.hidden;
  const std::array output{kernels::Projection{.weight = w.attention.output,
                                              .bias = w.attention.output_bias,
                                              .out = row(a_.y, d, rows_.first),
                                              .out_stride = d}};
  steps_.project(layer, Steps::Input::attention_output, rows_,
                 {.x = row(a_.attended, width, rows_.first),
                  .tokens = rows_.count,
                  .columns = width,
                  .projections = output,
                  .quantised = quantised,
                  .then = behind(w.mixer_post_norm, 1, w.feed_forward_norm)});
}

// y = Σ weight · expert(h) of the experts that the router chooses, and the dense part or shared experts of h;
// x += y;  h = norm(x)
bool Transformer::feed_forward(std::int64_t layer) {
  const LayerWeights& w = model_.layers()[static_cast<std::size_t>(layer)];
  kernels::FeedForward block{.x = row(a_.h, config_.hidden, rows_.first),
                             .tokens = rows_.count,
                             .d = config_.hidden,
                             .experts = w.experts,
                             .shared = w.shared.gate ? &w.shared : nullptr,
                             .out = row(a_.y, config_.hidden, rows_.first),
                             .quantised = a_.h_quantised};
  const bool has_input = config_.layer(layer).per_layer_input > 0;
  const kernels::RmsNorm then =
      behind(w.experts_norm ? nullptr : w.feed_forward_post_norm, has_input ? 1 : w.output_scale,
             has_input ? nullptr : next_norm(layer));
  if (w.experts_norm) {
    if (!branches(layer, w, block)) return false;
    op_.rms_norm(then, stream_);
  } else {
    if (config_.layer_has_experts(layer)) choose_experts(layer, w, block);
    block.then = then;
    if (!steps_.feed_forward(layer, rows_, block)) return false;
  }
  if (has_input) add_layer_input(layer, w);
  return true;
}

// y = norm(norm(dense(h)) + norm(experts(norm(x)))): side by side, each with norms of its own. `block` has
// both.
bool Transformer::branches(std::int64_t layer, const LayerWeights& w, kernels::FeedForward block) {
  const std::int64_t d = config_.hidden, begin = rows_.first * d;
  kernels::FeedForward dense = block;
  dense.experts = {};
  steps_.dense(layer, rows_, dense);
  norm(a_.y, w.dense_post_norm, a_.y, nullptr);

  norm(a_.x, w.experts_norm, a_.experts_input, a_.h_quantised);
  block.shared = nullptr;
  block.x = a_.experts_input + begin;
  block.out = a_.experts_output + begin;
  choose_experts(layer, w, block);
  if (!steps_.feed_forward(layer, rows_, block)) return false;
  const auto eps = static_cast<float>(config_.norm_eps);
  op_.rms_norm({.x = a_.y + begin,
                .residual = a_.experts_output + begin,
                .residual_weight = w.experts_post_norm,
                .residual_eps = eps,
                .weight = w.feed_forward_post_norm,
                .eps = eps,
                .rows = rows_.count,
                .columns = d,
                .out = w.feed_forward_post_norm ? a_.y + begin : nullptr},
               stream_);
  return true;
}

// By the block's own input, or by a norm of x.
void Transformer::choose_experts(std::int64_t layer, const LayerWeights& w, kernels::FeedForward& block) {
  const models::ExpertsConfig& config = *config_.layer(layer).experts;
  if (w.router_norm) norm(a_.x, w.router_norm, a_.router_input, nullptr);
  const Routed routed =
      steps_.route(layer, rows_,
                   {.x = w.router_norm ? row(a_.router_input, config_.hidden, rows_.first) : block.x,
                    .tokens = rows_.count,
                    .weight = w.router,
                    .bias = w.router_bias,
                    .shared_gate = w.shared_gate,
                    .used = config.used,
                    .normalise = config.router.normalise,
                    .scale = static_cast<float>(config.router.scale),
                    .expert_scales = w.expert_scales,
                    .logits = a_.router_logits,
                    .shared_weights = a_.shared_weights,
                    .quantised = w.router_norm ? nullptr : a_.h_quantised});
  block.used = config.used;
  block.ids = routed.ids;
  block.weights = routed.weights;
  if (w.shared_gate) block.shared_weights = a_.shared_weights;
}

void Transformer::logits() {
  std::int64_t before = 0;
  for (const Rows& run : batch_.wanted) {
    steps_.logits(before,
                  {.x = row(a_.h, config_.hidden, run.first),
                   .tokens = run.count,
                   .columns = config_.hidden,
                   .projections = {},
                   .quantised = quantised(a_.h_quantised, run)},
                  model_.output(), static_cast<float>(config_.logits_softcap));
    before += run.count;
  }
}

}  // namespace fovea::layers
