// gpt-oss' experts: what the joined tensors become, in floats and in MXFP4, and what is refused.
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "kernels/formats/formats.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;
using nlohmann::json;

namespace {

const std::string in_layer = "model.layers.0.mlp.experts.";

template <class Number>
FileBytes counted(std::size_t count) {
  FileBytes bytes(count * sizeof(Number));
  for (std::size_t i = 0; i < count; ++i)
    overwrite<Number>(bytes, i * sizeof(Number), static_cast<Number>(i));
  return bytes;
}

// 2 experts, 3 inputs, 4 outputs of gate and up; each number is its place in the file.
StoredTensors floats() {
  return {{in_layer + "gate_up_proj", {"F32", {2, 3, 4}, counted<float>(24)}},
          {in_layer + "gate_up_proj_bias", {"F32", {2, 4}, counted<float>(8)}}};
}

// 1 expert, 2 outputs (a row of gate and one of up) of 64 inputs.
StoredTensors blocks() {
  FileBytes codes(2 * 2 * 16);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<FileBytes::value_type>(i * 37 + 5);
  FileBytes scales(4);
  for (std::size_t i = 0; i < 4; ++i) scales[i] = static_cast<FileBytes::value_type>(125 + i);
  return {{in_layer + "gate_up_proj_blocks", {"U8", {1, 2, 2, 16}, codes}},
          {in_layer + "gate_up_proj_scales", {"U8", {1, 2, 2}, scales}}};
}

void write_joined(const std::filesystem::path& folder, const StoredTensors& tensors, const json& config) {
  write_safetensors(folder / "model.safetensors", tensors);
  write_text(folder / "config.json", config.dump());
}

std::vector<float> values(const Checkpoint& file, const std::string& name) {
  const checkpoint::TensorInfo* tensor = file.find(name);
  if (tensor == nullptr) return {};
  const std::int64_t columns = tensor->shape.back(), rows = tensor->elements() / columns;
  std::vector<std::byte> buffer;
  std::vector<float> all;
  for (std::int64_t row = 0; row < rows; row += 3) {  // in portions that no expert divides
    const std::int64_t count = std::min<std::int64_t>(3, rows - row);
    std::vector<float> part(static_cast<std::size_t>(count * columns));
    kernels::formats::dequantize(tensor->type, file.rows(*tensor, columns, row, count, buffer).data(),
                                 count * columns, part.data());
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

const json gpt_oss = {{"model_type", "gpt_oss"}};
const json published = {{"model_type", "gpt_oss"}, {"quantization_config", {{"quant_method", "mxfp4"}}}};

struct Refused {
  const char* name;
  std::function<void(StoredTensors&, json&)> change;
  ErrorKind kind;
  const char* words;
};

const std::vector<Refused>& refused() {
  constexpr ErrorKind format = ErrorKind::format, unsupported = ErrorKind::unsupported;
  static const std::vector<Refused> list = {
      {"another model's MXFP4", [](StoredTensors&, json& c) { c["model_type"] = "qwen3_moe"; }, unsupported,
       "only for gpt-oss"},
      {"no configuration", [](StoredTensors&, json& c) { c = gpt_oss; }, unsupported, "has type \"U8\""},
      {"no scales", [](StoredTensors& t, json&) { t.erase(in_layer + "gate_up_proj_scales"); }, format,
       "gate_up_proj_scales\" is missing beside"},
      {"no blocks", [](StoredTensors& t, json&) { t.erase(in_layer + "gate_up_proj_blocks"); }, format,
       "gate_up_proj_blocks\" is missing beside"},
      {"blocks of other codes",
       [](StoredTensors& t, json&) { t[in_layer + "gate_up_proj_blocks"].shape = {1, 2, 4, 8}; }, format,
       "has the shape [1, 2, 4, 8], expected [experts, outputs, blocks, 16]"},
      {"an odd number of outputs",
       [](StoredTensors& t, json&) { t[in_layer + "gate_up_proj_blocks"].shape = {2, 1, 2, 16}; }, format,
       "has the shape [2, 1, 2, 16]"},
      {"other scales", [](StoredTensors& t, json&) { t[in_layer + "gate_up_proj_scales"].shape = {2, 2, 1}; },
       format, "has the shape [2, 2, 1], expected the shape of the blocks"},
      {"bytes of no expert", [](StoredTensors& t, json&) { t["x_blocks"] = {"U8", {1}, FileBytes(1)}; },
       unsupported, "\"x_blocks\" has type \"U8\""},
      {"floats in two dimensions",
       [](StoredTensors& t, json&) { t[in_layer + "down_proj"] = {"F32", {2, 3}, FileBytes(24)}; }, format,
       "has the shape [2, 3], expected [experts, inputs, outputs]"},
      {"an odd number of biases",
       [](StoredTensors& t, json&) { t[in_layer + "gate_up_proj_bias"] = {"F32", {1, 3}, FileBytes(12)}; },
       format, "has the shape [1, 3], expected [experts, outputs]"},
  };
  return list;
}

}  // namespace

class JoinedExpertsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void floatsComeApart() {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path();
    write_joined(path, floats(), gpt_oss);
    const auto file = Checkpoint::open(path);
    FOVEA_VERIFY(file);
    QVERIFY(file->find(in_layer + "gate_up_proj") == nullptr);
    const auto* gate = file->find(in_layer + "gate_proj.weight");
    QVERIFY(gate != nullptr && gate->shape == (std::vector<std::int64_t>{2, 2, 3}));
    using Floats = std::vector<float>;
    // Outputs 0 and 2 of [inputs, outputs] of each expert, then outputs 1 and 3.
    QCOMPARE(values(*file, in_layer + "gate_proj.weight"),
             (Floats{0, 4, 8, 2, 6, 10, 12, 16, 20, 14, 18, 22}));
    QCOMPARE(values(*file, in_layer + "up_proj.weight"), (Floats{1, 5, 9, 3, 7, 11, 13, 17, 21, 15, 19, 23}));
    QCOMPARE(values(*file, in_layer + "gate_proj.bias"), (Floats{0, 2, 4, 6}));
    QCOMPARE(values(*file, in_layer + "up_proj.bias"), (Floats{1, 3, 5, 7}));
  }

  // By the format's definition: byte i of a block holds the weights 2 i and 2 i + 1.
  void blocksMeanTheirCodes() {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path();
    write_joined(path, blocks(), published);
    const auto file = Checkpoint::open(path);
    FOVEA_VERIFY(file);
    constexpr float code_values[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (std::size_t row = 0; row < 2; ++row) {
      const std::vector<float> found = values(*file, in_layer + (row == 0 ? "gate" : "up") + "_proj.weight");
      QCOMPARE(found.size(), std::size_t{64});
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t block = row * 2 + i / 32;
        const auto byte = static_cast<unsigned char>((block * 16 + i % 32 / 2) * 37 + 5);
        const unsigned code = i % 2 == 0 ? byte & 15U : byte >> 4;
        const float size = code_values[code % 8] * std::ldexp(1.0F, int(125 + block) - 127);
        QCOMPARE(found[i], code < 8 ? size : -size);
      }
    }
  }

  void damageIsRefused_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < refused().size(); ++i) QTest::newRow(refused()[i].name) << int(i);
  }
  void damageIsRefused() {
    QFETCH(int, index);
    const Refused& row = refused()[static_cast<std::size_t>(index)];
    StoredTensors tensors = blocks();
    json config = published;
    row.change(tensors, config);
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path();
    write_joined(path, tensors, config);
    const auto file = Checkpoint::open(path);
    QVERIFY(!file);
    const std::string message = file.error().message();
    QVERIFY2(file.error().kind == row.kind, message.c_str());
    QVERIFY2(message.find(row.words) != std::string::npos, message.c_str());
    QVERIFY2(file.error().has_advice(), message.c_str());
  }
};
FOVEA_TEST(JoinedExpertsTest)

#include "joined_experts_test.moc"
