#include "app/demo/demo_tensors.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "app/demo/demo_model.h"
#include "app/demo/errors.h"
#include "app/demo/low_rank.h"
#include "engine/core/result.h"
#include "kernels/formats/formats.h"

namespace fovea::app {
namespace {

using checkpoint::Checkpoint;
using checkpoint::StoredType;
using checkpoint::TensorInfo;
using kernels::Type;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;
using Indices = std::vector<std::int64_t>;

// Not exactly zero, which some engines' sigmoid(x) = silu(x) / x could not bear.
constexpr float shared_gate = 1e-5F;
// The shared expert's gate is sigmoid(0): a half.
constexpr float shared_factor = 2;

struct Shape {
  std::int64_t layers, d, heads, kv_heads, neurons;          // of the source
  std::int64_t experts, expert_width, shared_width, active;  // of the recipe
};

Bytes as_bytes(const Floats& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Bytes packed_q8(const Floats& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  Bytes packed(static_cast<std::size_t>(kernels::row_bytes(Type::q8_0, count)));
  kernels::formats::quantize(Type::q8_0, values.data(), count, packed.data());
  return packed;
}

// The chosen rows of a matrix, as they are stored.
Bytes take_rows(std::span<const std::byte> matrix, std::int64_t row_bytes, const Indices& rows) {
  Bytes taken;
  taken.reserve(rows.size() * static_cast<std::size_t>(row_bytes));
  for (const std::int64_t row : rows) {
    const auto bytes =
        matrix.subspan(static_cast<std::size_t>(row * row_bytes), static_cast<std::size_t>(row_bytes));
    taken.insert(taken.end(), bytes.begin(), bytes.end());
  }
  return taken;
}

Floats dequantized(Type type, std::span<const std::byte> bytes, std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  kernels::formats::dequantize(type, bytes.data(), count, values.data());
  return values;
}

// The chosen columns of a matrix [rows, width], each multiplied by `factor`. Columns cannot move inside their
// blocks, so they leave them.
Floats take_columns(const Floats& matrix, std::int64_t width, const Indices& columns, float factor) {
  Floats taken;
  taken.reserve(matrix.size() / static_cast<std::size_t>(width) * columns.size());
  for (auto row = matrix.begin(); row != matrix.end(); row += width) {
    for (const std::int64_t column : columns) taken.push_back(row[column] * factor);
  }
  return taken;
}

// `llama` stores a head's rotary pairs side by side, `qwen2moe` as two halves: the order of rows between
// them.
Indices half_split_rows(std::int64_t rows, std::int64_t heads) {
  Indices order;
  const std::int64_t head_dim = rows / heads;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t half = 0; half < 2; ++half) {
      for (std::int64_t pair = 0; pair < head_dim / 2; ++pair)
        order.push_back(head * head_dim + 2 * pair + half);
    }
  }
  return order;
}

class Builder {
 public:
  Builder(const Checkpoint& source, const Recipe& recipe, Shape shape)
      : source_(source), recipe_(recipe), shape_(shape) {}

  Result<DemoContents> contents();

 private:
  checkpoint::Metadata metadata() const;
  void layer(std::int64_t i);
  void attention(const std::string& prefix);
  void feed_forward(const std::string& prefix, std::int64_t i);
  void experts(const std::string& prefix, const std::string& part, std::int64_t i);
  void copy(const std::string& name, const std::string& from);
  void rows(const std::string& name, const std::string& from, Indices order);
  void floats(const std::string& name, std::vector<std::int64_t> shape, Floats values);

  const TensorInfo* matrix(const std::string& name, std::int64_t rows, std::int64_t columns);
  Indices neurons(const std::string& name, std::int64_t count);

  void add(const std::string& name, Type type, std::vector<std::int64_t> shape, std::function<Bytes()> make) {
    TensorInfo info;
    info.name = name;
    info.type = type;
    info.shape = std::move(shape);
    tensors_.push_back({std::move(info), std::move(make)});
  }
  void require(bool condition, const Error& otherwise) {
    if (!condition && !problem_) problem_ = otherwise;
  }

