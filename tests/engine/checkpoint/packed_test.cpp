// Folders of GPTQ, AWQ and AutoRound: the weights that the codes mean, and what is refused.
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/quantization.h"
#include "engine/checkpoint/safetensors_reader.h"
#include "kernels/formats/formats.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;
using checkpoint::TensorInfo;
using nlohmann::json;

namespace {

std::vector<float> weights(const Checkpoint& file, const TensorInfo& tensor) {
  const std::int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  std::vector<std::byte> buffer;
  const auto bytes = file.rows(tensor, columns, 0, rows, buffer);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  kernels::formats::dequantize(tensor.type, bytes.data(), rows * columns, values.data());
  return values;
}

// One layer of 32 outputs and 64 inputs, two groups: all codes 5, zero points 8, scales 0.5.
using Tensors = StoredTensors;

template <class Number>
FileBytes repeated(Number value, std::size_t count) {
  FileBytes bytes(count * sizeof value);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  return bytes;
}

Tensors small_layer() {
  FileBytes groups(64 * 4);
  for (std::size_t i = 0; i < 64; ++i)
    overwrite<std::int32_t>(groups, 4 * i, static_cast<std::int32_t>(i / 32));
  return {{"x.qweight", {"I32", {8, 32}, repeated<std::uint32_t>(0x55555555, 256)}},
          {"x.qzeros", {"I32", {2, 4}, repeated<std::uint32_t>(0x77777777, 8)}},
          {"x.scales", {"F16", {2, 32}, repeated<std::uint16_t>(0x3800, 64)}},
          {"x.g_idx", {"I32", {64}, groups}}};
}

json gptq() {
  return {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}, {"sym", true}, {"desc_act", false}};
}

void write_folder(const std::filesystem::path& folder, const Tensors& tensors, const json& quantization) {
  write_safetensors(folder / "model.safetensors", tensors);
  json config = json::object();
  if (!quantization.is_null()) config["quantization_config"] = quantization;
  write_text(folder / "config.json", config.dump());
}

struct HostileLayer {
  const char* name;
  std::function<void(Tensors&, json&)> change;
  ErrorKind kind;
  const char* words;
};

void resize(StoredTensor& stored, std::vector<std::int64_t> shape, std::size_t width) {
  std::size_t count = width;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  stored.shape = std::move(shape);
  stored.data.resize(count);
}

