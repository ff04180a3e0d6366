#include "engine/layers/forward.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "engine/core/result.h"
#include "engine/layers/crossing.h"
#include "engine/layers/made_choices.h"

namespace fovea::layers {
namespace {

using models::AttentionConfig;
using models::AttentionWeights;
using models::LayerWeights;
using models::ModelConfig;

// Floats of a row, of the widest layer; of the rotary tables, all behind each other.
struct Widths {
  std::int64_t q = 0, kv = 0, attended = 0, rotary = 0;
};
Widths widths(const ModelConfig& config) {
  Widths most;
  for (const models::LayerConfig& layer : config.layers) {
    const AttentionConfig* const a = layer.attention();
    if (a == nullptr) continue;
    most.attended = std::max(most.attended, a->heads * a->head_dim);
    most.q = std::max(most.q, a->heads * a->head_dim * (a->gate ? 2 : 1));
    most.kv = std::max(most.kv, a->kv_heads * a->head_dim);
  }
  for (const models::RopeConfig& rope : config.rotary) most.rotary += rope.rotary / 2;
  return most;
}

}  // namespace

// Everything that a pass writes, allocated once. T is max_tokens, d the hidden size.
struct Forward::Buffers {
  struct Arrays {
    float* x = nullptr;                  // [T, d]               the residual stream
    float* normed = nullptr;             // [T, d]               a block's input
    float* branch = nullptr;             // [T, d]               a block's output, added to x by the next norm
    float* q = nullptr;                  // [T, heads, head_dim]
    float* k = nullptr;                  // [T, kv_heads, head_dim]
    float* v = nullptr;                  // [T, kv_heads, head_dim]
    float* attended = nullptr;           // [T, heads, head_dim]
    float* router_logits = nullptr;      // [T, experts]
    float* router_weights = nullptr;     // [T, experts_used]
    std::int32_t* expert_ids = nullptr;  // [T, experts_used]
    float* shared_weights = nullptr;     // [T]
    std::int32_t* positions = nullptr;   // [T]
    float* inverse_frequency = nullptr;  // [rotary / 2] of each table
    float* normed_image = nullptr;       // of normed and of attended, for their first rows
    float* attended_image = nullptr;
    float* logits = nullptr;  // [logits_rows, vocabulary]

    // Calls f(pointer, elements) for each array; an element has four bytes. Where the device's memory is out
    // of the host's reach, `apart`, choices, positions and logits are Crossing's to keep.
    template <class F>
    void each(const ModelConfig& c, std::int64_t t, bool apart, F&& f) {
      const Widths w = widths(c);
      if (!apart) {
        f(expert_ids, t * c.experts_used());
        f(router_weights, t * c.experts_used());
        f(positions, t);
      }
      f(x, t * c.hidden);
      f(normed, t * c.hidden);
      f(branch, t * c.hidden);
      f(q, t * w.q);
      f(k, t * w.kv);
      f(v, t * w.kv);
      f(attended, t * w.attended);
      f(router_logits, t * c.experts());
      f(shared_weights, t);
      f(inverse_frequency, w.rotary);
      const std::int64_t image_rows = std::min(t, kernels::most_image_rows);
      f(normed_image, image_rows * c.hidden);
      f(attended_image, image_rows * w.attended);
      f(logits, logits_rows(t, apart) * c.vocabulary);
    }
  };
  // Of the host's memory the system gives pages as they are written; elsewhere rows are computed and read
  // back so many at a time.
  static std::int64_t logits_rows(std::int64_t max_tokens, bool apart) {
    constexpr std::int64_t most_rows = 32;
    return apart ? std::min(max_tokens, most_rows) : max_tokens;
  }

