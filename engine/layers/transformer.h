// The model's mathematics, as the papers have it. Where a pass runs, who watches it and who computes a part
// of it is wrapped around from outside (steps.h, staging.h, graphs.h).
#pragma once

#include "engine/layers/activations.h"
#include "engine/layers/pass.h"
#include "engine/layers/steps.h"
#include "engine/models/model.h"

namespace fovea::layers {

class Transformer {
 public:
  Transformer(const models::Model& model, const Activations& activations, const Rotary& rotary,
              const Batch& batch, const kernels::OperationTable& operations, Steps& steps,
              kernels::Stream& stream)
      : model_(model),
        config_(model.config()),
        a_(activations),
        rotary_(rotary),
        batch_(batch),
        op_(operations),
        steps_(steps),
        stream_(stream) {}

  // The layers that the model has, of which the first begins with tokens or with what x holds. Behind the
  // last one: logits of the wanted rows, and in h the output of those that are wanted; behind another one x.
  // Keys and values go into the segments' pages. False: it has ended early.
  bool run();

 private:
  void embed();
  kernels::RmsNorm behind(const float* output_norm, float scale, const float* weight) const;
  const float* next_norm(std::int64_t layer) const;
  void norm(const float* x, const float* weight, float* out, std::byte* quantised);
  void mix(std::int64_t layer);
  void attention(std::int64_t layer, const models::AttentionConfig& config, const models::LayerWeights& w);
  void queries_keys_and_values(std::int64_t layer, const models::AttentionConfig& config,
                               const models::AttentionWeights& weights);
  void attend(std::int64_t layer, const models::AttentionConfig& config, const models::LayerWeights& w);
  void gated_delta(std::int64_t layer, const models::GatedDeltaConfig& config, const models::LayerWeights& w);
  void project_output(std::int64_t layer, std::int64_t width, const models::LayerWeights& w,
                      const std::byte* quantised);
  bool feed_forward(std::int64_t layer);
  bool branches(std::int64_t layer, const models::LayerWeights& w, kernels::FeedForward block);
  void choose_experts(std::int64_t layer, const models::LayerWeights& w, kernels::FeedForward& block);
  void make_layer_inputs();
  void add_layer_input(std::int64_t layer, const models::LayerWeights& w);
  void logits();

  float* row(float* of, std::int64_t width, std::int64_t index) const { return of + index * width; }
  // Of an operation that computes these rows alone, all that are left.
  std::byte* quantised(std::byte* buffer, const Rows& rows) const { return rows == rows_ ? buffer : nullptr; }

  const models::Model& model_;
  const models::ModelConfig& config_;
  const Activations& a_;
  const Rotary& rotary_;
  const Batch& batch_;
  const kernels::OperationTable& op_;
  Steps& steps_;
  kernels::Stream& stream_;
  std::int64_t state_at_ = 0;  // floats of a sequence's state that belong to the layers before
  Rows rows_;                  // that are computed: all, of the last layer those that are wanted
};

}  // namespace fovea::layers
