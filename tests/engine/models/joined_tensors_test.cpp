// GGUF files whose tensors are joined as some converters do: the same weights, and so the same logits.
#include <cstring>
#include <map>

#include "engine/checkpoint/gguf_writer.h"
#include "kernels/cpu/device.h"
#include "tests/support/test.h"

#include "runner.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

struct Tensor {
  checkpoint::TensorInfo info;
  std::vector<std::byte> bytes;

  // Of one part of `count`, the outermost dimensions of which this is divided by.
  std::int64_t rows_bytes(std::int64_t count) const { return std::ssize(bytes) / count; }
};
using Tensors = std::map<std::string, Tensor>;

void write(const checkpoint::Metadata& metadata, const Tensors& tensors, const std::filesystem::path& path) {
  std::vector<checkpoint::TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) infos.push_back(tensor.info);
  auto writer = checkpoint::GgufWriter::create(path, metadata, infos);
  if (!writer) qFatal("%s", writer.error().message().c_str());
  for (const auto& [name, tensor] : tensors) (void)writer->append(tensor.bytes).has_value();
  if (const auto done = writer->finish(); !done) qFatal("%s", done.error().message().c_str());
}

// Takes these tensors out and puts in one: of each of `count` matrices the first one's rows, then the second
// one's …
void join(Tensors& tensors, const std::vector<std::string>& names, const std::string& joined,
          std::int64_t count) {
  Tensor out = tensors.at(names.front());
  out.info.name = joined;
  out.bytes.clear();
  const std::size_t rows = count > 1 ? 1 : 0;  // which dimension grows
  out.info.shape[rows] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::string& name : names) {
      const Tensor& part = tensors.at(name);
      const auto first = part.bytes.begin() + i * part.rows_bytes(count);
      out.bytes.insert(out.bytes.end(), first, first + part.rows_bytes(count));
    }
  }
  for (const std::string& name : names) {
    out.info.shape[rows] += tensors.at(name).info.shape[rows];
    tensors.erase(name);
  }
  out.info.bytes = out.bytes.size();
  tensors[joined] = out;
}

// attn_qkv holds q's and k's rows and v's, ssm_in those of each key head together, with z's.
void join_projections(Tensors& tensors, const std::string& layer, const checkpoint::Metadata& metadata) {
  const auto size = [&](const char* name) { return *metadata.integer("qwen3next.ssm." + std::string(name)); };
  const std::int64_t key_heads = size("group_count"), value_heads = size("time_step_rank");
  const std::int64_t keys = size("state_size"), values = size("inner_size") / key_heads;
  const Tensor qkv = tensors.at(layer + "attn_qkv.weight"), z = tensors.at(layer + "attn_gate.weight");
  const std::int64_t row = qkv.rows_bytes(qkv.info.shape[0]);
  Tensor out = qkv;
  out.info.name = layer + "ssm_in.weight";
  out.bytes.clear();
  const auto add = [&](const Tensor& from, std::int64_t first, std::int64_t count) {
    const auto begin = from.bytes.begin() + first * row;
    out.bytes.insert(out.bytes.end(), begin, begin + count * row);
  };
  for (std::int64_t head = 0; head < key_heads; ++head) {
    add(qkv, head * keys, keys);
    add(qkv, (key_heads + head) * keys, keys);
    add(qkv, 2 * key_heads * keys + head * values, values);
    add(z, head * values, values);
  }
  QVERIFY(value_heads % key_heads == 0);
  out.info.shape[0] += z.info.shape[0];
  out.info.bytes = out.bytes.size();
  tensors.erase(layer + "attn_qkv.weight");
  tensors.erase(layer + "attn_gate.weight");
  tensors[out.info.name] = out;
}

}  // namespace

class JoinedTensorsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void givesTheSameLogits_data() {
    QTest::addColumn<QString>("file");
    for (const char* file :
         {"families/gpt_oss-0.gguf", "families/mellum-1.gguf", "families/qwen3_next-1.gguf",
          "families/qwen3_5_moe-0.gguf", "families/gemma3-1.gguf"})
      QTest::newRow(file) << QString(file);
  }
  void givesTheSameLogits() {
    QFETCH(QString, file);
    const std::filesystem::path path = golden(file.toStdString().c_str());
    const auto apart = checkpoint::Checkpoint::open(path);
    FOVEA_VERIFY(apart);
    Tensors tensors;
    for (const checkpoint::TensorInfo& info : apart->tensors()) {
      const std::span<const std::byte> bytes = apart->bytes(info);
      tensors[info.name] = {info, {bytes.begin(), bytes.end()}};
    }
    int joined = 0;
    for (int number = 0; number < 16; ++number) {
      const std::string layer = "blk." + std::to_string(number) + ".";
      for (const char* kind : {"weight", "bias"}) {
        const auto name = [&](const char* what) { return layer + what + "." + kind; };
        if (tensors.contains(name("ffn_gate_exps"))) {
          join(tensors, {name("ffn_gate_exps"), name("ffn_up_exps")}, name("ffn_gate_up_exps"),
               tensors.at(name("ffn_gate_exps")).info.shape[0]);
          ++joined;
        }
        if (tensors.contains(name("attn_q")) && !tensors.contains(layer + "attn_gate.weight") &&
            !file.contains("qwen")) {
          join(tensors, {name("attn_q"), name("attn_k"), name("attn_v")}, name("attn_qkv"), 1);
          ++joined;
        }
      }
      if (file.contains("qwen3_next") && tensors.contains(layer + "attn_gate.weight")) {
        join_projections(tensors, layer, apart->metadata());
        ++joined;
      }
    }
    QVERIFY(joined > 2);
    const TemporaryFolder folder;
    write(apart->metadata(), tensors, folder.path() / "joined.gguf");
    const kernels::Device& device = *kernels::cpu::default_device();
    const auto one = load(path, device), other = load(folder.path() / "joined.gguf", device);
    FOVEA_VERIFY(one);
    FOVEA_VERIFY(other);
    std::vector<TokenId> tokens;
    for (TokenId token = 0; token < 70; ++token) tokens.push_back(token * 3 % 251);
    QVERIFY(logits(*one, device, tokens, 16) == logits(*other, device, tokens, 16));  // bit for bit
  }
};
FOVEA_TEST(JoinedTensorsTest)

#include "joined_tensors_test.moc"
