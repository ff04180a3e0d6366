// Loading: tensors are checked by name before weights are read, progress, cancelling, and inspect().
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/api/model_info.h"
#include "engine/checkpoint/mapped_file.h"
#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

#include "runner.h"

using namespace fovea;
using namespace fovea::tests;
using nlohmann::json;

namespace {

// A folder's weights file taken apart, to be changed and put together again.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::string bytes;
};
using Tensors = std::map<std::string, Tensor>;

Tensors read_tensors(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::uint64_t size = 0;
  std::memcpy(&size, all.data(), 8);
  Tensors tensors;
  const json header = json::parse(all.substr(8, size));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const auto range = entry["data_offsets"].get<std::vector<std::size_t>>();
    tensors[name] = {entry["shape"], all.substr(8 + size + range[0], range[1] - range[0])};
  }
  return tensors;
}

void write_tensors(const Tensors& tensors, const std::filesystem::path& path) {
  json header;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", "F32"},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), 8);
  file << text << data;
}

// The same with a last tensor that takes `bytes` bytes of nothing. Returns where it begins.
std::int64_t write_with_hole(Tensors tensors, const std::string& name, std::int64_t bytes,
                             const std::filesystem::path& path) {
  const std::vector<std::int64_t> shape = tensors[name].shape;
  tensors.erase(name);
  json header;
  std::string data;
  for (const auto& [other, tensor] : tensors) {
    header[other] = {{"dtype", "F32"},
                     {"shape", tensor.shape},
                     {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  const auto first = static_cast<std::int64_t>(data.size());
  header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {first, first + bytes}}};
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&size), 8);
    file << text << data;
  }
  const std::int64_t begin = 8 + static_cast<std::int64_t>(size) + first;
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(begin + bytes));
  return begin;
}

// How much of a file the system holds in memory.
std::int64_t bytes_in_memory(const std::filesystem::path& path) {
  const auto file = checkpoint::MappedFile::open(path);
  if (!file) return -1;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> pages((file->bytes().size() + static_cast<std::size_t>(page) - 1) /
                                   static_cast<std::size_t>(page));
  void* const begin = const_cast<std::byte*>(file->bytes().data());
  if (::mincore(begin, file->bytes().size(), pages.data()) != 0) return -1;
  return page * std::ranges::count_if(pages, [](unsigned char held) { return held & 1; });
}

// A copy of a golden model whose tensors `change` edits.
template <class Change>
Result<models::Model> load_changed(const std::string& name, const Change& change) {
  const TemporaryFolder folder;
  std::filesystem::copy(golden("models/" + name), folder.path(), std::filesystem::copy_options::recursive);
  const auto path = folder.path() / "model.safetensors";
  Tensors tensors = read_tensors(path);
  change(tensors);
  write_tensors(tensors, path);
  return load(folder.path(), kernels::reference::device());
}

}  // namespace

class LoadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tensorsAreCheckedByName() {
    const auto untouched = load_changed("qwen2_moe-1", [](Tensors&) {});
    FOVEA_VERIFY(untouched);

    auto model =
        load_changed("llama-0", [](Tensors& tensors) { tensors.erase("model.layers.1.mlp.up_proj.weight"); });
    QVERIFY(!model);
    QCOMPARE(model.error().kind, ErrorKind::format);
    QVERIFY(model.error().where_words().ends_with("tensor model.layers.1.mlp.up_proj.weight"));
    QVERIFY(model.error().what_words().find("missing, expected [27, 24]") != std::string::npos);

    // As many bytes, but turned: [24, 27] for [27, 24].
    model = load_changed(
        "llama-0", [](Tensors& tensors) { tensors["model.layers.1.mlp.up_proj.weight"].shape = {24, 27}; });
    QVERIFY(!model);
    QVERIFY(model.error().what_words().find("is [24, 27], expected [27, 24]") != std::string::npos);

    // A bias that the configuration does not speak of would be left out of the sum.
    model = load_changed("llama-0", [](Tensors& tensors) {
      tensors["model.layers.0.mlp.up_proj.bias"] = tensors["model.norm.weight"];
    });
    QVERIFY(!model);
    QCOMPARE(model.error().kind, ErrorKind::unsupported);
    QVERIFY(model.error().where_words().ends_with("tensor model.layers.0.mlp.up_proj.bias"));

