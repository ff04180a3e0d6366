// An architecture is data: what the forward pass must know about a model, from GGUF keys or config.json. A
// model is its sizes and a list of layers; a layer is two blocks with a residual each, a mixer of positions
// and a feed-forward part. Weights, the state of sequences and plans follow the same list.
//
// The types say more than is run today, so that a model with another kind of layer is described by data; what
// cannot be run is refused by name (check) before any weight is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
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

// --- mixers: how a position learns of those before it ---

// Grouped heads over keys and values in pages (Ainslie et al. 2023).
struct AttentionConfig {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // only the last so many positions; 0: all
  std::int64_t rotary = 0;  // which of ModelConfig::rotary; −1: positions are not encoded
  double scale = 0;         // of q · k; 0: head_dim^-0.5
  double softcap = 0;       // c tanh(q · k / c); 0: none
  bool qk_norm = false;     // of each head of q and k
  bool v_norm = false;      // likewise of v, without weights
  bool qkv_bias = false;
  bool output_bias = false;
  bool sinks = false;  // a logit for each head that takes weight and gives nothing
  bool gate = false;   // q makes a gate of the same size, whose sigmoid multiplies the heads' output
  bool values_are_keys = false;  // the projection of k gives v too
  std::int64_t kv_from = -1;     // the layer whose keys and values it reads; −1: its own
};

// Heads over one compressed vector for each position (DeepSeek-V2, §2.1).
struct LatentAttentionConfig {
  std::int64_t heads = 0;
  std::int64_t q_rank = 0;  // 0: q is not compressed
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;  // of each head of q and k, without a rotation …
  std::int64_t rope_dim = 0;  // … and with one, shared by all heads of k
  std::int64_t value_dim = 0;
  std::int64_t rotary = 0;  // which of ModelConfig::rotary
  double scale = 0;         // of q · k; 0: (nope_dim + rope_dim)^-0.5
};

// A state [value_heads, key_dim, value_dim] that decays and is corrected (Yang et al. 2025).
struct GatedDeltaConfig {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t convolution = 0;  // positions, over q, k and v
  bool tiled = false;            // value heads take turns with key heads; else neighbours share one
  bool joined_gates = false;     // one matrix gives b and a, key head by key head

  std::int64_t channels() const { return 2 * key_heads * key_dim + value_heads * value_dim; }
  std::int64_t sharing() const { return tiled ? 1 : value_heads / key_heads; }
};

// A state [heads, head_dim, state] that decays (Dao & Gu 2024).
struct Mamba2Config {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t state = 0;
  std::int64_t groups = 0;       // heads share B and C
  std::int64_t convolution = 0;  // positions, over x, B and C

  std::int64_t channels() const { return heads * head_dim + 2 * groups * state; }
};

// A gated convolution over the last positions (LFM2).
struct ShortConvolutionConfig {
  std::int64_t convolution = 0;  // positions
  bool bias = false;
};

using MixerConfig = std::variant<AttentionConfig, LatentAttentionConfig, GatedDeltaConfig, Mamba2Config,
                                 ShortConvolutionConfig>;

// Floats of recurrent state that a sequence keeps for such a mixer; 0: it has pages, or nothing.
std::int64_t state_elements(const MixerConfig& mixer, std::int64_t hidden);

// --- feed-forward parts ---

using kernels::Activation;

// Which of its input and output a block normalises. After: before the residual is added.
struct Norms {
  bool before = true;
  bool after = false;
  bool operator==(const Norms&) const = default;
};
inline constexpr Norms no_norms{.before = false, .after = false};

struct DenseConfig {
  std::int64_t width = 0;
  Activation activation = Activation::silu;
  bool bias = false;
  Norms norms = no_norms;  // of this branch alone, where experts stand beside it
};

enum class RouterScores : std::uint8_t { softmax, sigmoid };

struct RouterConfig {
  RouterScores scores = RouterScores::softmax;
  bool normalise = false;    // the chosen weights are divided by their sum
  double scale = 1;          // multiplies the chosen weights
  bool bias = false;         // of the logits
  bool choice_bias = false;  // added to the scores where experts are chosen, not to their weights
  std::int64_t groups = 1;   // of experts; those of the best groups_used alone are chosen from
  std::int64_t groups_used = 1;
  bool own_norm = false;       // it reads the residual stream by a norm and a scale of its own
  bool expert_scales = false;  // each expert's weight is multiplied by a number of its own
};

// Experts that every token uses: as wide as so many side by side.
struct SharedExpertsConfig {
  std::int64_t count = 0;
  std::int64_t width = 0;  // of each
  bool gate = false;       // a sigmoid of the block's input weighs their output

  std::int64_t total_width() const { return count * width; }
};

