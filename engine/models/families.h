// The families of models that Fovea runs. Each has a file that says what differs from what all share.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "engine/models/config.h"
#include "engine/models/keys.h"
#include "engine/models/names.h"

namespace fovea::models {

struct Family {
  std::string_view name;                         // Fovea's name
  std::array<std::string_view, 2> gguf;          // general.architecture
  std::array<std::string_view, 2> hugging_face;  // config.json's model_type
  kernels::RotaryStyle gguf_style;               // GGUF's llama files have their q and k rows interleaved
  const TensorNames* folder_names;               // of safetensors
  // Fills in what is the family's own, after read_config has read what all share.
  Result<void> (*configure)(const Keys&, ModelConfig&);
};

extern const Family llama, qwen2, qwen3, qwen2_moe, qwen3_moe, mixtral;

// By general.architecture or model_type; an unknown one is refused by name.
Result<const Family*> find_family(const Keys&);
const TensorNames& tensor_names(const Family&, bool gguf);

// Values that several families share.
inline constexpr std::int64_t max_width = 1 << 24;
inline constexpr std::int64_t max_experts = 4096;
inline constexpr Key attention_bias_key{"", "attention_bias"};
inline constexpr Key expert_width_key{"expert_feed_forward_length", "moe_intermediate_size"};
inline constexpr Key sliding_window_key{"attention.sliding_window", "sliding_window"};

// experts, experts_used and the router's options. Names the key that is wrong.
Result<void> read_experts(const Keys&, ModelConfig&, bool normalise_otherwise);
// decoder_sparse_step and mlp_only_layers of config.json.
Result<void> read_sparse_layers(const Keys&, ModelConfig&);

// Which layers slide when a folder gives a window but no layer_types.
enum class WindowDefault { all_layers, from_max_window_layers, must_be_listed };
Result<void> read_windows(const Keys&, ModelConfig&, WindowDefault);

}  // namespace fovea::models