  Buffers(const models::Model& m, const kernels::Device& on, std::int64_t tokens)
      : model(m), device(on), max_tokens(tokens) {}
  ~Buffers() {
    if (memory != nullptr) device.release(memory, bytes);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  bool allocate();
  void rotate_for(std::int64_t context, kernels::Stream& stream);
  void look_at_weights();

  const models::Model& model;
  const kernels::Device& device;
  std::int64_t max_tokens;
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;
  Arrays at;
  std::unique_ptr<Crossing> crossing;         // null where the device's memory is the host's
  std::unique_ptr<HostExperts> host;          // null where the device has all weights
  std::unique_ptr<MadeChoices> made_choices;  // null where only routers choose
  Graphs graphs;
  Part left_out = Part::none;
  std::optional<kernels::OperationTable> incomplete;  // without the part that is left out
  std::vector<kernels::Weight> inside;                // for graphs: every weight but the experts
  std::vector<float> magnitudes;                      // of the rotary tables
  std::int64_t rotated_context = -1;                  // that inverse_frequency is for
  bool stopped = false;
  bool listed = false;  // the last run: crossing has the likeliest tokens
};

constexpr std::int64_t array_bytes(std::int64_t elements) {
  return (elements * 4 + 63) / 64 * 64;
}

bool Forward::Buffers::allocate() {
  const bool apart = !device.memory_is_host();
  bytes = activation_bytes(model.config(), max_tokens, apart);
  memory = device.allocate(bytes);
  if (memory == nullptr) return false;
  std::byte* next = memory;
  at.each(model.config(), max_tokens, apart, [&](auto*& pointer, std::int64_t elements) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(next);
    next += array_bytes(elements);
  });
  return true;
}

void Forward::Buffers::rotate_for(std::int64_t context, kernels::Stream& stream) {
  // Only dynamic scaling looks at the sequence's length.
  const std::vector<models::RopeConfig>& tables = model.config().rotary;
  if (std::ranges::none_of(tables,
                           [](const auto& rope) { return rope.scaling == models::RopeScaling::dynamic; }))
    context = 0;
  if (context == rotated_context) return;
  std::vector<float> values;
  magnitudes.clear();
  for (const models::RopeConfig& rope : tables) {
    const models::RotaryTable table = models::rotary_table(rope, model.config().context, context);
    values.insert(values.end(), table.inverse_frequency.begin(), table.inverse_frequency.end());
    magnitudes.push_back(table.magnitude);
  }
  if (crossing) {
    crossing->inverse_frequency(values, at.inverse_frequency, stream);
  } else {
    std::ranges::copy(values, at.inverse_frequency);
  }
  rotated_context = context;
}

void Forward::Buffers::look_at_weights() {
  inside.assign({model.embedding(), model.output()});
  for (const LayerWeights& w : model.layers()) {
    const AttentionWeights& a = w.attention;
    inside.insert(inside.end(), {a.q, a.k, a.v, a.output, w.router, w.shared.gate, w.shared.up, w.shared.down,
                                 w.shared_gate});
  }
}

// One pass. A block reads the norm of x and writes `branch`; the next norm adds branch to x first.
class Forward::Runner {
 public:
  Runner(Buffers& buffers, const Pass& pass, kernels::Stream& stream)
      : b_(buffers),
        c_(buffers.model.config()),
        op_(buffers.incomplete ? *buffers.incomplete : buffers.device.operations()),
        pass_(pass),
        stream_(stream) {}

  void run() {
    b_.rotate_for(pass_.context, stream_);
    begin();
    b_.stopped = !(may_be_graph() ? run_as_graph() : operations());
  }

  // What an observer did not need to know earlier. False: it stops the pass. To be called behind its end.
  bool tell_history() const {
    if (!tells_history() || b_.stopped) return true;
    if (!stream_.failure().empty()) return true;  // no choices came back
    for (std::int64_t layer = 0; layer < c_.layer_count(); ++layer) {
      const std::int64_t tokens = routed_tokens(layer);
      if (tokens == 0) continue;
      const Crossing::Choices choices = b_.crossing->choices(layer, tokens);
      if (!pass_.observer->routed(layer, nullptr, tokens, choices.ids, choices.weights)) return false;
    }
    return true;
  }

