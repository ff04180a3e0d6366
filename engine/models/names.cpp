#include "engine/models/names.h"

namespace fovea::models {
namespace {

std::string replace(std::string text, std::string_view what, std::int64_t number) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), std::to_string(number));
  return text;
}

// Attention and norms are called alike in all of Hugging Face's families here.
constexpr TensorNames hugging_face() {
  TensorNames names{};
  names.embedding = "model.embed_tokens.weight";
  names.output_norm = "model.norm.weight";
  names.output = "lm_head.weight";
  names.mixer_norm = "model.layers.{l}.input_layernorm.weight";
  names.q = "model.layers.{l}.self_attn.q_proj.weight";
  names.k = "model.layers.{l}.self_attn.k_proj.weight";
  names.v = "model.layers.{l}.self_attn.v_proj.weight";
  names.attention_output = "model.layers.{l}.self_attn.o_proj.weight";
  names.q_norm = "model.layers.{l}.self_attn.q_norm.weight";
  names.k_norm = "model.layers.{l}.self_attn.k_norm.weight";
  names.feed_forward_norm = "model.layers.{l}.post_attention_layernorm.weight";
  names.gate = "model.layers.{l}.mlp.gate_proj.weight";
  names.up = "model.layers.{l}.mlp.up_proj.weight";
  names.down = "model.layers.{l}.mlp.down_proj.weight";
  return names;
}

constexpr TensorNames qwen_moe() {
  TensorNames names = hugging_face();
  names.router = {"model.layers.{l}.mlp.gate.weight"};
  names.shared_gate = "model.layers.{l}.mlp.shared_expert.gate_proj.weight";
  names.shared_up = "model.layers.{l}.mlp.shared_expert.up_proj.weight";
  names.shared_down = "model.layers.{l}.mlp.shared_expert.down_proj.weight";
  names.shared_expert_gate = "model.layers.{l}.mlp.shared_expert_gate.weight";
  names.experts = {
      ExpertNames{"model.layers.{l}.mlp.experts.{e}.gate_proj.weight",
                  "model.layers.{l}.mlp.experts.{e}.up_proj.weight",
                  "model.layers.{l}.mlp.experts.{e}.down_proj.weight"},
      // transformers 5 in memory, and on disk when saved without converting back
      ExpertNames{
          {}, {}, "model.layers.{l}.mlp.experts.down_proj", "model.layers.{l}.mlp.experts.gate_up_proj"}};
  return names;
}

constexpr TensorNames mixtral() {
  TensorNames names = hugging_face();
  names.router = {"model.layers.{l}.block_sparse_moe.gate.weight", "model.layers.{l}.mlp.gate.weight"};
  names.experts = {
      ExpertNames{"model.layers.{l}.block_sparse_moe.experts.{e}.w1.weight",
                  "model.layers.{l}.block_sparse_moe.experts.{e}.w3.weight",
                  "model.layers.{l}.block_sparse_moe.experts.{e}.w2.weight"},
      ExpertNames{
          {}, {}, "model.layers.{l}.mlp.experts.down_proj", "model.layers.{l}.mlp.experts.gate_up_proj"}};
  return names;
}

// The checkpoint takes gate and up apart (engine/checkpoint/joined_experts.cpp).
constexpr TensorNames gpt_oss() {
  TensorNames names = hugging_face();
  names.sinks = "model.layers.{l}.self_attn.sinks";
  names.router = {"model.layers.{l}.mlp.router.weight"};
  names.experts = {ExpertNames{"model.layers.{l}.mlp.experts.gate_proj.weight",
                               "model.layers.{l}.mlp.experts.up_proj.weight",
                               "model.layers.{l}.mlp.experts.down_proj.weight"}};
  return names;
}

