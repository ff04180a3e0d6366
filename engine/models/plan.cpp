#include "engine/models/plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "engine/core/result.h"
#include "engine/models/families.h"
#include "kernels/formats/formats.h"

namespace fovea::models {
namespace {

using checkpoint::Checkpoint;
using checkpoint::TensorInfo;

class Planner {
 public:
  Planner(const Checkpoint& checkpoint, const ModelConfig& config, const TensorNames& names)
      : checkpoint_(checkpoint), config_(config), names_(names) {
    for (const std::string_view root : roots) {
      const std::string table = std::string(root) + std::string(names.embedding.substr(usual_root.size()));
      if (names.embedding.starts_with(usual_root) && checkpoint.find(table)) root_ = root;
    }
  }

  Result<WeightPlan> run() {
    const std::int64_t d = config_.hidden;
    WeightPlan plan;
    FOVEA_TRY(plan.embedding, matrix(names_.embedding, config_.vocabulary, d, Role::embedding));
    FOVEA_TRY(plan.output_norm, norm(names_.output_norm, d));
    if (config_.tied_embeddings) {
      plan.output = plan.embedding;
      plan.output.role = Role::output;
      used_.emplace(names_.output);  // some tools write the table twice
    } else {
      FOVEA_TRY(plan.output, matrix(names_.output, config_.vocabulary, d, Role::output));
    }
    plan.layers.resize(config_.layers.size());
    for (std::int64_t layer = 0; layer < config_.layer_count(); ++layer) {
      LayerPlan& out = plan.layers[static_cast<std::size_t>(layer)];
      FOVEA_TRY(out.mixer_norm, norm(expand(names_.mixer_norm, layer), d));
      const LayerConfig& kinds = config_.layer(layer);
      if (const AttentionConfig* const attention = kinds.attention()) {
        FOVEA_CHECK(read_attention(layer, *attention, out));
      } else {
        FOVEA_CHECK(read_delta(layer, std::get<GatedDeltaConfig>(kinds.mixer), out));
      }
      if (kinds.mixer_norms.after) {
        FOVEA_TRY(out.mixer_post_norm, norm(expand(names_.mixer_post_norm, layer), d));
      }
      FOVEA_CHECK(feed_forward(layer, kinds, out));
      if (kinds.output_scale) {
        FOVEA_TRY(out.output_scale, vector(expand(names_.output_scale, layer), 1));
      }
      if (kinds.per_layer_input > 0) FOVEA_CHECK(layer_input(layer, kinds.per_layer_input, out.layer_input));
    }
    if (config_.per_layer_input() > 0) FOVEA_CHECK(layer_inputs(plan));
    FOVEA_TRY(plan.ignored, leftovers());
    return plan;
  }

 private:
  // Of the language model's tensors, alone or as a part of a model of more than text.
  static constexpr std::string_view usual_root = "model.";
  static constexpr std::string_view roots[] = {usual_root, "model.language_model.", "language_model.model."};

  // The name as the checkpoint has it.
  std::string rooted(std::string_view name) const {
    if (!name.starts_with(usual_root)) return std::string(name);
    return std::string(root_) + std::string(name.substr(usual_root.size()));
  }
  bool has(std::string_view name) const { return !name.empty() && checkpoint_.find(rooted(name)) != nullptr; }

  Phrase where(std::string_view name) const { return phrases::tensor_place(checkpoint_.path(), name); }

  // Dimensions of 1 say nothing: [1, d] and [d] are the same rows.
  Result<const TensorInfo*> find(std::string_view pattern, const std::vector<std::int64_t>& shape) {
    const std::string name = rooted(pattern);
    const TensorInfo* tensor = checkpoint_.find(name);
    if (tensor == nullptr) return fail(where(name), errors::tensor_missing(shape));
    used_.insert(tensor->name);
    const auto significant = [](std::vector<std::int64_t> s) {
      std::erase(s, 1);
      return s;
    };
    if (significant(tensor->shape) != significant(shape)) {
      return fail(where(name), errors::tensor_shape(tensor->shape, shape));
    }
    return tensor;
  }

  Result<MatrixSource> matrix(std::string_view name, std::int64_t rows, std::int64_t columns, Role role) {
    FOVEA_TRY(const TensorInfo* tensor, find(name, std::vector{rows, columns}));
    return MatrixSource{tensor, 0, rows, columns, role};
  }

  Result<VectorSource> vector(std::string_view name, std::int64_t count) {
    FOVEA_TRY(const TensorInfo* tensor, find(name, std::vector{count}));
    FOVEA_CHECK(is_vector(*tensor));
    return VectorSource{tensor, 0, count};
  }