 private:
  // Decoding where no observer has to know or do anything in the middle of the pass.
  bool may_be_graph() const {
    return position_ != nullptr && pass_.logits != LogitsWanted::none &&
           needs_ == PassObserver::Needs::history;
  }

  // False: the pass was stopped.
  bool run_as_graph() {
    if (pass_.stop.stop_requested()) return false;
    b_.look_at_weights();
    for (std::int64_t layer = 0; layer < c_.layer_count(); ++layer)
      if (c_.layer_has_experts(layer)) b_.crossing->experts(layer, stream_);
    const Graphs::Shape shape{.tokens = tokens_,
                              .most_first = most_first_,
                              .page_tokens = cache_.front().page_tokens,
                              .cache_type = cache_.front().type,
                              .observed = pass_.observer != nullptr,
                              .made_choices = choices_ != nullptr,
                              .lists = lists()};
    return b_.graphs.run(shape, b_.inside, stream_, pass_.stop, [this] { return operations(); }).whole;
  }

  // All that the pass does. False: it was stopped.
  bool operations() {
    begin_ = 0;
    op_.embed_rows({.table = b_.model.embedding(), .ids = ids_, .tokens = tokens_, .out = b_.at.x}, stream_);

    for (std::int64_t layer = 0; layer < c_.layer_count(); ++layer) {
      const LayerWeights& w = b_.model.layers()[static_cast<std::size_t>(layer)];
      norm(0, layer == 0 ? nullptr : b_.at.branch, w.mixer_norm);
      keys_and_values(layer, w.attention);
      if (layer == c_.layer_count() - 1) begin_ = first_wanted();
      if (pass_.stop.stop_requested()) return false;
      if (begin_ == tokens_) break;
      attention(layer, w.attention);
      norm(begin_, b_.at.branch, w.feed_forward_norm);
      if (!feed_forward(layer, w)) return false;
    }
    if (begin_ < tokens_) output();
    read_history();
    return true;
  }

  void output() {
    norm(begin_, b_.at.branch, b_.model.output_norm());
    const std::int64_t rows = tokens_ - begin_;
    const std::int64_t at_once = Buffers::logits_rows(b_.max_tokens, b_.crossing != nullptr);
    for (std::int64_t first = 0; first < rows; first += at_once) {
      const std::int64_t count = std::min(at_once, rows - first);
      linear(wanted(b_.at.normed) + first * c_.hidden, first == 0 ? normed_image() : nullptr, count,
             c_.hidden, {{{.weight = b_.model.output(), .out = b_.at.logits}}});
      // One row is read when all is done, so that graphs have no part in it.
      if (b_.crossing && rows > 1) b_.crossing->read_logits(b_.at.logits, first, count, rows, stream_);
    }
    if (!lists()) return;
    op_.shortlist(b_.crossing->shortlist(b_.at.logits), stream_);
    b_.crossing->read_shortlist(stream_);
  }

  bool tells_history() const {
    return pass_.observer && b_.crossing && needs_ == PassObserver::Needs::history;
  }
  // How many of the pass's last tokens the layer's router sees.
  std::int64_t routed_tokens(std::int64_t layer) const {
    if (!c_.layer_has_experts(layer)) return 0;
    return layer == c_.layer_count() - 1 ? tokens_ - first_wanted() : tokens_;
  }
  // Of all layers at once: a copy for each would stand between its kernels.
  void read_history() const {
    if (!tells_history()) return;
    std::int64_t last = c_.layer_count() - 1;
    while (last >= 0 && routed_tokens(last) == 0) --last;
    if (last >= 0) b_.crossing->read_choices(0, last, routed_tokens(last), stream_);
  }

  bool lists() const { return pass_.logits == LogitsWanted::likely && b_.crossing; }