// Qwen3-Next and Qwen3.5: Qwen's names with gated delta in most layers. Qwen3-Next's folders have q, k, v and
// z in one matrix, which the checkpoint takes apart (engine/checkpoint/joined_projections.cpp).
constexpr TensorNames qwen_next() {
  TensorNames names = qwen_moe();
  names.delta = {.qkv = "model.layers.{l}.linear_attn.in_proj_qkv.weight",
                 .q = "model.layers.{l}.linear_attn.in_proj_q.weight",
                 .k = "model.layers.{l}.linear_attn.in_proj_k.weight",
                 .v = "model.layers.{l}.linear_attn.in_proj_v.weight",
                 .z = "model.layers.{l}.linear_attn.in_proj_z.weight",
                 .output = "model.layers.{l}.linear_attn.out_proj.weight",
                 .a = "model.layers.{l}.linear_attn.in_proj_a.weight",
                 .b = "model.layers.{l}.linear_attn.in_proj_b.weight",
                 .ab = "model.layers.{l}.linear_attn.in_proj_ba.weight",
                 .convolution = "model.layers.{l}.linear_attn.conv1d.weight",
                 .rate = "model.layers.{l}.linear_attn.A_log",
                 .step_bias = "model.layers.{l}.linear_attn.dt_bias",
                 .norm = "model.layers.{l}.linear_attn.norm.weight"};
  return names;
}

// Gemma 3 and 4: norms behind the blocks, too, and what Gemma 4 has beyond that.
constexpr TensorNames gemma() {
  TensorNames names = hugging_face();
  names.mixer_post_norm = "model.layers.{l}.post_attention_layernorm.weight";
  names.feed_forward_norm = "model.layers.{l}.pre_feedforward_layernorm.weight";
  names.feed_forward_post_norm = "model.layers.{l}.post_feedforward_layernorm.weight";
  names.dense_post_norm = "model.layers.{l}.post_feedforward_layernorm_1.weight";
  names.experts_norm = "model.layers.{l}.pre_feedforward_layernorm_2.weight";
  names.experts_post_norm = "model.layers.{l}.post_feedforward_layernorm_2.weight";
  names.router = {"model.layers.{l}.router.proj.weight"};
  names.router_scale = "model.layers.{l}.router.scale";
  names.expert_scales = "model.layers.{l}.router.per_expert_scale";
  names.output_scale = "model.layers.{l}.layer_scalar";
  names.per_layer = {.embedding = "model.embed_tokens_per_layer.weight",
                     .projection = "model.per_layer_model_projection.weight",
                     .norm = "model.per_layer_projection_norm.weight",
                     .gate = "model.layers.{l}.per_layer_input_gate.weight",
                     .output = "model.layers.{l}.per_layer_projection.weight",
                     .post_norm = "model.layers.{l}.post_per_layer_input_norm.weight"};
  names.experts = {
      ExpertNames{{}, {}, "model.layers.{l}.experts.down_proj", "model.layers.{l}.experts.gate_up_proj"}};
  return names;
}

constexpr TensorNames gguf() {
  TensorNames names{};
  names.embedding = "token_embd.weight";
  names.output_norm = "output_norm.weight";
  names.output = "output.weight";
  names.mixer_norm = "blk.{l}.attn_norm.weight";
  names.q = "blk.{l}.attn_q.weight";
  names.k = "blk.{l}.attn_k.weight";
  names.v = "blk.{l}.attn_v.weight";
  names.qkv = "blk.{l}.attn_qkv.weight";
  names.attention_output = "blk.{l}.attn_output.weight";
  names.q_norm = "blk.{l}.attn_q_norm.weight";
  names.k_norm = "blk.{l}.attn_k_norm.weight";
  names.sinks = "blk.{l}.attn_sinks.weight";
  names.feed_forward_norm = "blk.{l}.ffn_norm.weight";
  names.gate = "blk.{l}.ffn_gate.weight";
  names.up = "blk.{l}.ffn_up.weight";
  names.down = "blk.{l}.ffn_down.weight";
  names.router = {"blk.{l}.ffn_gate_inp.weight"};
  names.shared_gate = "blk.{l}.ffn_gate_shexp.weight";
  names.shared_up = "blk.{l}.ffn_up_shexp.weight";
  names.shared_down = "blk.{l}.ffn_down_shexp.weight";
  names.shared_expert_gate = "blk.{l}.ffn_gate_inp_shexp.weight";
  names.experts = {
      ExpertNames{"blk.{l}.ffn_gate_exps.weight", "blk.{l}.ffn_up_exps.weight",
                  "blk.{l}.ffn_down_exps.weight"},
      // Mixtral files from before early 2024
      ExpertNames{"blk.{l}.ffn_gate.{e}.weight", "blk.{l}.ffn_up.{e}.weight", "blk.{l}.ffn_down.{e}.weight"},
      ExpertNames{{}, {}, "blk.{l}.ffn_down_exps.weight", "blk.{l}.ffn_gate_up_exps.weight"}};
  return names;
}

