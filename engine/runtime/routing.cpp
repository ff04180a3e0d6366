// What the routers choose while a sequence is computed.
#include <algorithm>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/device_words.h"
#include "engine/core/result.h"
#include "engine/runtime/entropy.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"

namespace fovea {
namespace {

// Keeps the choices of a pass until it has ended.
class RoutingWatch final : public layers::PassObserver {
 public:
  RoutingWatch(const std::vector<ExpertLayer>& layers, std::int64_t used) : used_(used) {
    for (const ExpertLayer& layer : layers) {
      index_.resize(static_cast<std::size_t>(layer.layer) + 1, -1);
      index_.back() = std::ssize(kept_);
      kept_.emplace_back();
    }
  }

  Needs needs() const override { return Needs::history; }

  bool routed(const Where& where, const float*, const std::int32_t* ids, const float* weights) override {
    Kept& kept = kept_[static_cast<std::size_t>(index_[static_cast<std::size_t>(where.layer)])];
    kept.ids.assign(ids, ids + where.tokens * used_);
    kept.weights.assign(weights, weights + where.tokens * used_);
    return true;
  }

  std::span<const LayerRouting> layers() {
    view_.clear();
    for (const Kept& kept : kept_)
      view_.push_back({.tokens = std::ssize(kept.ids) / used_, .ids = kept.ids, .weights = kept.weights});
    return view_;
  }

 private:
  struct Kept {
    std::vector<std::int32_t> ids;
    std::vector<float> weights;
  };
  std::int64_t used_;
  std::vector<std::ptrdiff_t> index_;  // of a layer of the model in kept_
  std::vector<Kept> kept_;
  std::vector<LayerRouting> view_;
};

std::int64_t file_bytes(const kernels::Weight& weight) {
  return weight.rows * kernels::row_bytes(weight.type, weight.columns);
}

}  // namespace

std::vector<ExpertLayer> runtime::expert_layers(const models::Model& model) {
  std::vector<ExpertLayer> found;
  std::int64_t number = 0;
  for (const models::LayerWeights& layer : model.layers()) {
    if (!layer.experts.empty()) {
      const kernels::Expert& expert = layer.experts.front();
      ExpertLayer each{.layer = number, .experts = static_cast<std::int32_t>(layer.experts.size())};
      for (const kernels::Weight* weight : {&expert.gate, &expert.up, &expert.down}) {
        each.parameters += weight->rows * weight->columns;
        each.file_bytes += file_bytes(*weight);
      }
      found.push_back(each);
    }
    ++number;
  }
  return found;
}

std::vector<ExpertLayer> Engine::expert_layers() const {
  return runtime::expert_layers(*parts_->model);
}

std::span<const float> Engine::calibrated_uses() const {
  return parts_->precision ? parts_->precision->calibrated_uses() : std::span<const float>();
}

Result<void> Engine::routing(std::span<const TokenId> tokens, std::int64_t chunk, const RoutingSink& sink,
                             std::stop_token stop) {
  Parts& parts = *parts_;
  const std::int64_t vocabulary = parts.model->config().vocabulary, length = std::ssize(tokens);
  if (length < 1 || length > parts.plan.options.context)
    return fail(phrases::option_place("tokens"),
                errors::tokens_beyond_context(length, parts.plan.options.context));
  RoutingWatch watch(expert_layers(), parts.model->config().experts_used());
  runtime::Sequence sequence = parts.cache->begin({}, 0);
  while (sequence.length() < length) {
    const std::int64_t first = sequence.length();
    const std::int64_t count = std::min({length - first, chunk, parts.plan.options.chunk});
    const auto part = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    FOVEA_CHECK(sequence.reserve(count));
    // All logits are wanted: else the last layer would not route all tokens.
    const layers::Segment segment{.tokens = part,
                                  .first = first,
                                  .pages = sequence.pages(),
                                  .state = sequence.state(),
                                  .logits = layers::LogitsWanted::all};
    const std::span<const float> logits = parts.forward->run(
        {.segments = {segment}, .context = parts.plan.options.context, .stop = stop, .observer = &watch},
        *parts.stream);
    if (const kernels::Failure failure = parts.stream->failure(); !failure.empty())
      return device_failed(parts.device->name(), failure);
    if (parts.forward->stopped()) return fail(phrases::forward_pass_place(), errors::stopped_on_request());
    sequence.commit(part);
    FOVEA_CHECK(sink(
        {.tokens = count, .entropy = runtime::mean_entropy(logits, vocabulary), .layers = watch.layers()}));
  }
  sequence.discard();
  return {};
}

}  // namespace fovea