  // Tokens, positions and pages where the operations can read them.
  void begin() {
    if (pass_.choices) choices_ = b_.made_choices->bring(pass_.choices, tokens_, stream_);
    if (b_.crossing) {
      const Crossing::Rows rows = b_.crossing->begin(pass_.tokens, pass_.first, pass_.choices, stream_);
      ids_ = rows.tokens;
      positions_ = rows.positions;
      const std::int64_t page = pass_.cache.front().page_tokens;
      // Decoding divides its work in the same way whether a graph does it or not.
      if (tokens_ == 1) {
        position_ = positions_;
        most_first_ = Graphs::most_first(pass_.first, page);
      }
      cache_ = b_.crossing->pages(pass_.cache, (pass_.first + tokens_ + page - 1) / page, stream_);
      if (lists()) b_.crossing->sharpness(1 / pass_.temperature, stream_);
    } else {
      std::iota(b_.at.positions, b_.at.positions + tokens_, static_cast<std::int32_t>(pass_.first));
      ids_ = pass_.tokens.data();
      positions_ = b_.at.positions;
      cache_ = pass_.cache;
    }
  }

  // Once the last layer's keys and values are stored, only the rows whose logits are wanted matter.
  std::int64_t first_wanted() const {
    switch (pass_.logits) {
      case LogitsWanted::none:
        return tokens_;
      case LogitsWanted::last:
      case LogitsWanted::likely:
        return tokens_ - 1;
      case LogitsWanted::all:
        return 0;
    }
    return 0;
  }
  float* wanted(float* rows) const { return rows + begin_ * c_.hidden; }

  // Into the same rows of `normed`, with their image.
  void norm(std::int64_t first, const float* residual, const float* weight) {
    const std::int64_t begin = first * c_.hidden;
    op_.rms_norm({.x = b_.at.x + begin,
                  .residual = residual ? residual + begin : nullptr,
                  .weight = weight,
                  .eps = static_cast<float>(c_.norm_eps),
                  .rows = tokens_ - first,
                  .columns = c_.hidden,
                  .out = b_.at.normed + begin,
                  .image = normed_image()},
                 stream_);
  }
  std::byte* normed_image() const { return reinterpret_cast<std::byte*>(b_.at.normed_image); }
  std::byte* attended_image() const { return reinterpret_cast<std::byte*>(b_.at.attended_image); }

  // Outputs are [tokens, rows of their weight]; a projection without a weight is left out.
  void linear(const float* input, const std::byte* image, std::int64_t tokens, std::int64_t columns,
              std::array<kernels::Projection, 3> outputs) {
    std::size_t count = 0;
    for (kernels::Projection& output : outputs) {
      output.out_stride = output.weight.rows;
      if (output.weight) outputs[count++] = output;
    }
    op_.linear({.x = input,
                .tokens = tokens,
                .columns = columns,
                .projections = {outputs.data(), count},
                .image = image},
               stream_);
  }

  // q, k and v of normed; k and v go to the cache.
  void keys_and_values(std::int64_t layer, const AttentionWeights& w) {
    tell(layer, PassObserver::Input::attention, b_.at.normed, tokens_, c_.hidden);
    linear(b_.at.normed, normed_image(), tokens_, c_.hidden,
           {{{.weight = w.q, .bias = w.q_bias, .out = b_.at.q},
             {.weight = w.k, .bias = w.k_bias, .out = b_.at.k},
             {.weight = w.v, .bias = w.v_bias, .out = b_.at.v}}});
    const AttentionConfig& a = *c_.layer(layer).attention();
    const auto table = static_cast<std::size_t>(a.rotary);
    const models::RopeConfig& rope = c_.rotary[table];
    std::int64_t before = 0;
    for (std::size_t i = 0; i < table; ++i) before += c_.rotary[i].rotary / 2;
    const std::int64_t stride = a.kv_heads * a.head_dim;
    op_.attention_inputs({.q = b_.at.q,
                          .k = b_.at.k,
                          .v = b_.at.v,
                          .q_stride = a.heads * a.head_dim,
                          .k_stride = stride,
                          .v_stride = stride,
                          .tokens = tokens_,
                          .heads = a.heads,
                          .positions = positions_,
                          .q_norm = w.q_norm,
                          .k_norm = w.k_norm,
                          .eps = static_cast<float>(c_.norm_eps),
                          .rotary = rope.rotary,
                          .inverse_frequency = b_.at.inverse_frequency + before,
                          .magnitude = b_.magnitudes[table],
                          .style = rope.style,
                          .pages = pages(layer)},
                         stream_);
  }