  // With the addition of 1 that the family's files leave to be done.
  Result<VectorSource> norm(std::string_view name, std::int64_t count) {
    FOVEA_TRY(VectorSource source, vector(name, count));
    if (config_.norm_adds_one) source.change = VectorSource::Change::plus_one;
    return source;
  }

  Result<void> is_vector(const TensorInfo& tensor) const {
    if (kernels::block_shape(tensor.type).elements == 1) return {};
    return fail(where(tensor.name), errors::vector_type(kernels::type_name(tensor.type)));
  }

  // Of one matrix with these parts behind each other, or of matrices of their own.
  struct Part {
    std::string_view name;
    std::int64_t rows;
    MatrixSource* out;
  };
  Result<void> read_parts(std::int64_t layer, std::string_view joined, std::initializer_list<Part> parts) {
    const std::string whole = expand(joined, layer);
    if (!has(whole)) {
      for (const Part& part : parts) {
        FOVEA_TRY(*part.out, matrix(expand(part.name, layer), part.rows, config_.hidden, Role::linear));
      }
      return {};
    }
    std::int64_t rows = 0;
    for (const Part& part : parts) rows += part.rows;
    FOVEA_TRY(const MatrixSource all, matrix(whole, rows, config_.hidden, Role::linear));
    rows = 0;
    for (const Part& part : parts) {
      *part.out = all;
      part.out->first_row = rows;
      part.out->rows = part.rows;
      rows += part.rows;
    }
    return {};
  }

  Result<void> read_delta(std::int64_t layer, const GatedDeltaConfig& config, LayerPlan& out) {
    const std::int64_t d = config_.hidden, keys = config.key_heads * config.key_dim;
    const std::int64_t values = config.value_heads * config.value_dim;
    const DeltaNames& names = names_.delta;
    const auto name = [&](std::string_view pattern) { return expand(pattern, layer); };
    DeltaPlan& delta = out.delta;
    FOVEA_CHECK(read_parts(layer, names.qkv,
                           {{names.q, keys, &out.q}, {names.k, keys, &out.k}, {names.v, values, &out.v}}));
    FOVEA_TRY(delta.z, matrix(name(names.z), values, d, Role::linear));
    if (config.joined_gates) {
      FOVEA_TRY(delta.b, matrix(name(names.ab), 2 * config.value_heads, d, Role::gate));
    } else {
      FOVEA_TRY(delta.a, matrix(name(names.a), config.value_heads, d, Role::gate));
      FOVEA_TRY(delta.b, matrix(name(names.b), config.value_heads, d, Role::gate));
    }
    FOVEA_TRY(out.attention_output, matrix(name(names.output), d, values, Role::linear));
    const std::vector<std::int64_t> filters{config.channels(), config.convolution};
    FOVEA_TRY(const TensorInfo* convolution, find(name(names.convolution), filters));
    FOVEA_CHECK(is_vector(*convolution));
    delta.convolution = {convolution, 0, config.channels() * config.convolution};
    FOVEA_TRY(delta.rate, vector(name(names.rate), config.value_heads));
    if (checkpoint_.format() != checkpoint::Format::gguf)
      delta.rate.change = VectorSource::Change::minus_exponential;
    FOVEA_TRY(delta.step_bias, vector(name(names.step_bias), config.value_heads));
    FOVEA_TRY(delta.norm, vector(name(names.norm), config.value_dim));
    return {};
  }

  // Of all layers that have an input of their own.
  Result<void> layer_inputs(WeightPlan& plan) {
    const std::int64_t each = config_.per_layer_input(), all = each * config_.layer_count();
    const PerLayerNames& names = names_.per_layer;
    FOVEA_TRY(plan.layer_embedding, matrix(names.embedding, config_.vocabulary, all, Role::embedding));
    FOVEA_TRY(plan.layer_projection, matrix(names.projection, all, config_.hidden, Role::gate));
    FOVEA_TRY(plan.layer_projection_norm, norm(names.norm, each));
    return {};
  }
  Result<void> layer_input(std::int64_t layer, std::int64_t width, LayerInputPlan& out) {
    const std::int64_t d = config_.hidden;
    const PerLayerNames& names = names_.per_layer;
    FOVEA_TRY(out.gate, matrix(expand(names.gate, layer), width, d, Role::gate));
    FOVEA_TRY(out.output, matrix(expand(names.output, layer), d, width, Role::gate));
    FOVEA_TRY(out.post_norm, norm(expand(names.post_norm, layer), d));
    return {};
  }

