// Published models as shapes: enough to plan without their files. The numbers are those of the models'
// config.json files and model cards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/checkpoint/tensor_info.h"
#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "kernels/api/types.h"

namespace fovea::precision {

// Gated DeltaNet, in the layers between those with full attention.
struct LinearAttention {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t head_dim = 0;     // of keys and of values
  std::int64_t convolution = 0;  // positions
};

// Gemma 4's layers that see everything.
struct WideAttention {
  std::int64_t kv_heads = 0;  // 0: as the other layers'
  std::int64_t head_dim = 0;
  bool values_are_keys = false;
};

struct ModelShape {
  std::string_view name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // d
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t experts = 0;  // in each layer
  std::int64_t experts_used = 0;
  std::int64_t expert_width = 0;
  std::int64_t dense_width = 0;                     // of the feed-forward part, alone or beside experts
  std::int64_t shared_width = 0;                    // 0: no shared expert
  kernels::Type expert_type = kernels::Type::bf16;  // as published
  bool qk_norm = false;
  bool tied = false;                    // the output is the embedding's table
  bool attention_gate = false;          // q_proj also makes a gate of the same size
  bool biases = false;                  // of attention, router and experts; and a sink for each head
  bool norms_behind = false;            // of both blocks, and of experts beside a dense part
  std::int64_t per_layer_input = 0;     // width of a vector for each token and layer
  std::int64_t shared_kv_layers = 0;    // the last so many read the keys and values of earlier ones …
  bool double_wide = false;             // … and are twice as wide in their feed-forward part
  std::int64_t window = 0;              // of all layers but …
  std::int64_t window_interval = 2;     // … each so many-th, which sees everything; window 0: all do
  WideAttention wide = {};              // the heads of those, where they are others
  std::int64_t attention_interval = 1;  // every so many layers one has full attention …
  LinearAttention linear = {};          // … and the others this
};

std::span<const ModelShape> model_shapes();
// ErrorKind::not_found tells the names that are known.
Result<const ModelShape*> find_shape(std::string_view name);

// What is not an expert, in weights.
struct DenseWeights {
  std::int64_t embeddings = 0;    // both tables, or the one, and that of the layers' inputs
  std::int64_t attention = 0;     // full and linear
  std::int64_t feed_forward = 0;  // where there are no experts
  std::int64_t layer_inputs = 0;  // what makes them of the token, and what adds them
  std::int64_t shared_experts = 0;
  std::int64_t routers = 0;
  std::int64_t vectors = 0;  // norms, biases, sinks, convolutions: kept as floats

  std::int64_t matrices() const {
    return embeddings + attention + feed_forward + layer_inputs + shared_experts + routers;
  }
};
DenseWeights dense_weights(const ModelShape& shape);
// Tables of which a token reads one row.
std::int64_t looked_up_weights(const ModelShape& shape);
std::int64_t expert_weights(const ModelShape& shape);  // of all experts
std::int64_t dense_bytes(const ModelShape& shape, kernels::Type matrices);
// Of a token, in the matrices without the output.
std::int64_t multiply_adds(const ModelShape& shape);

// The shape's layers, whether Fovea can run them or not: what is counted follows this list.
models::ModelConfig config_of(const ModelShape& shape);

// The experts of a shape as tensors without content, under their GGUF names, for UnitTable.
struct ShapeWeights {
  std::vector<std::unique_ptr<checkpoint::TensorInfo>> tensors;
  models::WeightPlan plan;
};
ShapeWeights weights_of(const ModelShape& shape);

}  // namespace fovea::precision
