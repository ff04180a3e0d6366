// How checkpoints call a model's tensors, as data. {l} stands for the layer and {e} for the expert. A bias
// has its matrix's name with ".bias" instead of ".weight".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::models {

// The experts of one layer, in one of three forms:
//   gate, up, down with {e}:     a matrix for each expert
//   gate, up, down without {e}:  one tensor [experts, rows, columns] for each of the three
//   gate_up and down:            [experts, 2 · width, d], each expert's gate rows and then its up rows
struct ExpertNames {
  std::string_view gate, up, down;
  std::string_view gate_up = {};
};

// A layer of gated delta: q, k and v in one matrix, or where that is not there each in its own.
struct DeltaNames {
  std::string_view qkv, q, k, v, z, output;
  std::string_view a, b;     // or both in one
  std::string_view ab = {};  // …
  std::string_view convolution, rate, step_bias, norm;
};

// An input of its own for each layer: a table and a product of the embedding for all layers, and what each
// layer makes of its part.
struct PerLayerNames {
  std::string_view embedding, projection, norm;
  std::string_view gate, output, post_norm;
};

struct TensorNames {
  std::string_view embedding, output_norm, output;
  std::string_view mixer_norm, q, k, v, attention_output, q_norm, k_norm, sinks;
  std::string_view qkv = {};  // all three in one matrix, where that is there
  std::string_view mixer_post_norm = {};
  DeltaNames delta = {};
  std::string_view feed_forward_norm;
  std::string_view feed_forward_post_norm = {};
  // Of a dense branch and of experts beside it.
  std::string_view dense_post_norm = {}, experts_norm = {}, experts_post_norm = {};
  std::string_view router_scale = {}, expert_scales = {};
  std::string_view output_scale = {};
  PerLayerNames per_layer = {};
  std::string_view gate, up, down;  // a dense layer
  std::array<std::string_view, 2> router;
  std::string_view shared_gate, shared_up, shared_down, shared_expert_gate;
  std::array<ExpertNames, 3> experts;  // the first whose tensors are there
};

// GGUF's families use the same names, but for the norm of the feed-forward part of some.
extern const TensorNames gguf_names;
extern const TensorNames gguf_gpt_oss_names;
extern const TensorNames gguf_qwen_next_names;
extern const TensorNames gguf_gemma_names;
// Hugging Face: dense families; experts under "mlp" (Qwen); experts under "block_sparse_moe" (Mixtral).
extern const TensorNames dense_names;
extern const TensorNames qwen_moe_names;
extern const TensorNames mixtral_names;
extern const TensorNames gpt_oss_names;
extern const TensorNames qwen_next_names;
extern const TensorNames gemma_names;

std::string expand(std::string_view pattern, std::int64_t layer, std::int64_t expert = 0);
// "x.weight" -> "x.bias"
std::string bias_of(std::string_view weight);

}  // namespace fovea::models