  Result<void> read_attention(std::int64_t layer, const AttentionConfig& config, LayerPlan& out) {
    const std::int64_t d = config_.hidden;
    const std::int64_t q_rows = config.heads * config.head_dim;
    const std::int64_t kv_rows = config.kv_heads * config.head_dim;
    const auto name = [&](std::string_view pattern) { return expand(pattern, layer); };
    const Part q{names_.q, config.gate ? 2 * q_rows : q_rows, &out.q};
    const Part k{names_.k, kv_rows, &out.k}, v{names_.v, kv_rows, &out.v};
    const bool own = config.kv_from < 0;
    if (own && !config.values_are_keys) {
      FOVEA_CHECK(read_parts(layer, names_.qkv, {q, k, v}));
    } else if (own) {
      FOVEA_CHECK(read_parts(layer, {}, {q, k}));
    } else {
      FOVEA_CHECK(read_parts(layer, {}, {q}));
      // Some files have what the layer does not use.
      for (const std::string_view unused : {names_.k, names_.v, names_.k_norm})
        used_.insert(rooted(name(unused)));
    }
    FOVEA_TRY(out.attention_output, matrix(name(names_.attention_output), d, q_rows, Role::linear));
    if (const std::string joined = bias_of(name(names_.qkv)); config.qkv_bias && own && has(joined)) {
      // q's rows are as many as those of some heads of k.
      FOVEA_TRY(const VectorSource all, vector(joined, out.q.rows + 2 * kv_rows));
      out.q_bias = {all.tensor, 0, out.q.rows};
      out.k_bias = {all.tensor, out.q.rows / kv_rows, kv_rows};
      out.v_bias = {all.tensor, out.q.rows / kv_rows + 1, kv_rows};
    } else if (config.qkv_bias) {
      FOVEA_TRY(out.q_bias, vector(bias_of(name(names_.q)), out.q.rows));
      if (own) {
        FOVEA_TRY(out.k_bias, vector(bias_of(name(names_.k)), kv_rows));
        if (out.v) {
          FOVEA_TRY(out.v_bias, vector(bias_of(name(names_.v)), kv_rows));
        }
      }
    }
    if (config.output_bias) {
      FOVEA_TRY(out.output_bias, vector(bias_of(name(names_.attention_output)), d));
    }
    if (config.qk_norm) {
      FOVEA_TRY(out.q_norm, norm(name(names_.q_norm), config.head_dim));
      if (own) {
        FOVEA_TRY(out.k_norm, norm(name(names_.k_norm), config.head_dim));
      }
    }
    if (config.sinks) {
      FOVEA_TRY(out.sinks, vector(name(names_.sinks), config.heads));
    }
    return {};
  }

  Result<ExpertSource> dense(std::string_view gate, std::string_view up, std::string_view down,
                             std::int64_t layer, std::int64_t expert, std::int64_t width, Role role) {
    ExpertSource out;
    FOVEA_TRY(out.gate, matrix(expand(gate, layer, expert), width, config_.hidden, role));
    FOVEA_TRY(out.up, matrix(expand(up, layer, expert), width, config_.hidden, role));
    FOVEA_TRY(out.down, matrix(expand(down, layer, expert), config_.hidden, width, role));
    return out;
  }

  Result<void> feed_forward(std::int64_t layer, const LayerConfig& config, LayerPlan& out) {
    const std::int64_t d = config_.hidden;
    FOVEA_TRY(out.feed_forward_norm, norm(expand(names_.feed_forward_norm, layer), d));
    if (config.dense) {
      FOVEA_TRY(out.shared,
                dense(names_.gate, names_.up, names_.down, layer, 0, config.dense->width, Role::linear));
      out.shared.activation = config.dense->activation;
      if (config.dense->norms.after) {
        FOVEA_TRY(out.dense_post_norm, norm(expand(names_.dense_post_norm, layer), d));
      }
    }
    if (config.feed_forward_norms.after) {
      FOVEA_TRY(out.feed_forward_post_norm, norm(expand(names_.feed_forward_post_norm, layer), d));
    }
    if (!config.experts) return {};
    if (config.experts->norms.before) {
      FOVEA_TRY(out.experts_norm, norm(expand(names_.experts_norm, layer), d));
    }
    if (config.experts->norms.after) {
      FOVEA_TRY(out.experts_post_norm, norm(expand(names_.experts_post_norm, layer), d));
    }
    if (config.experts->router.own_norm) {
      FOVEA_TRY(out.router_norm, vector(expand(names_.router_scale, layer), d));
      out.router_norm.change = VectorSource::Change::over_root_of_count;
    }
    if (config.experts->router.expert_scales) {
      FOVEA_TRY(out.expert_scales, vector(expand(names_.expert_scales, layer), config.experts->experts));
    }
    std::string router = expand(names_.router[0], layer);
    if (!names_.router[1].empty() && !has(router)) router = expand(names_.router[1], layer);
    FOVEA_TRY(out.router, matrix(router, config.experts->experts, d, Role::gate));
    if (config.experts->router.bias) {
      FOVEA_TRY(out.router_bias, vector(bias_of(router), config.experts->experts));
    }
    FOVEA_CHECK(experts(layer, *config.experts, out));
    const SharedExpertsConfig& shared = config.experts->shared;
    if (shared.count > 0) {
      FOVEA_TRY(out.shared, dense(names_.shared_gate, names_.shared_up, names_.shared_down, layer, 0,
                                  shared.total_width(), Role::linear));
      out.shared.activation = config.experts->activation;
    }
    if (shared.gate) {
      FOVEA_TRY(out.shared_gate, matrix(expand(names_.shared_expert_gate, layer), 1, d, Role::gate));
    }
    return {};
  }