  // branch = the output projection of the heads' attention, for the wanted rows.
  void attention(std::int64_t layer, const AttentionWeights& w) {
    const AttentionConfig& a = *c_.layer(layer).attention();
    const std::int64_t width = a.heads * a.head_dim;
    const double scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(a.head_dim));
    op_.attention({.q = b_.at.q + begin_ * width,
                   .q_stride = width,
                   .first = most_first_ + begin_,
                   .tokens = tokens_ - begin_,
                   .heads = a.heads,
                   .scale = static_cast<float>(scale),
                   .window = a.window,
                   .pages = pages(layer),
                   .out = b_.at.attended,
                   .position = position_,
                   .image = attended_image()},
                  stream_);
    tell(layer, PassObserver::Input::attention_output, b_.at.attended, tokens_ - begin_, width);
    linear(b_.at.attended, attended_image(), tokens_ - begin_, width,
           {{{.weight = w.output, .bias = w.output_bias, .out = wanted(b_.at.branch)}}});
  }

  // branch = the routed experts' weighted sum and the dense or shared expert of normed, for the wanted rows.
  // False: the observer stopped the pass.
  bool feed_forward(std::int64_t layer, const LayerWeights& w) {
    const std::int64_t tokens = tokens_ - begin_;
    const bool hosted = b_.host && b_.host->layer(layer) && b_.left_out != Part::experts;
    kernels::FeedForward block{.x = wanted(b_.at.normed),
                               .tokens = tokens,
                               .d = c_.hidden,
                               .experts = {},
                               .out = wanted(b_.at.branch),
                               .image = normed_image()};
    if (w.shared.gate) {
      block.shared = &w.shared;
      tell(layer, PassObserver::Input::feed_forward, block.x, tokens, c_.hidden);
    }
    if (c_.layer_has_experts(layer)) {
      const Crossing::Routed routed = b_.crossing ? b_.crossing->routed(layer, tokens)
                                                  : Crossing::Routed{b_.at.expert_ids, b_.at.router_weights};
      const std::int32_t* const ids =
          choices_ ? choices_ + (layer * tokens_ + begin_) * c_.experts_used() : routed.ids;
      const models::ExpertsConfig& experts = *c_.layer(layer).experts;
      op_.router({.x = block.x,
                  .tokens = tokens,
                  .weight = w.router,
                  .shared_gate = w.shared_gate,
                  .used = experts.used,
                  .normalise = experts.router.normalise,
                  .scale = static_cast<float>(experts.router.scale),
                  .logits = b_.at.router_logits,
                  .ids = routed.ids,
                  .weights = routed.weights,
                  .shared_weights = b_.at.shared_weights,
                  .image = normed_image()},
                 stream_);
      const bool told_now = pass_.observer && !tells_history();
      if (b_.crossing && (hosted || told_now)) b_.crossing->read_choices(layer, layer, tokens, stream_);
      if (told_now && !tell_choices(layer, block.x, tokens, ids, routed.weights)) return false;
      if (!hosted || !b_.host->layer(layer).all_experts) {
        block.experts = w.experts;
        if (b_.crossing) block.table = b_.crossing->experts(layer, stream_);
        block.used = experts.used;
        block.ids = ids;
        block.weights = routed.weights;
      }
      if (w.shared_gate) block.shared_weights = b_.at.shared_weights;
    }
    if (hosted) return b_.host->run(layer, block, wanted(b_.at.normed), *b_.crossing, stream_, b_.graphs);
    op_.feed_forward(block, stream_);
    return true;
  }