    // Outside the layers, and the frequencies that old files store, do no harm and are reported.
    model = load_changed("llama-0", [](Tensors& tensors) {
      tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = tensors["model.norm.weight"];
      tensors["visual.patch.weight"] = tensors["model.norm.weight"];
    });
    FOVEA_VERIFY(model);
    QCOMPARE(model->ignored_tensors(), std::vector<std::string>{"visual.patch.weight"});
  }

  void progressCountsEveryByte() {
    const kernels::Device* device = kernels::cpu::default_device();
    QVERIFY(device);
    auto file = checkpoint::Checkpoint::open(golden("models/mixtral-0"));
    FOVEA_VERIFY(file);
    std::int64_t last = -1, total = 0;
    bool rising = true;
    const auto model = models::Model::load(std::move(*file), *device, 2, [&](const Progress& p) {
      rising = rising && p.done >= last && p.done <= p.total && p.unit == Progress::Unit::bytes;
      last = p.done;
      total = p.total;
    });
    FOVEA_VERIFY(model);
    QVERIFY(rising);
    QCOMPARE(last, total);
    QVERIFY(total > 0);
  }

  void loadingCanBeCancelled() {
    std::stop_source source;
    source.request_stop();
    auto file = checkpoint::Checkpoint::open(golden("models/llama-0"));
    FOVEA_VERIFY(file);
    const auto model =
        models::Model::load(std::move(*file), kernels::reference::device(), 2, {}, source.get_token());
    QVERIFY(!model);
    QCOMPARE(model.error().kind, ErrorKind::cancelled);
  }

  // A matrix of many chunks is packed as one of one chunk: 3 M weights of 4 bytes are 12 MB.
  void manyChunksAreOneMatrix() {
    const TemporaryFolder folder;
    json config = json::parse(std::ifstream(golden("models/llama-1/config.json")));
    const std::int64_t vocabulary = 100003, d = 30;
    config["vocab_size"] = vocabulary;
    std::ofstream(folder.path() / "config.json") << config.dump();
    Tensors tensors = read_tensors(golden("models/llama-1/model.safetensors"));
    std::vector<float> table(static_cast<std::size_t>(vocabulary * d));
    std::uint32_t state = seed();
    for (float& value : table) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 8) / 8388608.0F - 1;
    }
    const std::string bytes(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(float));
    tensors["model.embed_tokens.weight"] = {{vocabulary, d}, bytes};
    write_tensors(tensors, folder.path() / "model.safetensors");

    const std::vector<TokenId> ids{5, 99999, 50001, 7};
    const auto truth = load(folder.path(), kernels::reference::device());
    FOVEA_VERIFY(truth);
    const auto expected = logits(*truth, kernels::reference::device(), ids, 0);
    for (const kernels::Device* device : all_devices()) {
      const auto model = load(folder.path(), *device);
      FOVEA_VERIFY(model);
      QVERIFY(largest_difference(logits(*model, *device, ids, 0), expected) < 1e-4);
    }
  }

  // A hybrid's file is refused before a tensor of it is looked at, by the layer and what it has.
  void layersThatCannotBeRunAreRefused() {
    const auto file = checkpoint::Checkpoint::open(golden("models/llama-0"));
    FOVEA_VERIFY(file);
    auto config = models::read_config(*file);
    FOVEA_VERIFY(config);
    FOVEA_VERIFY(models::plan_weights(*file, *config));
    config->layers[1].mixer = models::Mamba2Config{.heads = 4, .head_dim = 8, .state = 16};
    const auto refused = models::plan_weights(*file, *config);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::unsupported);
    QVERIFY2(refused.error().message().contains("llama-0: layer 1 has a Mamba-2 state"),
             refused.error().message().c_str());
  }

  // The weights are a hole in the file: whoever reads a page of it brings it into memory.
  void inspectReadsNoWeights() {
    const TemporaryFolder folder;
    json config = json::parse(std::ifstream(golden("models/llama-1/config.json")));
    const std::int64_t vocabulary = 600'000, d = 30, bytes = vocabulary * d * 4;
    config["vocab_size"] = vocabulary;
    std::ofstream(folder.path() / "config.json") << config.dump();
    Tensors tensors = read_tensors(golden("models/llama-1/model.safetensors"));
    const auto path = folder.path() / "model.safetensors";
    tensors["model.embed_tokens.weight"] = {{vocabulary, d}, std::string()};
    const std::int64_t header = write_with_hole(tensors, "model.embed_tokens.weight", bytes, path);
    const std::int64_t ahead = bytes / 8;  // the system may read so far behind the header
    if (const std::int64_t held = bytes_in_memory(path); held < 0 || held > header + ahead)
      QSKIP("this system does not tell what it holds in memory");
    const auto info = inspect(folder.path());
    FOVEA_VERIFY(info);
    QCOMPARE(info->vocabulary, vocabulary);
    QVERIFY(info->bytes > bytes);
    QVERIFY2(bytes_in_memory(path) < header + ahead, std::to_string(bytes_in_memory(path)).c_str());
    const auto file = checkpoint::Checkpoint::open(folder.path());
    FOVEA_VERIFY(file);
    std::byte sum{};
    for (const std::byte byte : file->bytes(*file->find("model.embed_tokens.weight"))) sum |= byte;
    QCOMPARE(sum, std::byte{0});
    QVERIFY(bytes_in_memory(path) > bytes);  // the measurement can tell
  }

  void inspectCountsParameters_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<qint64>("parameters");
    QTest::addColumn<qint64>("active");
    // qwen3_moe-0 by hand: d 24, 2 layers, 4/2 heads of 10, 5 experts of width 11 (2 used), vocabulary 37,
    // untied.
    const qint64 attention = 2 * (24 * 40 + 2 * 24 * 20 + 40 * 24) + 2 * 2 * 10;
    const qint64 norms = 5 * 24, routers = 2 * 5 * 24, expert = 3 * 24 * 11, table = 37 * 24;
    const qint64 all = attention + norms + routers + 2 * 5 * expert + 2 * table;
    const qint64 active = attention + norms + routers + 2 * 2 * expert + table;
    QTest::newRow("folder") << "qwen3_moe-0" << all << active;
    QTest::newRow("gguf") << "qwen3_moe-0-gguf.gguf" << all << active;
  }
  void inspectCountsParameters() {
    QFETCH(QString, model);
    QFETCH(qint64, parameters);
    QFETCH(qint64, active);
    const auto info = inspect(golden("models") / model.toStdString());
    FOVEA_VERIFY(info);
    QCOMPARE(info->architecture, std::string("qwen3_moe"));
    QCOMPARE(info->parameters, parameters);
    QCOMPARE(info->parameters_active, active);
    QCOMPARE(info->bytes, 4 * parameters);
    QCOMPARE(info->bytes_by_type.at("F32"), 4 * parameters);
    QCOMPARE(info->experts, 5);
    QCOMPARE(info->experts_used, 2);
  }
};
FOVEA_TEST(LoadTest)

#include "load_test.moc"