struct ExpertsConfig {
  std::int64_t experts = 0;
  std::int64_t used = 0;
  std::int64_t width = 0;
  Activation activation = Activation::silu;
  bool bias = false;  // of gate, up and down
  RouterConfig router = {};
  SharedExpertsConfig shared = {};
  Norms norms = no_norms;  // of this branch alone, where a dense one stands beside it
};

// --- the model ---

struct LayerConfig {
  MixerConfig mixer = AttentionConfig{};
  Norms mixer_norms = {};
  // One of the two, or both side by side: their outputs are added.
  std::optional<DenseConfig> dense = {};
  std::optional<ExpertsConfig> experts = {};
  Norms feed_forward_norms = {};
  // What multiplies a block's output before it is added.
  double mixer_scale = 1, feed_forward_scale = 1;
  bool output_scale = false;         // the layer's whole output is multiplied by a number among its weights
  std::int64_t per_layer_input = 0;  // width of a vector for each token and layer, added behind both blocks

  // Null where another kind mixes.
  AttentionConfig* attention() { return std::get_if<AttentionConfig>(&mixer); }
  const AttentionConfig* attention() const { return std::get_if<AttentionConfig>(&mixer); }
};

struct ModelConfig {
  std::string name;
  std::string architecture;  // the family's name: "qwen3_moe" (families.h)
  std::int64_t hidden = 0;   // d
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  double norm_eps = 1e-6;
  bool norm_adds_one = false;  // norms multiply by 1 + weight, but for that behind gated delta
  double embedding_scale = 1;  // multiplies the embedding's rows
  double logits_scale = 1;     // multiplies the logits
  double logits_softcap = 0;   // c tanh(logit / c); 0: none
  bool tied_embeddings = false;
  std::vector<RopeConfig> rotary;   // the rotary tables; attention names its own
  std::vector<LayerConfig> layers;  // in the order of the pass

  std::int64_t layer_count() const { return static_cast<std::int64_t>(layers.size()); }
  const LayerConfig& layer(std::int64_t index) const { return layers[static_cast<std::size_t>(index)]; }
  bool layer_has_experts(std::int64_t index) const { return layer(index).experts.has_value(); }
  // Of the layers that have experts, which agree in it; 0 without any.
  std::int64_t experts() const;
  std::int64_t experts_used() const;
  // LayerConfig::per_layer_input of the layers, which agree in it; 0 without.
  std::int64_t per_layer_input() const { return layers.empty() ? 0 : layers.front().per_layer_input; }
};

// Recurrent state in memory: of sequences, where passes compute, and in the host's what is kept of earlier
// positions to return to, at the ends of turns and at a spacing within them.
struct StatePlan {
  std::int64_t bytes = 0;      // of one state; 0: no layer has any, and nothing is kept
  std::int64_t sequences = 0;  // at once
  std::int64_t saved = 0;
  std::int64_t turn_ends = 0;  // of them at most
  std::int64_t spacing = 0;    // tokens: what at most is computed again; 256 unless that took too much memory

  std::int64_t sequence_bytes() const { return sequences * bytes; }
  std::int64_t saved_bytes() const { return (saved + 1) * bytes; }  // with one of zeros
};
// `context`: tokens of all `sequences` that are computed at once; one more, which begins another, has its
// own.
StatePlan plan_states(const ModelConfig& config, std::int64_t context, std::int64_t sequences = 1);

// Refuses by name what is not supported (architecture, activation, rope type, sliding window …).
Result<ModelConfig> read_config(const checkpoint::Checkpoint&);

// ErrorKind::unsupported names the layer and what of it the forward pass cannot compute yet; `file` is the
// model's.
Result<void> check(const ModelConfig& config, const std::filesystem::path& file);

// What inspect() tells, of a checkpoint that is open already.
Result<ModelInfo> describe(const checkpoint::Checkpoint&);

// The longest context in tokens that the rotary scaling is made for, at least the trained one: YaRN stretches
// its original context by its factor (Peng et al. 2023, §3.4), dynamic scaling the trained one. Layers with a
// window or without positions do not bound it. 0 where the trained one is not known.
std::int64_t extended_context(const ModelConfig& config);

// The rotary inverse frequencies, [rotary / 2], and the magnitude that multiplies cos and sin. `context` is
// the trained one, `tokens` the sequence's whole length: only dynamic scaling depends on it, and a sequence
// keeps one length for all its passes, so that cached keys and later queries rotate alike. In generation that
// length is the session's context (as in vLLM): up to the trained one nothing is scaled, as in transformers;
// in a longer one everything is scaled for the whole context from the first token on, where transformers
// scales by the length so far and leaves earlier keys as they were. Logits of a given sequence take its own
// length, as a single pass of transformers does.
struct RotaryTable {
  std::vector<float> inverse_frequency;
  float magnitude = 1;  // the same for any length
};
RotaryTable rotary_table(const RopeConfig&, std::int64_t context, std::int64_t tokens);

}  // namespace fovea::models