const std::vector<HostileLayer>& hostile_layers() {
  constexpr ErrorKind format = ErrorKind::format, unsupported = ErrorKind::unsupported;
  static const std::vector<HostileLayer> list = {
      {"no scales", [](Tensors& t, json&) { t.erase("x.scales"); }, format, "\"x.scales\" is missing beside"},
      {"no zero points", [](Tensors& t, json&) { t.erase("x.qzeros"); }, format, "\"x.qzeros\" is missing"},
      {"no codes", [](Tensors& t, json&) { t.erase("x.qweight"); }, format, "\"x.qweight\" is missing"},
      {"codes of 64 bits", [](Tensors& t, json&) { t["x.qweight"] = {"I64", {4, 32}, FileBytes(1024)}; },
       unsupported, "\"x.qweight\" has type \"I64\""},
      {"integers without a layer", [](Tensors& t, json&) { t["y"] = {"I32", {1}, FileBytes(4)}; },
       unsupported, "\"y\" has type \"I32\""},
      {"no configuration", [](Tensors&, json& q) { q = nullptr; }, unsupported, "has type \"I32\""},
      {"codes in one dimension", [](Tensors& t, json&) { t["x.qweight"].shape = {256}; }, format,
       "\"x.qweight\" has the shape [256], expected two dimensions"},
      {"scales in three", [](Tensors& t, json&) { t["x.scales"].shape = {1, 2, 32}; }, format,
       "\"x.scales\" has the shape [1, 2, 32]"},
      {"no outputs", [](Tensors& t, json&) { resize(t["x.scales"], {2, 0}, 2); }, format,
       "\"x.scales\" has the shape [2, 0]"},
      {"fewer outputs", [](Tensors& t, json&) { resize(t["x.qweight"], {8, 31}, 4); }, format,
       "\"x.qweight\" has the shape [8, 31], expected 32 outputs"},
      {"zero points of other groups", [](Tensors& t, json&) { resize(t["x.qzeros"], {3, 4}, 4); }, format,
       "\"x.qzeros\" has the shape [3, 4], expected 2 groups"},
      {"zero points of 9 bits", [](Tensors& t, json&) { resize(t["x.qzeros"], {2, 9}, 4); }, format,
       "expected words for 32 codes of 2 to 8 bits"},
      {"codes of fewer bits than zero points", [](Tensors& t, json&) { resize(t["x.qzeros"], {2, 3}, 4); },
       format, "expected words for 64 codes of 3 bits"},
      {"more inputs than codes", [](Tensors& t, json&) { resize(t["x.g_idx"], {65}, 4); }, format,
       "expected words for 65 codes of 4 bits"},
      {"groups in two dimensions", [](Tensors& t, json&) { t["x.g_idx"].shape = {1, 64}; }, format,
       "\"x.g_idx\" has the shape [1, 64]"},
      {"group beyond the last",
       [](Tensors& t, json&) { overwrite<std::int32_t>(t["x.g_idx"].data, 4 * 63, 2); }, format,
       "places input 63 in group 2, there are 2"},
      {"group below the first",
       [](Tensors& t, json&) { overwrite<std::int32_t>(t["x.g_idx"].data, 4 * 7, -1); }, format,
       "places input 7 in group -1"},
      {"groups that do not divide the inputs",
       [](Tensors& t, json&) {
         resize(t["x.scales"], {3, 32}, 2);
         resize(t["x.qzeros"], {3, 4}, 4);
       },
       format, "expected 2 groups of 32 for 64 inputs"},
      {"zero points of the other format", [](Tensors&, json& q) { q["checkpoint_format"] = "gptq_v2"; },
       format, "has the zero point 7, expected 8 everywhere"},
      {"one zero point apart",
       [](Tensors& t, json&) { overwrite<std::uint8_t>(t["x.qzeros"].data, 31, 0x97); }, format,
       "has the zero point 10, expected 8"},
      {"scale that is no number",
       [](Tensors& t, json&) { t["x.scales"] = {"F32", {2, 32}, repeated<float>(NAN, 64)}; }, format,
       "\"x.scales\" has a scale of nan"},
      {"scale beyond F16",
       [](Tensors& t, json&) { t["x.scales"] = {"BF16", {2, 32}, repeated<std::uint16_t>(0x7f00, 64)}; },
       format, "more than F16 weights can have"},
      {"the weight as well", [](Tensors& t, json&) { t["x.weight"] = {"F16", {1}, FileBytes(2)}; }, format,
       "\"x.weight\" is also in"},
      {"awq with groups",
       [](Tensors& t, json& q) {
         q = {{"quant_method", "awq"}};
         resize(t["x.qweight"], {64, 4}, 4);
       },
       format, "\"x.g_idx\" has no place"},
      {"awq in the shape of gptq",
       [](Tensors& t, json& q) {
         q = {{"quant_method", "awq"}};
         t.erase("x.g_idx");
       },
       format, "expected [inputs, 4]: eight outputs in a word"},
      {"awq with odd outputs",
       [](Tensors& t, json& q) {
         q = {{"quant_method", "awq"}};
         resize(t["x.scales"], {2, 31}, 2);
       },
       format, "expected a multiple of 8 outputs"},
  };
  return list;
}

}  // namespace
Q_DECLARE_METATYPE(const HostileLayer*)

class PackedTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void weightsAreWhatTheCodesMean_data();
  void weightsAreWhatTheCodesMean();
  void rowsInAnyPortions();
  void smallLayerByHand();
  void scalesThatAreNoHalvesAreSaid();
  void hostileLayerIsRefused_data();
  void hostileLayerIsRefused();
  void configurationIsRead_data();
  void configurationIsRead();
  void configurationIsRefused_data();
  void configurationIsRefused();
};

