// The steps of a pass in which others than its mathematics take part: the host computes experts, somebody
// watches, somebody stops it. Each of them wraps the steps of those behind it (host_experts.h,
// observation.h); the innermost give them to the device.
#pragma once

#include "engine/layers/pass.h"
#include "engine/layers/staging.h"
#include "kernels/api/operations.h"

namespace fovea::layers {

class Steps {
 public:
  virtual ~Steps() = default;
  using Input = PassObserver::Input;

  // The matrices of a layer that read `input`, for these rows, and what comes behind them.
  virtual void project(std::int64_t layer, Input input, const Rows& rows, const kernels::Linear& linear) = 0;
  // The router's choices for these rows: where they lie.
  virtual Routed route(std::int64_t layer, const Rows& rows, kernels::Router router) = 0;
  // A dense part beside experts that are computed apart.
  virtual void dense(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block) = 0;
  // The whole feed-forward part for these rows, but for that, and what comes behind it. False: the pass ends
  // here.
  virtual bool feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) = 0;
  // What comes behind a block whose output was not whole before.
  virtual void norm(const kernels::RmsNorm& norm) = 0;
  // Logits of wanted rows, those from `first` on of all that are wanted; without outputs' addresses. cap 0:
  // they are not capped.
  virtual void logits(std::int64_t first, kernels::Linear linear, const kernels::Weight& weight,
                      float cap) = 0;
};

// They hand everything on.
class WrappedSteps : public Steps {
 public:
  explicit WrappedSteps(Steps& inner) : inner_(inner) {}
  void project(std::int64_t layer, Input input, const Rows& rows, const kernels::Linear& linear) override {
    inner_.project(layer, input, rows, linear);
  }
  Routed route(std::int64_t layer, const Rows& rows, kernels::Router router) override {
    return inner_.route(layer, rows, router);
  }
  void dense(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block) override {
    inner_.dense(layer, rows, block);
  }
  bool feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) override {
    return inner_.feed_forward(layer, rows, block);
  }
  void norm(const kernels::RmsNorm& norm) override { inner_.norm(norm); }
  void logits(std::int64_t first, kernels::Linear linear, const kernels::Weight& weight, float cap) override {
    inner_.logits(first, linear, weight, cap);
  }

 protected:
  Steps& inner_;
};

// The device does them, with what is staged for it.
class DeviceSteps final : public Steps {
 public:
  DeviceSteps(const kernels::OperationTable& operations, Staging& staging, kernels::Stream& stream)
      : op_(operations), staging_(staging), stream_(stream) {}

  void project(std::int64_t, Input, const Rows&, const kernels::Linear& linear) override {
    op_.linear(linear, stream_);
  }
  Routed route(std::int64_t layer, const Rows& rows, kernels::Router router) override {
    const Routed routed = staging_.routed(layer, rows.count);
    router.ids = routed.ids;
    router.weights = routed.weights;
    op_.router(router, stream_);
    return routed;
  }
  void dense(std::int64_t, const Rows&, const kernels::FeedForward& block) override {
    op_.feed_forward(block, stream_);
  }
  bool feed_forward(std::int64_t layer, const Rows&, kernels::FeedForward block) override {
    if (!block.experts.empty()) block.table = staging_.experts(layer, stream_);
    op_.feed_forward(block, stream_);
    return true;
  }
  void norm(const kernels::RmsNorm& norm) override { op_.rms_norm(norm, stream_); }
  void logits(std::int64_t first, kernels::Linear linear, const kernels::Weight& weight, float cap) override;

 private:
  const kernels::OperationTable& op_;
  Staging& staging_;
  kernels::Stream& stream_;
};

// They end where `stop` asks for it, between two layers.
class StoppableSteps final : public WrappedSteps {
 public:
  StoppableSteps(Steps& inner, const std::stop_token& stop) : WrappedSteps(inner), stop_(stop) {}
  bool feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) override {
    return !stop_.stop_requested() && inner_.feed_forward(layer, rows, block);
  }

 private:
  const std::stop_token& stop_;
};

}  // namespace fovea::layers