  const Checkpoint& source_;
  const Recipe& recipe_;
  Shape shape_;
  std::vector<DemoTensor> tensors_;
  std::optional<Error> problem_;  // the first one
};

Result<DemoContents> Builder::contents() {
  copy("token_embd.weight", "token_embd.weight");
  copy("output_norm.weight", "output_norm.weight");
  copy("output.weight", "token_embd.weight");
  for (std::int64_t i = 0; i < shape_.layers; ++i) layer(i);
  if (problem_) return fail(phrases::file_place(source_.path()), *problem_);
  return DemoContents{metadata(), std::move(tensors_)};
}

checkpoint::Metadata Builder::metadata() const {
  checkpoint::Metadata made;
  const auto& from = source_.metadata();
  const auto copy = [&](const std::string& key, const std::string& source_key) {
    if (const auto* value = from.find(source_key)) made.set(key, *value, from.stored_type(source_key));
  };
  const auto count = [&](const std::string& key, std::int64_t value) {
    made.set("qwen2moe." + key, static_cast<std::uint64_t>(value), StoredType::u32);
  };
  made.set("general.architecture", std::string_view("qwen2moe"), StoredType::string);
  made.set("general.name", std::string_view(demo_model_name), StoredType::string);
  made.set("general.license", std::string_view("apache-2.0"), StoredType::string);
  made.set(demo_recipe_key, std::string_view(demo_recipe_id), StoredType::string);
  for (const char* key : {"context_length", "embedding_length", "feed_forward_length", "attention.head_count",
                          "attention.head_count_kv", "rope.freq_base", "attention.layer_norm_rms_epsilon"}) {
    copy(std::string("qwen2moe.") + key, std::string("llama.") + key);
  }
  count("block_count", shape_.layers);
  count("expert_count", shape_.experts);
  count("expert_used_count", shape_.active);
  count("expert_feed_forward_length", shape_.expert_width);
  count("expert_shared_feed_forward_length", shape_.shared_width);
  for (const auto& [key, value] : from.all()) {
    if (key.starts_with("tokenizer.")) copy(key, key);
  }
  return made;
}

void Builder::layer(std::int64_t i) {
  const std::string prefix = "blk." + std::to_string(i) + ".";
  for (const char* same : {"attn_norm.weight", "ffn_norm.weight", "attn_v.weight", "attn_output.weight"})
    copy(prefix + same, prefix + same);
  attention(prefix);
  feed_forward(prefix, i);
}

void Builder::attention(const std::string& prefix) {
  const std::int64_t kv_width = shape_.d / shape_.heads * shape_.kv_heads;
  const std::string q = prefix + "attn_q.", k = prefix + "attn_k.", v = prefix + "attn_v.";
  rows(q + "weight", q + "weight", half_split_rows(shape_.d, shape_.heads));
  rows(k + "weight", k + "weight", half_split_rows(kv_width, shape_.kv_heads));
  floats(q + "bias", {shape_.d}, Floats(static_cast<std::size_t>(shape_.d)));
  floats(k + "bias", {kv_width}, Floats(static_cast<std::size_t>(kv_width)));
  floats(v + "bias", {kv_width}, Floats(static_cast<std::size_t>(kv_width)));
}

void Builder::feed_forward(const std::string& prefix, std::int64_t i) {
  const auto& [layers, d, heads, kv_heads, dense, experts, width, shared_width, active] = shape_;
  const std::string suffix = "." + std::to_string(i);
  const Indices shared = neurons("shared" + suffix, shared_width);
  for (const char* part : {"gate", "up"}) {
    const std::string name = prefix + "ffn_" + part;
    matrix(name + ".weight", dense, d);
    rows(name + "_shexp.weight", name + ".weight", shared);
  }
  if (const TensorInfo* down = matrix(prefix + "ffn_down.weight", d, dense)) {
    add(prefix + "ffn_down_shexp.weight", Type::q8_0, {d, shared_width},
        [&source = source_, down, dense, shared] {
          const Floats matrix = dequantized(down->type, source.bytes(*down), down->elements());
          return packed_q8(take_columns(matrix, dense, shared, shared_factor));
        });
  }
  for (const char* part : {"gate", "up", "down"}) this->experts(prefix, part, i);
  floats(prefix + "ffn_gate_inp_shexp.weight", {d}, Floats(static_cast<std::size_t>(d), shared_gate));
  floats(prefix + "ffn_gate_inp.weight", {experts, d}, recipe_.floats("router" + suffix));
}

// One matrix of all experts of a layer, [experts, rows, columns]: the neurons that all of them start from,
// and what each adds to those.
void Builder::experts(const std::string& prefix, const std::string& part, std::int64_t i) {
  const std::string suffix = "." + std::to_string(i);
  const bool down = part == "down";
  const std::int64_t d = shape_.d, width = shape_.expert_width, dense = shape_.neurons;
  const Indices own = neurons("experts" + suffix, width);
  const TensorInfo* tensor = matrix(prefix + "ffn_" + part + ".weight", down ? d : dense, down ? dense : d);
  LowRank added(recipe_, part, i);
  require(added.experts() == shape_.experts && added.rows() == (down ? d : width) &&
              added.columns() == (down ? width : d),
          errors::demo_experts_size());
  // The chosen experts' gates are softmax values over all experts, which sum to a little less than 1.
  const Floats scale = recipe_.floats("scale" + suffix);
  require(scale.size() == 1, errors::demo_recipe_size("scale" + suffix));
  if (problem_) return;
  const auto start = [&source = source_, tensor, own, down, d, dense] {
    const auto bytes = source.bytes(*tensor);
    if (down) return take_columns(dequantized(tensor->type, bytes, tensor->elements()), dense, own, 1);
    return dequantized(tensor->type, take_rows(bytes, kernels::row_bytes(tensor->type, d), own),
                       static_cast<std::int64_t>(own.size()) * d);
  };
  add(prefix + "ffn_" + part + "_exps.weight", Type::q8_0, {added.experts(), added.rows(), added.columns()},
      [start, added, factor = down ? scale[0] : 1.0F] {
        const Floats common = start();
        Floats values(common.size() * static_cast<std::size_t>(added.experts()));
        float* expert = values.data();
        for (std::int64_t e = 0; e < added.experts(); ++e, expert += common.size()) {
          added.product(e, expert);
          for (std::size_t k = 0; k < common.size(); ++k) expert[k] = (common[k] + expert[k]) * factor;
        }
        return packed_q8(values);
      });
}

void Builder::copy(const std::string& name, const std::string& from) {
  const TensorInfo* tensor = source_.find(from);
  if (!tensor) return require(false, errors::demo_no_tensor(from));
  add(name, tensor->type, tensor->shape, [&source = source_, tensor] {
    const auto bytes = source.bytes(*tensor);
    return Bytes(bytes.begin(), bytes.end());
  });
}

// Rows move, bytes stay.
void Builder::rows(const std::string& name, const std::string& from, Indices order) {
  const TensorInfo* tensor = source_.find(from);
  if (!tensor || tensor->shape.size() != 2) return require(false, errors::demo_no_tensor(from));
  for (const std::int64_t row : order)
    require(row >= 0 && row < tensor->shape[0], errors::demo_few_rows(from));
  const auto count = static_cast<std::int64_t>(order.size());
  add(name, tensor->type, {count, tensor->shape[1]}, [&source = source_, tensor, order = std::move(order)] {
    return take_rows(source.bytes(*tensor), kernels::row_bytes(tensor->type, tensor->shape[1]), order);
  });
}

void Builder::floats(const std::string& name, std::vector<std::int64_t> shape, Floats values) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  require(std::cmp_equal(values.size(), elements), errors::demo_values_size(name));
  add(name, Type::f32, std::move(shape), [values = std::move(values)] { return as_bytes(values); });
}