void PackedTest::weightsAreWhatTheCodesMean_data() {
  QTest::addColumn<QString>("text");
  std::ifstream file(golden("quantized/cases.json"));
  for (const auto& entry : json::parse(file))
    QTest::newRow(entry["name"].get<std::string>().c_str()) << QString::fromStdString(entry.dump());
}

void PackedTest::weightsAreWhatTheCodesMean() {
  QFETCH(QString, text);
  const json entry = json::parse(text.toStdString());
  const auto name = entry["name"].get<std::string>();
  const bool exact = entry["exact"];
  const auto file = Checkpoint::open(golden("quantized") / name);
  FOVEA_VERIFY(file);
  QCOMPARE(english(file->conversion()).find("rounded") == std::string::npos, exact);

  std::set<std::string> types;
  for (const TensorInfo& tensor : file->tensors()) {
    QVERIFY2(!tensor.name.ends_with(".scales"), tensor.name.c_str());
    if (!tensor.is_mapped()) types.emplace(kernels::type_name(tensor.type));
  }
  const auto expected_types = entry["types"].get<std::set<std::string>>();
  QVERIFY2(types == expected_types, english(file->conversion()).c_str());

  const FileBytes truth = read_bytes(golden("quantized") / (name + ".weights.safetensors"));
  const auto expected = checkpoint::read_safetensors(truth, name);
  FOVEA_VERIFY(expected);
  QVERIFY(expected->size() >= 2);
  for (const TensorInfo& info : *expected) {
    const TensorInfo* found = file->find(info.name);
    QVERIFY2(found != nullptr && !found->is_mapped(), info.name.c_str());
    QCOMPARE(found->shape, info.shape);
    const std::vector<float> values = weights(*file, *found);
    std::vector<float> wanted(values.size());
    QCOMPARE(info.bytes, wanted.size() * sizeof(float));
    std::memcpy(wanted.data(), truth.data() + info.offset, info.bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float most = exact ? 0 : std::abs(wanted[i]) * 0x1p-11F + 0x1p-25F;
      QVERIFY2(std::abs(values[i] - wanted[i]) <= most,
               (info.name + "[" + std::to_string(i) + "]: " + std::to_string(values[i]) + ", expected " +
                std::to_string(wanted[i]))
                   .c_str());
    }
  }
}

// Tiles of 64 rows, chunks of any size: 96 rows in portions that divide neither.
void PackedTest::rowsInAnyPortions() {
  for (const char* name : {"gptq", "gptq-mixed", "auto-round-awq", "gptq-activation-order"}) {
    const auto file = Checkpoint::open(golden("quantized") / name);
    FOVEA_VERIFY(file);
    const TensorInfo* tensor = file->find("model.layers.0.mlp.gate_proj.weight");
    QVERIFY(tensor != nullptr);
    const auto row = static_cast<std::size_t>(kernels::row_bytes(tensor->type, 64));
    FileBytes whole(96 * row);
    file->read_rows(*tensor, 64, 0, 96, whole.data());
    for (const std::int64_t portion : {1, 7, 13, 65}) {
      for (std::int64_t first = 0; first < 96; first += portion) {
        const std::int64_t count = std::min(portion, 96 - first);
        // What lies behind the rows stays as it was.
        FileBytes part(static_cast<std::size_t>(count) * row + 16, std::byte{0xa5});
        file->read_rows(*tensor, 64, first, count, part.data());
        const auto used = static_cast<std::size_t>(count) * row;
        QVERIFY(std::memcmp(part.data(), whole.data() + static_cast<std::size_t>(first) * row, used) == 0);
        QVERIFY(std::all_of(part.begin() + static_cast<std::ptrdiff_t>(used), part.end(),
                            [](std::byte b) { return b == std::byte{0xa5}; }));
      }
    }
  }
}

