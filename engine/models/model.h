// A model in memory: its architecture as data, and its weights as a device reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/progress.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "kernels/api/device.h"

namespace fovea::models {

// Of attention, or of gated delta.
struct AttentionWeights {
  kernels::Weight q, k, v, output;  // [heads·head_dim, d], [kv_heads·head_dim, d] twice, [d, heads·head_dim]
  const float* q_bias = nullptr;    // null where the family has none
  const float* k_bias = nullptr;
  const float* v_bias = nullptr;
  const float* output_bias = nullptr;
  const float* q_norm = nullptr;  // [head_dim], QK-norm
  const float* k_norm = nullptr;
  const float* sinks = nullptr;  // [heads]
};

// Of gated delta what attention has not (kernels::GatedDelta).
struct DeltaWeights {
  kernels::Weight z;                   // [value_heads · value_dim, d]
  kernels::Weight a, b;                // [value_heads, d] each, or both in b
  const float* convolution = nullptr;  // [channels, positions]
  const float* rate = nullptr;         // [value_heads]
  const float* step_bias = nullptr;    // [value_heads]
  const float* norm = nullptr;         // [value_dim]
};

// What a layer makes of its own input (LayerConfig::per_layer_input, p wide).
struct LayerInputWeights {
  kernels::Weight gate;              // [p, d]
  kernels::Weight output;            // [d, p]
  const float* post_norm = nullptr;  // [d]
};

struct LayerWeights {
  const float* mixer_norm = nullptr;       // [d]
  const float* mixer_post_norm = nullptr;  // [d], or null
  AttentionWeights attention;
  DeltaWeights delta;
  const float* feed_forward_norm = nullptr;       // [d]
  const float* feed_forward_post_norm = nullptr;  // [d], or null
  // Of the dense branch and the experts where they stand side by side, each [d]; or null.
  const float* dense_post_norm = nullptr;
  const float* experts_norm = nullptr;
  const float* experts_post_norm = nullptr;
  const float* router_norm = nullptr;    // [d]: of the residual stream, in place of the layer's norm; or null
  const float* expert_scales = nullptr;  // [experts], or null
  LayerInputWeights input;
  float output_scale = 1;
  kernels::Weight router;                // [experts, d]; empty in a dense layer
  const float* router_bias = nullptr;    // [experts]
  std::vector<kernels::Expert> experts;  // routed; empty in a dense layer
  std::uint64_t revision = 0;            // of `experts`: whoever changes one of them adds 1
  kernels::Expert shared;                // the dense part, or the shared experts side by side; may be empty
  kernels::Weight shared_gate;           // [1, d]: sigmoid gates the shared experts; may be empty
};

class Model {
 public:
  // Checks that the configuration can be run, and every tensor's presence, shape and type against the
  // configuration before any weight is read, then maps or packs the weights. Progress counts bytes and names
  // tensors. The weights of units stay without data: whoever asked for them publishes a version of each
  // through handles() before the first pass. So do those of `host` [layers], which HostWeights brings to the
  // host. `layers`: these alone, where can_divide() allows it.
  static Result<Model> load(checkpoint::Checkpoint, const kernels::Device&, int threads,
                            const ProgressSink& = {}, std::stop_token = {}, UnitScope units = UnitScope::none,
                            const std::vector<HostShare>& host = {},
                            const std::optional<LayerRange>& layers = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelConfig& config() const { return config_; }
  const LayerRange& range() const { return range_; }               // of the layers whose weights it has
  const kernels::Weight& embedding() const { return embedding_; }  // [vocabulary, d], Packing::rows
  const kernels::Weight& output() const { return output_; }        // [vocabulary, d]
  const float* output_norm() const { return output_norm_; }        // [d]
  // Of the layers' own inputs, for all layers: [vocabulary, layers · p], [layers · p, d], [p].
  const kernels::Weight& layer_embedding() const { return layer_embedding_; }
  const kernels::Weight& layer_projection() const { return layer_projection_; }
  const float* layer_projection_norm() const { return layer_projection_norm_; }
  const std::vector<LayerWeights>& layers() const { return layers_; }
  // What the next pass reads. To be changed only between passes, by the thread that runs them.
  std::vector<LayerWeights>& handles() { return layers_; }
  // Resident: packed and mapped; without units.
  std::int64_t weight_bytes() const { return weight_bytes_; }
  // Bytes of weights that decoding one token reads, every one as the file has it.
  std::int64_t bytes_per_token() const { return bytes_per_token_; }
  // Tensors of the file that the model does not use.
  const std::vector<std::string>& ignored_tensors() const { return ignored_tensors_; }
  const checkpoint::Checkpoint& checkpoint() const;
  const WeightPlan& plan() const;

 private:
  struct Memory;  // the arena and the mapped file
  friend class Loader;
  Model();
  ModelConfig config_;
  LayerRange range_;
  kernels::Weight embedding_, output_;
  kernels::Weight layer_embedding_, layer_projection_;
  const float* output_norm_ = nullptr;
  const float* layer_projection_norm_ = nullptr;
  std::vector<LayerWeights> layers_;
  std::int64_t weight_bytes_ = 0;
  std::int64_t bytes_per_token_ = 0;
  std::vector<std::string> ignored_tensors_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace fovea::models