// Of the source, with this shape; otherwise nothing.
const TensorInfo* Builder::matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const TensorInfo* tensor = source_.find(name);
  if (tensor && tensor->shape == std::vector{rows, columns}) return tensor;
  require(false, errors::demo_wrong_tensor(name));
  return nullptr;
}

// The recipe's choice of the dense feed-forward's neurons.
Indices Builder::neurons(const std::string& name, std::int64_t count) {
  Indices chosen = recipe_.integers(name);
  require(std::cmp_equal(chosen.size(), count), errors::demo_recipe_size(name));
  for (const std::int64_t neuron : chosen)
    require(neuron >= 0 && neuron < shape_.neurons, errors::demo_no_neuron(name));
  return chosen;
}

}  // namespace

Result<DemoContents> demo_contents(const Checkpoint& source, const Recipe& recipe, std::int64_t layers) {
  const auto number = [&](const char* key) {
    return source.metadata().integer(std::string("llama.") + key).value_or(0);
  };
  const auto router = recipe.shape("router.0");
  const auto own = recipe.shape("experts.0");
  const auto shared = recipe.shape("shared.0");
  const auto active = recipe.integers("active");
  if (router.size() != 2 || own.size() != 1 || shared.size() != 1 || active.size() != 1) {
    return fail(phrases::demo_recipe(), errors::demo_recipe_incomplete());
  }
  Shape shape{number("block_count"),
              number("embedding_length"),
              number("attention.head_count"),
              number("attention.head_count_kv"),
              number("feed_forward_length"),
              router[0],
              own[0],
              shared[0],
              active[0]};
  if (shape.layers < 1 || shape.d != router[1] || shape.heads < 1 || shape.kv_heads < 1 ||
      shape.neurons != shape.expert_width + shape.shared_width) {
    return fail(phrases::file_place(source.path()), errors::demo_other_shape());
  }
  if (layers > 0) shape.layers = std::min(shape.layers, layers);
  return Builder(source, recipe, shape).contents();
}

}  // namespace fovea::app