void PackedTest::smallLayerByHand() {
  const TemporaryFolder folder;
  Tensors tensors = small_layer();
  overwrite<std::uint32_t>(tensors["x.qweight"].data, 4 * 3, 0x555555f5);  // output 3, input 1: 15
  write_folder(folder.path(), tensors, gptq());
  const auto file = Checkpoint::open(folder.path());
  FOVEA_VERIFY(file);
  QCOMPARE(file->tensors().size(), std::size_t{1});
  const TensorInfo& x = file->tensors().front();
  QCOMPARE(x.name, std::string("x.weight"));
  QVERIFY(x.type == kernels::Type::q4_0);
  QCOMPARE(x.bytes, std::uint64_t{32 * 36});
  const std::vector<float> values = weights(*file, x);
  for (std::size_t i = 0; i < values.size(); ++i) QCOMPARE(values[i], i == 3 * 64 + 1 ? 3.5F : -1.5F);
  QVERIFY(std::ranges::equal(file->identifying_bytes(x), tensors["x.qweight"].data));
  QCOMPARE(english(file->conversion()), std::string("gptq: 1 matrix of 4 bits as Q4_0 (exactly)"));
}

void PackedTest::scalesThatAreNoHalvesAreSaid() {
  const TemporaryFolder folder;
  Tensors tensors = small_layer();
  tensors["x.scales"] = {"F32", {2, 32}, repeated<float>(0.1F, 64)};
  write_folder(folder.path(), tensors, gptq());
  const auto file = Checkpoint::open(folder.path());
  FOVEA_VERIFY(file);
  QCOMPARE(english(file->conversion()),
           std::string("gptq: 1 matrix of 4 bits as Q4_0 (scales rounded to F16)"));
  for (const float value : weights(*file, file->tensors().front()))
    QVERIFY(std::abs(value + 0.3F) <= 0.3F * 0x1p-11F);
}

void PackedTest::hostileLayerIsRefused_data() {
  QTest::addColumn<const HostileLayer*>("row");
  for (const HostileLayer& row : hostile_layers()) QTest::newRow(row.name) << &row;
}

void PackedTest::hostileLayerIsRefused() {
  QFETCH(const HostileLayer*, row);
  const TemporaryFolder folder;
  Tensors tensors = small_layer();
  json quantization = gptq();
  row->change(tensors, quantization);
  write_folder(folder.path(), tensors, quantization);
  const auto result = Checkpoint::open(folder.path());
  QVERIFY(!result);
  const std::string message = result.error().message();
  QVERIFY2(result.error().kind == row->kind, message.c_str());
  QVERIFY2(message.find(row->words) != std::string::npos, message.c_str());
  QVERIFY2(message.starts_with((folder.path() / "model.safetensors").string() + ", offset "),
           message.c_str());
  QVERIFY2(result.error().has_advice(), message.c_str());
}

void PackedTest::configurationIsRead_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("awq");
  QTest::addColumn<bool>("less_one");
  const auto row = [](const char* text, bool awq, bool less_one) {
    QTest::newRow(text) << QString(text) << awq << less_one;
  };
  row(R"({"quant_method":"gptq","bits":3})", false, true);
  row(R"({"quant_method":"gptq","checkpoint_format":"gptq_v2"})", false, false);
  row(R"({"quant_method":"gptq","format":"gptq_v2","pack_dtype":"int32"})", false, false);
  row(R"({"quant_method":"GPTQ","is_marlin_format":false,"extra":[1]})", false, true);
  row(R"({"quant_method":"awq","version":"GEMM","bits":4})", true, false);
  row(R"({"quant_method":"awq","version":null})", true, false);
  row(R"({"quant_method":"auto-round"})", false, true);
  row(R"({"quant_method":"auto-round","backend":"auto"})", false, true);
  row(R"({"quant_method":"intel/auto-round","backend":"auto_round:gptq:exllamav2"})", false, true);
  row(R"({"quant_method":"auto-round","packing_format":"auto_round:auto_gptq"})", false, true);
  row(R"({"quant_method":"auto-round","packing_format":"auto_round:gptqmodel","bits":5})", false, false);
  row(R"({"quant_method":"auto-round","packing_format":"auto_round","backend":"auto"})", false, false);
  row(R"({"quant_method":"auto-round","packing_format":"auto_round:auto_awq"})", true, false);
}