  // The form of the experts' names that the file uses; the first when it uses none.
  const ExpertNames& expert_form(std::int64_t layer) const {
    for (const ExpertNames& form : names_.experts) {
      const std::string_view sign = form.gate_up.empty() ? form.gate : form.gate_up;
      if (!sign.empty() && has(expand(sign, layer, 0))) return form;
    }
    return names_.experts[0];
  }

  Result<void> experts(std::int64_t layer, const ExpertsConfig& config, LayerPlan& out) {
    const ExpertNames& form = expert_form(layer);
    out.experts.resize(static_cast<std::size_t>(config.experts));
    FOVEA_CHECK(expert_matrices(form, layer, config, out));
    for (ExpertSource& expert : out.experts) expert.activation = config.activation;
    if (config.bias) FOVEA_CHECK(expert_biases(form, layer, config, out));
    return {};
  }

  // One tensor [experts, rows] for each of gate, up and down; or for gate and up together.
  Result<void> expert_biases(const ExpertNames& form, std::int64_t layer, const ExpertsConfig& config,
                             LayerPlan& out) {
    struct Bias {
      std::string_view matrix;
      std::int64_t rows;
      VectorSource ExpertSource::* of;
      std::int64_t joined = 1, index = 0;  // how many stand in one row, and which of them it is
    };
    const bool fused = !form.gate_up.empty();
    const std::int64_t joined = fused ? 2 : 1;
    for (const Bias& bias :
         {Bias{fused ? form.gate_up : form.gate, config.width, &ExpertSource::gate_bias, joined},
          Bias{fused ? form.gate_up : form.up, config.width, &ExpertSource::up_bias, joined, joined - 1},
          Bias{form.down, config_.hidden, &ExpertSource::down_bias}}) {
      FOVEA_TRY(const TensorInfo* tensor, find(bias_of(expand(bias.matrix, layer)),
                                               std::vector{config.experts, bias.joined * bias.rows}));
      FOVEA_CHECK(is_vector(*tensor));
      for (std::int64_t e = 0; e < config.experts; ++e)
        out.experts[static_cast<std::size_t>(e)].*bias.of = {tensor, e * bias.joined + bias.index, bias.rows};
    }
    return {};
  }

  Result<void> expert_matrices(const ExpertNames& form, std::int64_t layer, const ExpertsConfig& config,
                               LayerPlan& out) {
    const std::int64_t count = config.experts;
    const std::int64_t width = config.width;
    const std::int64_t d = config_.hidden;
    if (form.down.find("{e}") != std::string_view::npos) {
      for (std::int64_t e = 0; e < count; ++e) {
        FOVEA_TRY(out.experts[static_cast<std::size_t>(e)],
                  dense(form.gate, form.up, form.down, layer, e, width, Role::routed_expert));
      }
      return {};
    }
    const bool fused = !form.gate_up.empty();
    const std::int64_t stride = fused ? 2 * width : width;  // rows from one expert's gate to the next one's
    const std::vector<std::int64_t> wide{count, stride, d};
    FOVEA_TRY(const TensorInfo* gate, find(expand(fused ? form.gate_up : form.gate, layer), wide));
    FOVEA_TRY(const TensorInfo* up, find(expand(fused ? form.gate_up : form.up, layer), wide));
    FOVEA_TRY(const TensorInfo* down, find(expand(form.down, layer), std::vector{count, d, width}));
    for (std::int64_t e = 0; e < count; ++e) {
      ExpertSource& expert = out.experts[static_cast<std::size_t>(e)];
      expert.gate = {gate, e * stride, width, d, Role::routed_expert};
      expert.up = {up, e * stride + (fused ? width : 0), width, d, Role::routed_expert};
      expert.down = {down, e * d, d, width, Role::routed_expert};
    }
    return {};
  }