  // ids and weights [tokens, used] as the operations have them. False: the observer stops the pass.
  bool tell_choices(std::int64_t layer, const float* x, std::int64_t tokens, const std::int32_t* ids,
                    const float* weights) const {
    PassObserver& observer = *pass_.observer;
    if (!b_.crossing) return observer.routed(layer, x, tokens, ids, weights);
    const float* host_x = nullptr;
    if (needs_ == PassObserver::Needs::activations) {
      host_x = b_.crossing->read(x, tokens * c_.hidden, stream_).data();
    } else {
      stream_.synchronize();
    }
    if (!stream_.failure().empty()) return false;
    const Crossing::Choices choices = b_.crossing->choices(layer, tokens);
    return observer.routed(layer, host_x, tokens, choices.ids, choices.weights);
  }

  void tell(std::int64_t layer, PassObserver::Input which, const float* x, std::int64_t tokens,
            std::int64_t columns) const {
    if (!pass_.observer) return;
    if (!b_.crossing) return pass_.observer->input(layer, which, x, tokens);
    if (needs_ != PassObserver::Needs::activations) return;
    pass_.observer->input(layer, which, b_.crossing->read(x, tokens * columns, stream_).data(), tokens);
  }

  const kernels::KvPages& pages(std::int64_t layer) const { return cache_[static_cast<std::size_t>(layer)]; }

  Buffers& b_;
  const ModelConfig& c_;
  const kernels::OperationTable& op_;
  const Pass& pass_;
  kernels::Stream& stream_;
  const std::int64_t tokens_ = static_cast<std::int64_t>(pass_.tokens.size());
  const PassObserver::Needs needs_ = pass_.observer ? pass_.observer->needs() : PassObserver::Needs::history;
  std::int64_t begin_ = 0;                   // the first wanted row
  std::int64_t most_first_ = pass_.first;    // more than that where the operations read position_
  const std::int32_t* ids_ = nullptr;        // [tokens]
  const std::int32_t* choices_ = nullptr;    // [layers, tokens, used]; null: the routers'
  const std::int32_t* positions_ = nullptr;  // [tokens]
  const std::int32_t* position_ = nullptr;   // [1] where the operations shall read the first one
  std::span<const kernels::KvPages> cache_;  // [layers]
};

Forward::Forward(std::unique_ptr<Buffers> buffers) : buffers_(std::move(buffers)) {}
Forward::Forward(Forward&&) noexcept = default;
Forward& Forward::operator=(Forward&&) noexcept = default;
Forward::~Forward() = default;

Result<Forward> Forward::create(const models::Model& model, const kernels::Device& device,
                                std::int64_t max_tokens, std::int64_t max_pages, const HostPart& host) {
  auto buffers = std::make_unique<Buffers>(model, device, max_tokens);
  if (!buffers->allocate()) {
    return fail(ErrorKind::memory, "forward pass",
                "the activations need " + std::to_string(buffers->bytes >> 20) + " MiB, more than there is",
                "Choose a smaller prefill chunk");
  }
  if (!device.memory_is_host()) {
    FOVEA_TRY(buffers->crossing, Crossing::create(model, device, max_tokens, max_pages));
  }
  if (host.weights != nullptr && !host.weights->empty()) {
    assert(buffers->crossing);
    FOVEA_TRY(buffers->host, HostExperts::create(model.config(), device, host, max_tokens));
  }
  return Forward(std::move(buffers));
}