void PackedTest::configurationIsRead() {
  QFETCH(QString, text);
  QFETCH(bool, awq);
  QFETCH(bool, less_one);
  const json config = {{"quantization_config", json::parse(text.toStdString())}};
  const auto read = checkpoint::read_quantization(config, "config.json");
  FOVEA_VERIFY(read);
  QVERIFY(read->has_value());
  QCOMPARE((*read)->layout == checkpoint::PackedLayout::awq, awq);
  QCOMPARE((*read)->zeros_less_one, less_one);
}

void PackedTest::configurationIsRefused_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("unsupported");
  QTest::addColumn<QString>("words");
  const auto row = [](const char* text, bool unsupported, const char* words) {
    QTest::newRow(text) << QString(text) << unsupported << QString(words);
  };
  for (const char* method : {"bitsandbytes", "fp8", "compressed-tensors", "hqq", "nvfp4", "gptq2"}) {
    QTest::newRow(method)
        << QString(R"({"quant_method":"%1"})").arg(method) << true
        << QString("quant_method is \"%1\", Fovea reads gptq, awq and auto-round").arg(method);
  }
  row(R"({"quant_method":"gptq","checkpoint_format":"marlin"})", true, "checkpoint_format is \"marlin\"");
  row(R"({"quant_method":"gptq","is_marlin_format":true})", true, "is_marlin_format");
  row(R"({"quant_method":"gptq","pack_dtype":"int16"})", true, "pack_dtype is \"int16\"");
  row(R"({"quant_method":"gptq","bits":16})", true, "bits is \"16\", Fovea reads 2 to 8");
  row(R"({"quant_method":"awq","version":"gemv"})", true, "version is \"gemv\"");
  row(R"({"quant_method":"awq","bits":3})", true, "bits is \"3\"");
  row(R"({"quant_method":"awq","backend":"llm-awq"})", true, "backend is \"llm-awq\"");
  row(R"({"quant_method":"auto-round","packing_format":"auto_round:fp8_static"})", true,
      "packing_format is \"auto_round:fp8_static\"");
  row(R"({"quant_method":"auto-round","data_type":"mx_fp"})", true, "data_type is \"mx_fp\"");
  row(R"({"quant_method":"auto-round","act_bits":8})", true, "act_bits is \"8\"");
  row(R"({"quant_method":"gptq","bits":"four"})", false, "bits is \"\\\"four\\\"\", expected 1 to 64");
  row(R"({"quant_method":"gptq","bits":18446744073709551615})", false, "bits is");
  row(R"({"quant_method":"gptq","group_size":1e300})", false, "group_size is");
  row(R"({"quant_method":"gptq","sym":1})", false, "sym is \"1\", expected true or false");
  row(R"({"quant_method":4})", false, "quant_method is \"4\", expected a string");
  row("[]", false, "not a JSON object");
}

void PackedTest::configurationIsRefused() {
  QFETCH(QString, text);
  QFETCH(bool, unsupported);
  QFETCH(QString, words);
  const json config = {{"quantization_config", json::parse(text.toStdString())}};
  const auto read = checkpoint::read_quantization(config, "some/config.json");
  QVERIFY(!read);
  const std::string message = read.error().message();
  QVERIFY2(read.error().kind == (unsupported ? ErrorKind::unsupported : ErrorKind::format), message.c_str());
  QVERIFY2(message.find(words.toStdString()) != std::string::npos, message.c_str());
  QVERIFY2(message.starts_with("some/config.json: "), message.c_str());
  QVERIFY2(read.error().has_advice(), message.c_str());
}

FOVEA_TEST(PackedTest)
#include "packed_test.moc"
