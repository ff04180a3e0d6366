// Which part of which tensor becomes which weight: the names are looked up, and every shape and type is
// checked, before any weight is read.
#pragma once

#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/models/config.h"
#include "engine/models/names.h"
#include "kernels/api/operations.h"

namespace fovea::models {

// What a matrix is to the forward pass; decides what one token reads, and what can be a weight unit.
// gate: of experts, heads or states, small beside what it gates, and kept as it is.
enum class Role : std::uint8_t { embedding, output, gate, linear, routed_expert };

// The matrices whose precision somebody else manages: all routed experts, or all linear layers.
enum class UnitScope : std::uint8_t { none, experts, linear_layers };

constexpr bool is_unit(UnitScope scope, Role role) {
  return (scope == UnitScope::experts && role == Role::routed_expert) ||
         (scope == UnitScope::linear_layers && role == Role::linear);
}

// Rows of a tensor's matrices, [rows, columns], that become one weight.
struct MatrixSource {
  const checkpoint::TensorInfo* tensor = nullptr;
  std::int64_t first_row = 0;  // of all the tensor's rows
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Role role = Role::linear;
  bool on_host = false;  // see HostShare

  explicit operator bool() const { return tensor != nullptr; }
  std::int64_t offset() const {
    return first_row * kernels::row_bytes(tensor->type, columns);
  }  // in the tensor
  std::int64_t bytes() const { return rows * kernels::row_bytes(tensor->type, columns); }
  std::int64_t parameters() const { return rows * columns; }
};

// A norm or a bias, kept as float: row `row` of the tensor as rows of `count`. Without a tensor where the
// model has none.
struct VectorSource {
  // What files leave to be done: 1 + w, −e^w, w / √count.
  enum class Change : std::uint8_t { none, plus_one, minus_exponential, over_root_of_count };

  const checkpoint::TensorInfo* tensor = nullptr;
  std::int64_t row = 0;
  std::int64_t count = 0;
  Change change = Change::none;

  explicit operator bool() const { return tensor != nullptr; }
  // [count]
  void read(const checkpoint::Checkpoint&, float* out) const;
};

struct ExpertSource {
  MatrixSource gate, up, down;
  VectorSource gate_bias = {}, up_bias = {}, down_bias = {};
  kernels::Activation activation = kernels::Activation::silu;
};

// What of a layer the host computes for the device: routed experts, or the dense feed-forward layer.
struct HostShare {
  std::vector<bool> experts = {};  // [experts]; or empty: none
  bool shared = false;             // of a layer without experts
};

// Of gated delta what attention has not; b alone where both come from one matrix.
struct DeltaPlan {
  MatrixSource z, a, b;
  VectorSource convolution, rate, step_bias, norm;
};

// What a layer makes of its own input (LayerConfig::per_layer_input).
struct LayerInputPlan {
  MatrixSource gate, output;
  VectorSource post_norm;
};

// What a layer's configuration asks for; `shared` is its dense part, or its shared experts side by side.
struct LayerPlan {
  VectorSource mixer_norm;
  MatrixSource q, k, v, attention_output;  // of attention, or of gated delta
  DeltaPlan delta;
  VectorSource q_bias, k_bias, v_bias, output_bias;
  VectorSource q_norm, k_norm;
  VectorSource sinks;
  VectorSource mixer_post_norm;
  VectorSource feed_forward_norm, feed_forward_post_norm;
  VectorSource dense_post_norm, experts_norm, experts_post_norm;
  MatrixSource router;
  VectorSource router_bias, router_norm, expert_scales;
  std::vector<ExpertSource> experts;
  ExpertSource shared;
  MatrixSource shared_gate;
  LayerInputPlan layer_input;
  VectorSource output_scale;  // read where the plan is made, not a weight of the device
};

struct WeightPlan {
  MatrixSource embedding, output;  // the same tensor when tied
  VectorSource output_norm;
  MatrixSource layer_embedding, layer_projection;  // of the layers' own inputs, for all of them
  VectorSource layer_projection_norm;
  std::vector<LayerPlan> layers;
  std::vector<std::string> ignored;  // tensors that the model does not use

  // Calls f(source) for every matrix in the order of the pass; a tied table comes once, as the output.
  template <class F>
  void each_matrix(F&& f) const {
    if (embedding && embedding.tensor != output.tensor) f(embedding);
    if (layer_embedding) {
      f(layer_embedding);
      f(layer_projection);
    }
    for (const LayerPlan& layer : layers) {
      for (const MatrixSource* source : {&layer.q, &layer.k, &layer.v, &layer.delta.z, &layer.delta.a,
                                         &layer.delta.b, &layer.attention_output, &layer.router}) {
        if (*source) f(*source);
      }
      for (const ExpertSource& expert : layer.experts) {
        f(expert.gate);
        f(expert.up);
        f(expert.down);
      }
      for (const MatrixSource* source :
           {&layer.shared_gate, &layer.shared.gate, &layer.shared.up, &layer.shared.down,
            &layer.layer_input.gate, &layer.layer_input.output}) {
        if (*source) f(*source);
      }
    }
    if (output) f(output);
  }
  // Calls f(source, whether it is a routed expert's) for every vector.
  template <class F>
  void each_vector(F&& f) const {
    for (const LayerPlan& layer : layers) {
      for (const VectorSource* source : {&layer.mixer_norm,
                                         &layer.q_bias,
                                         &layer.k_bias,
                                         &layer.v_bias,
                                         &layer.output_bias,
                                         &layer.q_norm,
                                         &layer.k_norm,
                                         &layer.sinks,
                                         &layer.delta.convolution,
                                         &layer.delta.rate,
                                         &layer.delta.step_bias,
                                         &layer.delta.norm,
                                         &layer.mixer_post_norm,
                                         &layer.feed_forward_norm,
                                         &layer.feed_forward_post_norm,
                                         &layer.dense_post_norm,
                                         &layer.experts_norm,
                                         &layer.experts_post_norm,
                                         &layer.router_bias,
                                         &layer.router_norm,
                                         &layer.expert_scales,
                                         &layer.layer_input.post_norm}) {
        if (*source) f(*source, false);
      }
      for (const ExpertSource& expert : layer.experts) {
        for (const VectorSource* source : {&expert.gate_bias, &expert.up_bias, &expert.down_bias})
          if (*source) f(*source, true);
      }
    }
    if (layer_projection_norm) f(layer_projection_norm, false);
    if (output_norm) f(output_norm, false);
  }
};

// Marks the matrices of what the host computes: [layers]; or empty: nothing.
void leave_to_host(const std::vector<HostShare>& shares, WeightPlan& plan);

// Layers that stand behind each other: from `first` to before `end`.
struct LayerRange {
  std::int64_t first = 0, end = 0;
  bool operator==(const LayerRange&) const = default;
};
// Whether the layers before `at` can be computed elsewhere than those behind: nothing but the residual stream
// goes from one to the other.
bool can_divide(const ModelConfig& config, std::int64_t at);
// Leaves the others' weights out: the embedding goes with the first layer, the output with the last.
void keep_layers(const LayerRange& layers, WeightPlan& plan);

// Names what of the configuration cannot be run (check), and the tensor that is missing, or whose shape or
// type is not what the configuration says. A tensor of a layer that nothing uses is refused as well: the
// model would compute something else.
Result<WeightPlan> plan_weights(const checkpoint::Checkpoint&, const ModelConfig&);

}  // namespace fovea::models
