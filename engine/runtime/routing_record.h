// Keeps what the routers of a pass chose until it has ended, and tells it on to who observes the pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/api/trace.h"
#include "engine/layers/pass.h"

namespace fovea::runtime {

class RoutingRecord final : public layers::PassObserver {
 public:
  // Of these layers, where a token uses `used` experts.
  RoutingRecord(const std::vector<ExpertLayer>& layers, std::int64_t used) : used_(used) {
    for (const ExpertLayer& layer : layers) {
      index_.resize(static_cast<std::size_t>(layer.layer) + 1, -1);
      index_.back() = std::ssize(kept_);
      kept_.emplace_back();
    }
  }

  // What the next pass is to be told, when `inner` observes it; null: nobody else does.
  layers::PassObserver* around(layers::PassObserver* inner) {
    inner_ = inner;
    return this;
  }

  Needs needs() const override { return inner_ ? inner_->needs() : Needs::history; }

  bool routed(const Where& where, const float* x, const std::int32_t* ids, const float* weights) override {
    Kept& kept = kept_[static_cast<std::size_t>(index_[static_cast<std::size_t>(where.layer)])];
    kept.ids.assign(ids, ids + where.tokens * used_);
    kept.weights.assign(weights, weights + where.tokens * used_);
    return !inner_ || inner_->routed(where, x, ids, weights);
  }

  std::span<const ExpertWeights> first_token(std::int64_t layer, std::span<const std::int32_t> ids) override {
    return inner_ ? inner_->first_token(layer, ids) : std::span<const ExpertWeights>();
  }

  void input(const Where& where, Input input, const float* x) override {
    if (inner_) inner_->input(where, input, x);
  }

  // Of the pass that ended last; valid until the next one.
  std::span<const LayerRouting> layers() {
    view_.clear();
    for (const Kept& kept : kept_)
      view_.push_back({.tokens = std::ssize(kept.ids) / used_, .ids = kept.ids, .weights = kept.weights});
    return view_;
  }

 private:
  struct Kept {
    std::vector<std::int32_t> ids;  // [tokens, used]
    std::vector<float> weights;     // [tokens, used]
  };
  std::int64_t used_;
  std::vector<std::ptrdiff_t> index_;  // of a layer of the model in kept_
  std::vector<Kept> kept_;
  std::vector<LayerRouting> view_;
  layers::PassObserver* inner_ = nullptr;
};

}  // namespace fovea::runtime
