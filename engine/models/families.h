// The families of models that Fovea runs: what of each differs from what all share.
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
  const TensorNames* gguf_names = &models::gguf_names;
  // YaRN's ramp ends at whole dimensions; GGUF files do not say it, folders do.
  bool yarn_truncates = true;
  // The share of a head that turns where the file does not say; of a family where it is 1 no other is run.
  double rotary_share = 1;
  bool rotary_by_kind = false;  // config.json gives rotary parameters for each entry of layer_types
  double usual_theta = 1e4, usual_sliding_theta = 1e4;
  double gguf_sliding_theta = 0;  // likewise of GGUF files; 0: that of the other layers
  // What transformers takes where config.json does not say; 0: it must be there, or follows from the rest.
  struct Usual {
    std::int64_t context = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
    bool tied = false;
  };
  Usual usual = {};
  std::string_view activation = "silu";  // of config.json's names
  bool caps_logits = false;              // final_logit_softcapping is read, of other families refused
  bool sizes_by_layer = false;           // GGUF files may list numbers of heads and widths layer by layer
  // Fills in what is the family's own, after read_config has read what all share.
  Result<void> (*configure)(const Keys&, ModelConfig&);
};

extern const Family llama, qwen2, qwen3, qwen2_moe, qwen3_moe, mixtral, mellum, gpt_oss, qwen3_next, qwen3_5,
    qwen3_5_moe, gemma3, gemma4;

// By general.architecture or model_type; an unknown one is refused by name.
Result<const Family*> find_family(const Keys&);

// Values that several families share.
inline constexpr std::int64_t max_width = 1 << 24;
inline constexpr std::int64_t max_experts = 4096;
inline constexpr Key head_count_key{"attention.head_count", "num_attention_heads"};
inline constexpr Key experts_key{"expert_count", "num_experts", "num_local_experts"};
inline constexpr Key attention_bias_key{"", "attention_bias"};
inline constexpr Key expert_width_key{"expert_feed_forward_length", "moe_intermediate_size"};
inline constexpr Key shared_width_key{"expert_shared_feed_forward_length", "shared_expert_intermediate_size"};
inline constexpr Key layer_types_key{"", "layer_types"};
inline constexpr Key sliding_window_key{"attention.sliding_window", "sliding_window"};

// Changes the attention of each layer that has one.
template <class F>
void each_attention(ModelConfig& config, F&& f) {
  for (LayerConfig& layer : config.layers)
    if (AttentionConfig* const attention = layer.attention()) f(*attention);
}
// attention_bias of config.json: of q, k, v and the output.
Result<void> read_attention_bias(const Keys&, ModelConfig&);

// experts, used and the router's options; the widths are the family's to read. Names the key that is wrong.
Result<ExpertsConfig> read_experts(const Keys&, bool normalise_otherwise);
// [layers]: decoder_sparse_step and mlp_only_layers of config.json.
Result<std::vector<bool>> read_sparse_layers(const Keys&, std::int64_t layers);
// In place of the dense part: in all layers, or those of [layers].
void put_experts(const ExpertsConfig&, ModelConfig&);
void put_experts(const ExpertsConfig&, const std::vector<bool>& layers, ModelConfig&);

// [layers]: which slide, of layer_types or GGUF's pattern; nothing where the file has neither.
Result<std::optional<std::vector<bool>>> read_layer_types(const Keys&, std::int64_t layers);
// Which layers slide when a folder gives a window but no layer_types.
enum class WindowDefault { all_layers, every_other, from_max_window_layers, must_be_listed };
Result<void> read_windows(const Keys&, ModelConfig&, WindowDefault);

}  // namespace fovea::models
