#include "engine/eval/synthetic_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/eval/errors.h"
#include "engine/models/names.h"

namespace fovea::eval {
namespace {

using precision::ModelShape;

struct NumberKey {
  const char* key;
  std::int64_t ModelShape::* member;
  std::int64_t most;
};
constexpr std::array number_keys{
    NumberKey{"layers", &ModelShape::layers, 1024},
    NumberKey{"hidden", &ModelShape::hidden, 1 << 16},
    NumberKey{"heads", &ModelShape::heads, 1024},
    NumberKey{"kv_heads", &ModelShape::kv_heads, 1024},
    NumberKey{"head_dim", &ModelShape::head_dim, 1024},
    NumberKey{"vocabulary", &ModelShape::vocabulary, 1 << 24},
    NumberKey{"context", &ModelShape::context, 1 << 24},
    NumberKey{"experts", &ModelShape::experts, 4096},
    NumberKey{"experts_used", &ModelShape::experts_used, 4096},
    NumberKey{"expert_width", &ModelShape::expert_width, 1 << 20},
};

Result<ModelShape> parse_shape(const nlohmann::json& json, const std::filesystem::path& file) {
  const auto wrong = [&](Error error) { return fail(phrases::file_place(file), std::move(error)); };
  if (!json.is_object()) return wrong(errors::shape_no_object());
  ModelShape shape;
  for (const NumberKey& number : number_keys) {
    const auto value = json.find(number.key);
    if (value == json.end() || !value->is_number_integer()) return wrong(errors::shape_no_number(number.key));
    const auto given = value->get<std::int64_t>();
    if (given < 1 || given > number.most)
      return wrong(errors::shape_number_out_of_range(number.key, given, number.most));
    shape.*number.member = given;
  }
  if (const auto norm = json.find("qk_norm"); norm != json.end()) {
    if (!norm->is_boolean()) return wrong(errors::shape_no_boolean("qk_norm"));
    shape.qk_norm = norm->get<bool>();
  }
  if (shape.heads % shape.kv_heads != 0) return wrong(errors::shape_no_multiple("heads", "kv_heads"));
  if (shape.head_dim % 2 != 0) return wrong(errors::shape_odd_number("head_dim"));
  if (shape.experts_used > shape.experts)
    return wrong(errors::shape_number_beyond_other("experts_used", "experts"));
  return shape;
}

class Maker {
 public:
  Maker(const NamedShape& named, const SyntheticTypes& types, checkpoint::SyntheticModel& out)
      : s_(named.shape),
        types_(types),
        names_(s_.biases    ? models::gpt_oss_names
               : s_.qk_norm ? models::qwen_moe_names
                            : models::mixtral_names),
        out_(out) {}

  void make() {
    const std::int64_t d = s_.hidden;
    matrix(std::string(names_.embedding), types_.dense, s_.vocabulary, d);
    matrix(std::string(names_.output), types_.dense, s_.vocabulary, d);
    vector(std::string(names_.output_norm), d);
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) add_layer(layer);
  }

 private:
  void matrix(std::string name, kernels::Type type, std::int64_t rows, std::int64_t columns) {
    out_.matrices.push_back({.name = std::move(name), .type = type, .shape = {rows, columns}});
  }
  void vector(std::string name, std::int64_t count) {
    out_.vectors.push_back({.name = std::move(name), .shape = {count}});
  }
  void bias(const std::string& weight, std::int64_t count) { vector(models::bias_of(weight), count); }

  void add_layer(std::int64_t layer) {
    const std::int64_t d = s_.hidden, q = s_.heads * s_.head_dim, kv = s_.kv_heads * s_.head_dim;
    const auto name = [&](std::string_view pattern) { return models::expand(pattern, layer); };
    vector(name(names_.mixer_norm), d);
    matrix(name(names_.q), types_.dense, q, d);
    matrix(name(names_.k), types_.dense, kv, d);
    matrix(name(names_.v), types_.dense, kv, d);
    matrix(name(names_.attention_output), types_.dense, d, q);
    if (s_.qk_norm) {
      vector(name(names_.q_norm), s_.head_dim);
      vector(name(names_.k_norm), s_.head_dim);
    }
    vector(name(names_.feed_forward_norm), d);
    matrix(name(names_.router[0]), kernels::Type::bf16, s_.experts, d);
    const models::ExpertNames& expert = names_.experts[0];
    if (s_.biases) {
      bias(name(names_.q), q);
      bias(name(names_.k), kv);
      bias(name(names_.v), kv);
      bias(name(names_.attention_output), d);
      vector(name(names_.sinks), s_.heads);
      bias(name(names_.router[0]), s_.experts);
      together(name(expert.gate), s_.expert_width, d);
      together(name(expert.up), s_.expert_width, d);
      together(name(expert.down), d, s_.expert_width);
      return;
    }
    for (std::int64_t e = 0; e < s_.experts; ++e) {
      matrix(models::expand(expert.gate, layer, e), types_.experts, s_.expert_width, d);
      matrix(models::expand(expert.up, layer, e), types_.experts, s_.expert_width, d);
      matrix(models::expand(expert.down, layer, e), types_.experts, d, s_.expert_width);
    }
  }

  // Of all experts of a layer in one tensor, with their biases.
  void together(const std::string& name, std::int64_t rows, std::int64_t columns) {
    out_.matrices.push_back({.name = name, .type = types_.experts, .shape = {s_.experts, rows, columns}});
    out_.vectors.push_back({.name = models::bias_of(name), .shape = {s_.experts, rows}});
  }

  const ModelShape& s_;
  const SyntheticTypes& types_;
  const models::TensorNames& names_;
  checkpoint::SyntheticModel& out_;
};

}  // namespace

Result<NamedShape> read_shape(const std::string& name_or_file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name_or_file, ignored)) {
    FOVEA_TRY(const ModelShape* known, precision::find_shape(name_or_file));
    return NamedShape{std::string(known->name), *known};
  }
  std::ifstream stream(name_or_file);
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  FOVEA_TRY(const ModelShape shape, parse_shape(json, name_or_file));
  return NamedShape{std::filesystem::path(name_or_file).stem().string(), shape};
}

Result<checkpoint::SyntheticModel> synthetic_model(const NamedShape& named, const SyntheticTypes& types,
                                                   std::uint64_t seed) {
  const ModelShape& s = named.shape;
  if (s.experts == 0 || s.shared_width > 0 || (s.window > 0 && !s.biases) ||
      !models::check(precision::config_of(s), named.name))
    return fail(phrases::shape_place(named.name), errors::shape_not_run());
  checkpoint::SyntheticModel model;
  model.name = named.name;
  model.seed = seed;
  model.config = {{"model_type", s.biases    ? "gpt_oss"
                                 : s.qk_norm ? "qwen3_moe"
                                             : "mixtral"},
                  {"num_hidden_layers", s.layers},
                  {"hidden_size", s.hidden},
                  {"num_attention_heads", s.heads},
                  {"num_key_value_heads", s.kv_heads},
                  {"head_dim", s.head_dim},
                  {"max_position_embeddings", s.context},
                  {"intermediate_size", s.expert_width},
                  {"moe_intermediate_size", s.expert_width},
                  {"vocab_size", s.vocabulary},
                  {"num_experts", s.experts},
                  {"num_local_experts", s.experts},
                  {"num_experts_per_tok", s.experts_used},
                  {"norm_topk_prob", true},
                  {"sliding_window", s.window},
                  {"rope_theta", 1e6},
                  {"tie_word_embeddings", false}};
  Maker(named, types, model).make();
  return model;
}

}  // namespace fovea::eval
