// An architecture is data: what the forward pass must know about a model, from GGUF keys or config.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/model_info.h"
#include "kernels/api/operations.h"

namespace fovea::checkpoint {
class Checkpoint;
}

namespace fovea::models {

enum class RopeScaling : std::uint8_t { none, linear, dynamic, yarn, llama3 };

struct RopeConfig {
  double theta = 10000;
  std::int64_t rotary = 0;  // elements of each head that rotate
  kernels::RotaryStyle style = kernels::RotaryStyle::half_split;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;
  std::int64_t original_context = 0;
  double beta_fast = 32, beta_slow = 1;                        // YaRN
  bool truncate = true;                                        // YaRN: the ramp's bounds are whole dimensions
  double attention_factor = 0;                                 // YaRN; 0: 0.1 ln(factor) + 1
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama-3
  std::vector<float> frequency_factors;  // GGUF's rope_freqs tensor, [rotary / 2]; may be empty
};

struct ModelConfig {
  std::string name;
  std::string architecture;  // "llama", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "mixtral"
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // d
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t feed_forward = 0;  // width of dense layers
  double norm_eps = 1e-6;
  bool tied_embeddings = false;
  bool qk_norm = false;
  bool qkv_bias = false;
  bool output_bias = false;
  RopeConfig rope;
  // Mixture of experts; experts = 0: dense.
  std::int64_t experts = 0;
  std::int64_t experts_used = 0;
  std::int64_t expert_width = 0;
  std::int64_t shared_width = 0;      // 0: no shared expert
  bool normalise_router = false;      // the chosen weights are divided by their sum
  double router_scale = 1;            // multiplies the chosen weights
  std::vector<bool> sparse_layers;    // [layers]: which have experts; empty: all (when experts > 0)
  std::vector<std::int64_t> windows;  // [layers]: sliding window in tokens, 0: none; empty: none anywhere

  bool layer_has_experts(std::int64_t layer) const {
    return experts > 0 && (sparse_layers.empty() || sparse_layers[static_cast<std::size_t>(layer)]);
  }
  std::int64_t window(std::int64_t layer) const {
    return windows.empty() ? 0 : windows[static_cast<std::size_t>(layer)];
  }
};

// Refuses by name what is not supported (architecture, activation, rope type, sliding window …).
Result<ModelConfig> read_config(const checkpoint::Checkpoint&);

// What inspect() tells, of a checkpoint that is open already.
Result<ModelInfo> describe(const checkpoint::Checkpoint&);

// The rotary inverse frequencies, [rotary / 2], and the magnitude that multiplies cos and sin. `context` is
// the trained one, `tokens` the sequence's whole length: only dynamic scaling depends on it, and a sequence
// keeps one length for all its passes, so that cached keys and later queries rotate alike. In generation that
// length is the session's context (as in vLLM): up to the trained one nothing is scaled, as in transformers;
// in a longer one everything is scaled for the whole context from the first token on, where transformers
// scales by the length so far and leaves earlier keys as they were. Logits of a given sequence take its own
// length, as a single pass of transformers does.
struct RotaryTable {
  std::vector<float> inverse_frequency;
  float magnitude = 1;
};
RotaryTable rotary_table(const RopeConfig&, std::int64_t context, std::int64_t tokens);

}  // namespace fovea::models