std::span<const float> Forward::run(const Pass& pass, kernels::Stream& stream) {
  assert(!pass.tokens.empty() && static_cast<std::int64_t>(pass.tokens.size()) <= buffers_->max_tokens);
  assert(static_cast<std::int64_t>(pass.cache.size()) == buffers_->model.config().layer_count());
  Buffers& b = *buffers_;
  Runner runner(b, pass, stream);
  runner.run();
  b.listed = pass.logits == LogitsWanted::likely && b.crossing;
  const std::int64_t rows = b.stopped || b.listed || pass.logits == LogitsWanted::none ? 0
                            : pass.logits == LogitsWanted::all ? std::ssize(pass.tokens)
                                                               : 1;
  std::span<const float> logits{b.at.logits, static_cast<std::size_t>(rows * b.model.config().vocabulary)};
  if (b.crossing && rows > 0) {
    if (rows == 1) b.crossing->read_logits(b.at.logits, 0, 1, 1, stream);
    logits = b.crossing->logits(rows);
  }
  stream.synchronize();
  if (!runner.tell_history()) b.stopped = true;
  return b.stopped ? std::span<const float>{} : logits;
}

std::optional<LikelyTokens> Forward::likely() const {
  if (!buffers_->listed || buffers_->stopped) return std::nullopt;
  return buffers_->crossing->likely();
}

std::span<const float> Forward::all_logits(kernels::Stream& stream) {
  assert(buffers_->listed);
  buffers_->crossing->read_logits(buffers_->at.logits, 0, 1, 1, stream);
  stream.synchronize();
  return buffers_->crossing->logits(1);
}

Result<void> Forward::allow_choices() {
  FOVEA_TRY(buffers_->made_choices,
            MadeChoices::create(buffers_->model.config(), buffers_->device, buffers_->max_tokens));
  return {};
}

void Forward::leave_out(Part part) {
  Buffers& b = *buffers_;
  b.graphs.forget();
  b.left_out = part;
  b.incomplete.reset();
  if (part == Part::none) return;
  kernels::OperationTable& table = b.incomplete.emplace(b.device.operations());
  if (part == Part::experts) table.feed_forward = [](const kernels::FeedForward&, kernels::Stream&) {};
  if (part == Part::attention) table.attention = [](const kernels::Attention&, kernels::Stream&) {};
  if (part == Part::linear) table.linear = [](const kernels::Linear&, kernels::Stream&) {};
}

GraphUse Forward::graphs() const {
  return buffers_->graphs.use();
}

void Forward::use_graphs(bool graphs) {
  buffers_->graphs.use(graphs);
}

void Forward::forget_graphs() {
  buffers_->graphs.forget();
}

bool Forward::stopped() const {
  return buffers_->stopped;
}

Forward::Bytes Forward::bytes() const {
  const Buffers& b = *buffers_;
  if (!b.crossing) return {.device = b.bytes, .host = 0};
  const Crossing::Bytes exchanged = b.crossing->bytes();
  return {.device = b.bytes + exchanged.device,
          .host = exchanged.host + (b.host ? HostExperts::host_bytes(b.model.config(), b.max_tokens) : 0)};
}

Forward::Bytes Forward::bytes_apart(const ModelConfig& config, std::int64_t max_tokens,
                                    std::int64_t max_pages, bool host_computes) {
  const Crossing::Bytes exchanged = Crossing::bytes(config, max_tokens, max_pages);
  return {.device = activation_bytes(config, max_tokens, true) + exchanged.device,
          .host = exchanged.host + (host_computes ? HostExperts::host_bytes(config, max_tokens) : 0)};
}

std::int64_t Forward::activation_bytes(const ModelConfig& config, std::int64_t max_tokens, bool apart) {
  std::int64_t bytes = 0;
  Buffers::Arrays{}.each(config, max_tokens, apart,
                         [&](auto*&, std::int64_t elements) { bytes += array_bytes(elements); });
  return bytes;
}

}  // namespace fovea::layers
