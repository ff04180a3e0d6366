// Tells an observer what the steps of a pass read, when they are about to read it or, where that would mean
// waiting for the device in each layer, behind the pass. A sequence's first token is computed with the
// experts that the observer has for it.
#pragma once

#include <utility>

#include "engine/layers/steps.h"
#include "engine/models/model.h"

namespace fovea::layers {

class ObservedSteps final : public WrappedSteps {
 public:
  ObservedSteps(Steps& inner, PassObserver& observer, const models::Model& model, const Batch& batch,
                Staging& staging, kernels::Stream& stream)
      : WrappedSteps(inner),
        observer_(observer),
        needs_(observer.needs()),
        config_(model.config()),
        layers_(model.range()),
        batch_(batch),
        staging_(staging),
        stream_(stream) {}

  // Whether all is told when the pass has ended: so that a device need not be waited for within it.
  bool tells_later() const { return staging_.comes_late() && needs_ == PassObserver::Needs::history; }

  void project(std::int64_t layer, Input input, const Rows& rows, const kernels::Linear& linear) override {
    tell_input(layer, input, rows, linear.x, linear.columns);
    inner_.project(layer, input, rows, linear);
  }
  void dense(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block) override {
    tell_input(layer, Input::feed_forward, rows, block.x, block.d);
    inner_.dense(layer, rows, block);
  }
  bool feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) override {
    if (block.shared != nullptr) tell_input(layer, Input::feed_forward, rows, block.x, block.d);
    if (block.ids != nullptr && !tells_later() && !tell_choices(layer, rows, block)) return false;
    if (block.ids == nullptr || staging_.comes_late()) return inner_.feed_forward(layer, rows, block);
    const kernels::RmsNorm then = std::exchange(block.then, {});
    if (!inner_.feed_forward(layer, rows, block) || !compute_first_tokens(layer, rows, block)) return false;
    if (then) inner_.norm(then);
    return true;
  }

  // Behind the last step: the choices of all layers at once, for a copy for each would stand between its
  // kernels.
  void read_history() const;
  // When the stream has been synchronised. False: the observer stops the pass.
  bool tell_history() const;

 private:
  // Calls f(where, first of `rows`) for the rows of each segment, until it is false.
  template <class F>
  bool each_segment(std::int64_t layer, const Rows& rows, F&& f) const;
  void tell_input(std::int64_t layer, Input input, const Rows& rows, const float* x,
                  std::int64_t columns) const;
  bool tell_choices(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block) const;
  bool tell(std::int64_t layer, const Rows& rows, const float* x) const;
  bool compute_first_tokens(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block);
  std::int64_t routed_rows(std::int64_t layer) const {
    return config_.layer_has_experts(layer) ? batch_.routed(layer, config_.layer_count()).count : 0;
  }

  PassObserver& observer_;
  const PassObserver::Needs needs_;
  const models::ModelConfig& config_;
  const models::LayerRange layers_;
  const Batch& batch_;
  Staging& staging_;
  kernels::Stream& stream_;
};

}  // namespace fovea::layers
