#include "engine/layers/forward.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "engine/api/limits.h"
#include "engine/core/result.h"
#include "engine/layers/errors.h"
#include "engine/layers/first_layers.h"
#include "engine/layers/observation.h"
#include "engine/layers/steps.h"
#include "engine/layers/transformer.h"

namespace fovea::layers {

using models::ModelConfig;

struct Forward::State {
  State(const models::Model& m, const kernels::Device& on, const PassLimits& most)
      : model(m), device(on), limits(most) {}
  ~State() {
    if (memory != nullptr) device.release(memory, bytes);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool allocate();
  void rotate_for(std::int64_t context, kernels::Stream& stream);
  bool may_be_graph(const Pass& pass) const;
  bool run_as_graph(const Pass& pass, const Batch& batch, kernels::Stream& stream, const Graphs::Work& work);

  const models::Model& model;
  const kernels::Device& device;
  const PassLimits limits;
  std::byte* memory = nullptr;  // the activations'
  std::int64_t bytes = 0;
  Activations activations;
  Rotary rotary;
  std::int64_t rotated_context = -1;  // that the rotary tables are for
  std::unique_ptr<Staging> staging;
  std::unique_ptr<FirstLayers> before;  // null where the device computes the first layer
  std::unique_ptr<HostExperts> host;    // null where it has all weights of its layers
  std::int64_t rows = 0;                // of the last run
  Graphs graphs;
  std::vector<kernels::Weight> inside;  // for graphs: every weight but the experts
  bool stopped = false;
  std::vector<float> hidden;  // of the last run
};

bool Forward::State::allocate() {
  const Activations::Place place =
      Activations::place(device, model.range().end == model.config().layer_count());
  bytes = Activations::bytes(model.config(), limits.tokens, place);
  memory = device.allocate(bytes);
  if (memory == nullptr) return false;
  activations = Activations::in(memory, model.config(), limits.tokens, place);
  return true;
}

void Forward::State::rotate_for(std::int64_t context, kernels::Stream& stream) {
  // Only dynamic scaling looks at the sequence's length.
  const std::vector<models::RopeConfig>& tables = model.config().rotary;
  const auto is_dynamic = [](const auto& rope) { return rope.scaling == models::RopeScaling::dynamic; };
  if (std::ranges::none_of(tables, is_dynamic)) context = 0;
  if (context == rotated_context) return;
  std::vector<float> values;
  rotary.tables.clear();
  for (const models::RopeConfig& rope : tables) {
    const models::RotaryTable table = models::rotary_table(rope, model.config().context, context);
    rotary.tables.push_back({activations.inverse_frequency + std::ssize(values), table.magnitude});
    values.insert(values.end(), table.inverse_frequency.begin(), table.inverse_frequency.end());
  }
  staging->rotary(values, stream);
  rotated_context = context;
}

// What is captured has few rows: operations of more look at the host's handles of experts, which a captured
// one would not see change.
static_assert(max_sequences <= kernels::max_quantised_rows);

// Decoding where no observer has to know or do anything in the middle of the pass.
bool Forward::State::may_be_graph(const Pass& pass) const {
  const auto decodes = [](const Segment& segment) {
    return segment.tokens.size() == 1 && segment.logits != LogitsWanted::none && !segment.hidden;
  };
  return staging->comes_late() && (!host || host->asks()) && std::ranges::all_of(pass.segments, decodes) &&
         (pass.observer == nullptr || pass.observer->needs() == PassObserver::Needs::history);
}

// False: the pass was stopped.
bool Forward::State::run_as_graph(const Pass& pass, const Batch& batch, kernels::Stream& stream,
                                  const Graphs::Work& work) {
  inside.assign({model.embedding(), model.output(), model.layer_embedding(), model.layer_projection()});
  for (const models::LayerWeights& w : model.layers()) {
    const models::AttentionWeights& a = w.attention;
    inside.insert(inside.end(),
                  {a.q, a.k, a.v, a.output, w.delta.z, w.delta.a, w.delta.b, w.router, w.shared.gate,
                   w.shared.up, w.shared.down, w.shared_gate, w.input.gate, w.input.output});
  }
  for (std::int64_t layer = 0; layer < model.config().layer_count(); ++layer)
    if (model.config().layer_has_experts(layer)) staging->experts(layer, stream);
  const kernels::KvPages& pages = batch.parts.front().pages.front();
  Graphs::Shape shape{.parts = {},
                      .page_tokens = pages.page_tokens,
                      .cache_type = pages.type,
                      .observed = pass.observer != nullptr,
                      .top_k = staging->finds_top_k()};
  for (const Batch::Part& part : batch.parts)
    shape.parts.push_back({.max_first = part.first, .state = part.state});
  return graphs.run(shape, inside, stream, pass.stop, work).whole;
}

Forward::Forward(std::unique_ptr<State> state) : state_(std::move(state)) {}
Forward::Forward(Forward&&) noexcept = default;
Forward& Forward::operator=(Forward&&) noexcept = default;
Forward::~Forward() = default;

Result<Forward> Forward::create(const models::Model& model, const kernels::Device& device,
                                const PassLimits& limits, const HostPart& host) {
  auto state = std::make_unique<State>(model, device, limits);
  if (!state->allocate()) {
    return fail(phrases::forward_pass_place(), errors::no_memory_for_activations(state->bytes >> 20));
  }
  FOVEA_TRY(state->staging, Staging::create(model, device, state->limits, state->activations));
  if (host.first_layers != nullptr) {
    FOVEA_TRY(state->before, FirstLayers::create(host, device, limits));
  }
  if (host.weights != nullptr && !host.weights->empty()) {
    assert(!device.memory_is_host());
    FOVEA_TRY(state->host,
              HostExperts::create(model.config(), device, host, limits.tokens, state->staging->rounds()));
  }
  return Forward(std::move(state));
}

std::span<const float> Forward::run(const Pass& pass, kernels::Stream& stream) {
  State& s = *state_;
  assert(!pass.segments.empty() && std::ssize(pass.segments) <= s.limits.segments);
  s.rotate_for(pass.context, stream);
  const Batch& batch = s.staging->begin(pass, stream);
  assert(batch.rows <= s.limits.tokens);
  s.rows = batch.rows;
  s.stopped = s.before && !s.before->run(pass, s.activations.x, stream);
  s.hidden.clear();
  if (s.stopped) {
    stream.synchronize();
    return {};
  }

  // The device's steps, and what is wrapped around them.
  const kernels::OperationTable& operations = s.device.operations();
  DeviceSteps on_device(operations, *s.staging, stream);
  Steps* steps = &on_device;
  std::optional<HostExperts::PassSteps> with_host;
  if (s.host) steps = &with_host.emplace(*steps, *s.host, s.activations.h, *s.staging, s.graphs, stream);
  std::optional<ObservedSteps> observed;
  if (pass.observer != nullptr)
    steps = &observed.emplace(*steps, *pass.observer, s.model, batch, *s.staging, stream);
  StoppableSteps stoppable(*steps, pass.stop);

  Transformer transformer(s.model, s.activations, s.rotary, batch, operations, stoppable, stream);
  const auto work = [&] {
    if (!transformer.run()) return false;
    if (s.staging->finds_top_k()) s.staging->find_top_k(operations, stream);
    if (observed) observed->read_history();
    return true;
  };
  s.stopped = pass.stop.stop_requested() ||
              !(s.may_be_graph(pass) ? s.run_as_graph(pass, batch, stream, work) : work());
  const bool is_last = s.model.range().end == s.model.config().layer_count();
  for (const Rows& rows : batch.hidden) {
    if (s.stopped || !is_last) break;
    const std::int64_t d = s.model.config().hidden, count = rows.count * d;
    const float* const values = s.staging->read(s.activations.h + rows.first * d, count, stream);
    s.hidden.insert(s.hidden.end(), values, values + count);
  }
  const std::span<const float> logits =
      s.stopped || !is_last ? std::span<const float>{} : s.staging->logits(stream);
  stream.synchronize();
  if (observed && !s.stopped) s.stopped = !observed->tell_history();
  return s.stopped ? std::span<const float>{} : logits;
}

std::optional<TopKLogits> Forward::top_k(std::int64_t row) const {
  return state_->stopped ? std::nullopt : state_->staging->top_k(row);
}

std::span<const float> Forward::all_logits(kernels::Stream& stream, std::int64_t row) {
  return state_->staging->logits_behind_top_k(row, stream);
}

std::optional<std::int64_t> Forward::take_late() const {
  const auto first = state_->before ? state_->before->forward().take_late() : std::nullopt;
  const auto last = state_->host ? state_->host->take_late() : std::nullopt;
  return first ? first : last;
}

std::span<const float> Forward::hidden() const {
  return state_->hidden;
}

std::span<const float> Forward::residual() const {
  const State& s = *state_;
  if (s.stopped || s.model.range().end == s.model.config().layer_count()) return {};
  return {s.activations.x, static_cast<std::size_t>(s.rows * s.model.config().hidden)};
}

GraphUse Forward::graphs() const {
  return state_->graphs.use();
}

void Forward::use_graphs(bool graphs) {
  state_->graphs.use(graphs);
}

void Forward::forget_graphs() {
  state_->graphs.forget();
}

bool Forward::stopped() const {
  return state_->stopped;
}

Forward::Bytes Forward::bytes() const {
  const State& s = *state_;
  const Staging::Bytes staged = s.staging->bytes();
  Bytes sum{.device = s.bytes + staged.device, .host = staged.host};
  if (s.before) sum.host += s.before->bytes().host;
  if (!s.host) return sum;
  const StreamedExperts::Bytes streaming = s.host->streaming_bytes();
  sum.device += streaming.device;
  sum.host += HostExperts::host_bytes(s.model.config(), s.limits.tokens) + streaming.host;
  return sum;
}

std::int64_t Forward::first_bytes() const {
  return state_->before ? state_->before->bytes().device : 0;
}

kernels::Stream* Forward::first_stream() const {
  return state_->before ? &state_->before->stream() : nullptr;
}

std::int64_t Forward::streamed_layers() const {
  return (state_->before ? state_->before->forward().streamed_layers() : 0) +
         (state_->host ? state_->host->streamed_layers() : 0);
}

std::optional<Error> Forward::not_streamed() const {
  if (streams_from() > 0) return std::nullopt;
  if (state_->before)
    if (auto why = state_->before->forward().not_streamed()) return why;
  return state_->host ? state_->host->not_streamed() : std::nullopt;
}

std::int64_t Forward::streams_from() const {
  return std::max(state_->before ? state_->before->forward().streams_from() : 0,
                  state_->host ? state_->host->streams_from() : 0);
}

Forward::Bytes Forward::first_bytes_apart(const ModelConfig& config, const PassLimits& limits,
                                          bool host_computes) {
  const Staging::Bytes staged = Staging::bytes(config, limits);
  return {
      .device = Activations::bytes(config, limits.tokens, Activations::Place::apart_before) + staged.device,
      .host = staged.host + 4 * limits.tokens * config.hidden +
              (host_computes ? HostExperts::host_bytes(config, limits.tokens) : 0)};
}

Forward::Bytes Forward::bytes_apart(const ModelConfig& config, const PassLimits& limits, bool host_computes) {
  const Staging::Bytes staged = Staging::bytes(config, limits);
  return {.device = Activations::bytes(config, limits.tokens, Activations::Place::apart) + staged.device,
          .host = staged.host + (host_computes ? HostExperts::host_bytes(config, limits.tokens) : 0)};
}

}  // namespace fovea::layers