constexpr TensorNames gguf_gpt_oss() {
  TensorNames names = gguf();
  names.feed_forward_norm = "blk.{l}.post_attention_norm.weight";
  return names;
}

constexpr TensorNames gguf_qwen_next() {
  TensorNames names = gguf_gpt_oss();
  names.delta = {.qkv = "blk.{l}.attn_qkv.weight",
                 .q = "blk.{l}.attn_q.weight",
                 .k = "blk.{l}.attn_k.weight",
                 .v = "blk.{l}.attn_v.weight",
                 .z = "blk.{l}.attn_gate.weight",
                 .output = "blk.{l}.ssm_out.weight",
                 .a = "blk.{l}.ssm_alpha.weight",
                 .b = "blk.{l}.ssm_beta.weight",
                 .ab = "blk.{l}.ssm_ba.weight",
                 .convolution = "blk.{l}.ssm_conv1d.weight",
                 .rate = "blk.{l}.ssm_a",
                 .step_bias = "blk.{l}.ssm_dt.bias",
                 .norm = "blk.{l}.ssm_norm.weight"};
  return names;
}

constexpr TensorNames gguf_gemma() {
  TensorNames names = gguf();
  names.mixer_post_norm = "blk.{l}.post_attention_norm.weight";
  names.feed_forward_post_norm = "blk.{l}.post_ffw_norm.weight";
  names.dense_post_norm = "blk.{l}.post_ffw_norm_1.weight";
  names.experts_norm = "blk.{l}.pre_ffw_norm_2.weight";
  names.experts_post_norm = "blk.{l}.post_ffw_norm_2.weight";
  names.router_scale = "blk.{l}.ffn_gate_inp.scale";
  names.expert_scales = "blk.{l}.ffn_down_exps.scale";
  names.output_scale = "blk.{l}.layer_output_scale.weight";
  names.per_layer = {.embedding = "per_layer_token_embd.weight",
                     .projection = "per_layer_model_proj.weight",
                     .norm = "per_layer_proj_norm.weight",
                     .gate = "blk.{l}.inp_gate.weight",
                     .output = "blk.{l}.proj.weight",
                     .post_norm = "blk.{l}.post_norm.weight"};
  return names;
}

}  // namespace

constexpr TensorNames gguf_names = gguf();
constexpr TensorNames gguf_gpt_oss_names = gguf_gpt_oss();
constexpr TensorNames gguf_qwen_next_names = gguf_qwen_next();
constexpr TensorNames dense_names = hugging_face();
constexpr TensorNames qwen_moe_names = qwen_moe();
constexpr TensorNames mixtral_names = mixtral();
constexpr TensorNames gpt_oss_names = gpt_oss();
constexpr TensorNames qwen_next_names = qwen_next();
constexpr TensorNames gemma_names = gemma();
constexpr TensorNames gguf_gemma_names = gguf_gemma();

std::string expand(std::string_view pattern, std::int64_t layer, std::int64_t expert) {
  return replace(replace(std::string(pattern), "{l}", layer), "{e}", expert);
}

std::string bias_of(std::string_view weight) {
  constexpr std::string_view suffix = ".weight";
  if (weight.ends_with(suffix)) weight.remove_suffix(suffix.size());
  return std::string(weight) + ".bias";
}

}  // namespace fovea::models
