// What a model file or folder holds: its configuration and its tensors' shapes, no weights.
#include "engine/api/model_info.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "engine/text/chat_template.h"
#include "engine/text/errors.h"

namespace fovea {
namespace {

// The parameters that one token reads: of the embedding one row, which does not count beside the output.
std::int64_t active_parameters(const models::ModelConfig& config, const models::WeightPlan& plan) {
  std::int64_t always = 0, routed = 0;
  plan.each_matrix([&](const models::MatrixSource& source) {
    if (source.role == models::Role::routed_expert) {
      routed += source.parameters();
    } else if (source.role != models::Role::embedding) {
      always += source.parameters();
    }
  });
  plan.each_vector([&](const models::VectorSource& source, bool is_routed) {
    (is_routed ? routed : always) += source.count;
  });
  return routed > 0 ? always + routed / config.experts() * config.experts_used() : always;
}

}  // namespace

Result<ModelInfo> models::describe(const checkpoint::Checkpoint& file) {
  FOVEA_TRY(const ModelConfig config, read_config(file));
  ModelInfo info;
  info.path = file.path();
  info.name = config.name;
  info.format = file.format_name();
  info.architecture = config.architecture;
  info.layers = config.layer_count();
  info.hidden = config.hidden;
  for (const LayerConfig& layer : config.layers) {
    const AttentionConfig* const attention = layer.attention();
    if (attention == nullptr || attention->heads < info.heads) continue;
    info.heads = attention->heads;
    info.kv_heads = attention->kv_heads;
    info.head_dim = attention->head_dim;
  }
  info.vocabulary = config.vocabulary;
  info.context = config.context;
  info.extended_context = extended_context(config);
  info.experts = config.experts();
  info.experts_used = config.experts_used();
  info.conversion = file.conversion();
  info.has_chat_template = !file.chat_template().empty();
  if (const auto parsed = text::ChatTemplate::parse(file.chat_template(), phrases::chat_template())) {
    info.can_switch_thinking = !parsed->thoughts().switches.empty();
    info.has_effort = parsed->thoughts().effort;
  }
  for (const checkpoint::TensorInfo& tensor : file.tensors()) {
    const auto bytes = static_cast<std::int64_t>(tensor.bytes);
    info.parameters += tensor.elements();
    info.bytes += bytes;
    info.bytes_by_type[std::string(kernels::type_name(tensor.type))] += bytes;
  }
  // A file that holds only a vocabulary has no weights to count.
  if (!file.tensors().empty()) {
    FOVEA_TRY(const WeightPlan plan, plan_weights(file, config));
    info.parameters_active = active_parameters(config, plan);
  }
  return info;
}

Result<ModelInfo> inspect(const std::filesystem::path& path) {
  FOVEA_TRY(const checkpoint::Checkpoint file, checkpoint::Checkpoint::open(path));
  return models::describe(file);
}

}  // namespace fovea
