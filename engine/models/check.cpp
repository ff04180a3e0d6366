// What of a configuration the forward pass cannot compute yet, by name.
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/say.h"

namespace fovea::models {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<MixerConfig>> mixer_names{
    "attention", "latent attention", "gated delta attention", "a Mamba-2 state", "a short convolution"};

// The first of these that is asked for; empty: none.
struct Unbuilt {
  bool asked = false;
  std::string_view what;
};
std::string first(std::initializer_list<Unbuilt> list) {
  const auto* const found = std::ranges::find_if(list, &Unbuilt::asked);
  return found == list.end() ? std::string() : std::string(found->what);
}

std::string unbuilt(const AttentionConfig& a, const ModelConfig& config) {
  const auto tables = static_cast<std::int64_t>(config.rotary.size());
  return first({{a.softcap != 0, "a cap on attention's logits"},
                {a.v_norm, "a norm of values"},
                {a.sinks, "attention sinks"},
                {a.gate, "a gate on attention's output"},
                {a.values_are_keys, "values that are keys"},
                {a.kv_from >= 0, "keys and values of another layer"},
                {a.rotary < 0, "attention without positions"},
                {a.rotary >= tables, "a rotary table that the model does not have"},
                {a.rotary < tables && a.rotary >= 0 &&
                     config.rotary[static_cast<std::size_t>(a.rotary)].rotary > a.head_dim,
                 "a rotation of more than a head"}});
}

std::string unbuilt(const DenseConfig& d) {
  return first({{d.activation != Activation::silu, "another activation than SiLU"},
                {d.bias, "biases in the feed-forward part"},
                {d.norms != no_norms, "a norm of one of two feed-forward parts"}});
}

std::string unbuilt(const ExpertsConfig& e) {
  return first({{e.activation != Activation::silu, "another activation than SiLU"},
                {e.bias, "biases of experts"},
                {e.norms != no_norms, "a norm of one of two feed-forward parts"},
                {e.router.scores != RouterScores::softmax, "a router by sigmoids"},
                {e.router.bias || e.router.choice_bias, "a router with biases"},
                {e.router.groups != 1 || e.router.groups_used != 1, "routing by groups of experts"},
                {e.router.own_norm, "a router with a norm of its own"},
                {e.router.expert_scales, "a scale for each expert"}});
}

std::string unbuilt(const LayerConfig& layer, const ModelConfig& config) {
  const AttentionConfig* const attention = layer.attention();
  if (attention == nullptr) return std::string(mixer_names[layer.mixer.index()]);
  std::string what = unbuilt(*attention, config);
  if (what.empty() && layer.dense) what = unbuilt(*layer.dense);
  if (what.empty() && layer.experts) what = unbuilt(*layer.experts);
  if (!what.empty()) return what;
  return first({{layer.mixer_norms != Norms{} || layer.feed_forward_norms != Norms{},
                 "other norms than one before each block"},
                {!layer.dense && !layer.experts, "no feed-forward part"},
                {layer.dense && layer.experts && layer.experts->shared.count > 0,
                 "a dense part beside shared experts"},
                {layer.mixer_scale != 1 || layer.feed_forward_scale != 1 || layer.output_scale,
                 "a scale of a block's output"},
                {layer.per_layer_input > 0, "an input for each layer"},
                {layer.experts && (layer.experts->experts != config.experts() ||
                                   layer.experts->used != config.experts_used()),
                 "another number of experts than the layers before"}});
}

}  // namespace

Result<void> check(const ModelConfig& config, const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorKind::unsupported, where, what + ", which Fovea cannot run yet",
                "Fovea cannot run this model");
  };
  const std::string whole = first({{config.norm_adds_one, "norms that multiply by 1 + weight"},
                                   {config.embedding_scale != 1, "a scale of the embedding"},
                                   {config.logits_scale != 1, "a scale of the logits"},
                                   {config.logits_softcap != 0, "a cap on the logits"}});
  if (!whole.empty()) return refuse("the model has " + whole);
  for (std::int64_t layer = 0; layer < config.layer_count(); ++layer) {
    if (const std::string what = unbuilt(config.layer(layer), config); !what.empty())
      return refuse(say("layer ", layer, " has ", what));
  }
  return {};
}

}  // namespace fovea::models
