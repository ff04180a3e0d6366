// What of a configuration the forward pass cannot compute yet, by name.
#include <algorithm>
#include <variant>

#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/errors.h"

namespace fovea::models {
namespace {

// The first of these that is asked for; empty: none.
struct Unbuilt {
  bool asked = false;
  Phrase what;
};
Phrase first(std::initializer_list<Unbuilt> list) {
  const auto* const found = std::ranges::find_if(list, &Unbuilt::asked);
  return found == list.end() ? Phrase() : found->what;
}

// Of a mixer that is no attention.
Phrase unbuilt(const MixerConfig& mixer) {
  if (const auto* const delta = std::get_if<GatedDeltaConfig>(&mixer)) {
    return first({{std::max(delta->key_dim, delta->value_dim) > kernels::max_delta_dim,
                   phrases::delta_heads_too_large()},
                  {delta->convolution > kernels::max_convolution, phrases::long_convolution()}});
  }
  return first({{std::holds_alternative<LatentAttentionConfig>(mixer), phrases::latent_attention()},
                {std::holds_alternative<Mamba2Config>(mixer), phrases::mamba2_state()},
                {std::holds_alternative<ShortConvolutionConfig>(mixer), phrases::short_convolution()}});
}

// Whether another layer has keys and values of its own of this kind.
bool shares(const AttentionConfig& a, const ModelConfig& config, std::int64_t layer) {
  const AttentionConfig* const from = a.kv_from < layer ? config.layer(a.kv_from).attention() : nullptr;
  return from && from->kv_from < 0 && from->kv_heads == a.kv_heads && from->head_dim == a.head_dim;
}

Phrase unbuilt(const AttentionConfig& a, const ModelConfig& config, std::int64_t layer) {
  const auto tables = static_cast<std::int64_t>(config.rotary.size());
  return first({{a.softcap != 0, phrases::attention_softcap()},
                {a.kv_from >= 0 && !shares(a, config, layer), phrases::keys_of_another_layer()},
                {a.rotary < 0, phrases::attention_without_positions()},
                {a.rotary >= tables, phrases::missing_rotary_table()},
                {a.rotary < tables && a.rotary >= 0 &&
                     config.rotary[static_cast<std::size_t>(a.rotary)].rotary > a.head_dim,
                 phrases::rotation_beyond_head()}});
}

Phrase unbuilt(const DenseConfig& d) {
  return first({{d.bias, phrases::feed_forward_biases()}, {d.norms.before, phrases::norm_of_one_branch()}});
}

Phrase unbuilt(const ExpertsConfig& e) {
  return first({{e.bias && e.shared.count > 0, phrases::shared_expert_biases()},
                {e.router.scores != RouterScores::softmax, phrases::sigmoid_router()},
                {e.router.choice_bias, phrases::router_choice_biases()},
                {e.router.groups != 1 || e.router.groups_used != 1, phrases::router_groups()}});
}

// Dense part and experts have norms of their own both, where they stand side by side, or neither.
bool norms_agree(const LayerConfig& layer) {
  const bool dense = layer.dense && layer.dense->norms.after;
  if (!layer.experts) return !dense;
  const Norms& experts = layer.experts->norms;
  return experts.before == experts.after && experts.after == dense;
}

Phrase unbuilt(const ModelConfig& config, std::int64_t index) {
  const LayerConfig& layer = config.layer(index);
  const AttentionConfig* const attention = layer.attention();
  Phrase what = attention ? unbuilt(*attention, config, index) : unbuilt(layer.mixer);
  if (what.empty() && layer.dense) what = unbuilt(*layer.dense);
  if (what.empty() && layer.experts) what = unbuilt(*layer.experts);
  if (!what.empty()) return what;
  return first({{!layer.mixer_norms.before || !layer.feed_forward_norms.before, phrases::other_norms()},
                {!norms_agree(layer), phrases::norm_of_one_branch()},
                {!layer.dense && !layer.experts, phrases::no_feed_forward()},
                {layer.dense && layer.experts && layer.experts->shared.count > 0,
                 phrases::dense_beside_shared_experts()},
                {layer.mixer_scale != 1 || layer.feed_forward_scale != 1, phrases::scale_of_block_output()},
                {layer.per_layer_input != config.per_layer_input(), phrases::input_for_each_layer()},
                {layer.experts && (layer.experts->experts != config.experts() ||
                                   layer.experts->used != config.experts_used()),
                 phrases::other_number_of_experts()}});
}

}  // namespace

Result<void> check(const ModelConfig& config, const std::filesystem::path& file) {
  const Phrase whole = first({{config.logits_scale != 1, phrases::scale_of_logits()}});
  if (!whole.empty()) return fail(phrases::file_place(file), errors::model_not_run(whole));
  for (std::int64_t layer = 0; layer < config.layer_count(); ++layer) {
    if (const Phrase what = unbuilt(config, layer); !what.empty())
      return fail(phrases::file_place(file), errors::layer_not_run(layer, what));
  }
  return {};
}

}  // namespace fovea::models