  // Tensors that are known to hold nothing that this model computes with. Some tools that pack layers write
  // a bias of zeros for each.
  bool harmless(const TensorInfo& tensor) const {
    const std::string_view name = tensor.name;
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    return name.ends_with(".rotary_emb.inv_freq") || name.ends_with("rope_freqs.weight") ||
           name.ends_with(".attn_rot_embd") ||
           (name.ends_with(".bias") && tensor.is_mapped() &&
            std::ranges::all_of(checkpoint_.bytes(tensor), is_zero));
  }

  Result<std::vector<std::string>> leftovers() const {
    std::vector<std::string> ignored;
    for (const TensorInfo& tensor : checkpoint_.tensors()) {
      if (used_.contains(tensor.name) || harmless(tensor)) continue;
      for (const std::string& prefix : {rooted("model.layers."), std::string("blk.")}) {
        if (!tensor.name.starts_with(prefix)) continue;
        const std::string_view rest = std::string_view(tensor.name).substr(prefix.size());
        const std::string number(rest.substr(0, rest.find('.')));
        // Layers behind the last one are extra heads that predict further tokens.
        const bool extra = number.size() < 10 && !number.empty() &&
                           std::ranges::all_of(
                               number, [](char c) { return c >= '0' && c <= '9'; }) &&
                           std::stoll(number) >= config_.layer_count();
        if (extra) continue;
        return fail(where(tensor.name), errors::tensor_without_place(tensor.shape, config_.architecture));
      }
      ignored.push_back(tensor.name);
    }
    return ignored;
  }

  const Checkpoint& checkpoint_;
  const ModelConfig& config_;
  const TensorNames& names_;
  std::string_view root_ = usual_root;
  std::set<std::string, std::less<>> used_;
};

}  // namespace

void VectorSource::read(const checkpoint::Checkpoint& checkpoint, float* out) const {
  std::vector<std::byte> buffer;
  const auto bytes = checkpoint.rows(*tensor, count, row, 1, buffer);
  kernels::formats::dequantize(tensor->type, bytes.data(), count, out);
  const float root = std::sqrt(static_cast<float>(count));
  for (float& value : std::span(out, static_cast<std::size_t>(count))) {
    switch (change) {
      case Change::none:
        break;
      case Change::plus_one:
        value = 1 + value;
        break;
      case Change::minus_exponential:
        value = -std::exp(value);
        break;
      case Change::over_root_of_count:
        value /= root;
        break;
    }
  }
}

void leave_to_host(const std::vector<HostShare>& shares, WeightPlan& plan) {
  const auto leave = [](ExpertSource& expert) {
    expert.gate.on_host = expert.up.on_host = expert.down.on_host = true;
  };
  for (std::size_t layer = 0; layer < shares.size(); ++layer) {
    const HostShare& share = shares[layer];
    for (std::size_t e = 0; e < share.experts.size(); ++e) {
      if (share.experts[e]) leave(plan.layers[layer].experts[e]);
    }
    if (share.shared) leave(plan.layers[layer].shared);
  }
}

bool can_divide(const ModelConfig& config, std::int64_t at) {
  if (config.per_layer_input() > 0) return false;
  for (std::int64_t layer = 0; layer < config.layer_count(); ++layer) {
    const AttentionConfig* const attention = config.layer(layer).attention();
    if (attention == nullptr) return false;  // one state for all layers
    if (layer >= at && attention->kv_from >= 0 && attention->kv_from < at) return false;
  }
  return at > 0 && at < config.layer_count();
}

void keep_layers(const LayerRange& layers, WeightPlan& plan) {
  const std::int64_t count = std::ssize(plan.layers);
  for (std::int64_t layer = 0; layer < count; ++layer)
    if (layer < layers.first || layer >= layers.end) plan.layers[static_cast<std::size_t>(layer)] = {};
  if (layers.first > 0) plan.embedding = {};
  if (layers.end < count) {
    plan.output = {};
    plan.output_norm = {};
  }
}

Result<WeightPlan> plan_weights(const Checkpoint& checkpoint, const ModelConfig& config) {
  FOVEA_CHECK(check(config, checkpoint.path()));
  FOVEA_TRY(const Family* family, find_family(Keys(checkpoint)));
  const bool gguf = checkpoint.format() == checkpoint::Format::gguf;
  return Planner(checkpoint, config, gguf ? *family->gguf_names : *family->folder_names).run();
}

}  // namespace fovea::models
