// fovea logits against what transformers computes.
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::golden;
using fovea::tests::Outcome;
using fovea::tests::run;

namespace {

struct Array {
  std::string dictionary;
  std::vector<float> values;
};

// NumPy's file, read by its specification.
Array read_npy(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!bytes.starts_with(std::string("\x93NUMPY\x01\x00", 8))) return {};
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  Array array{.dictionary = bytes.substr(10, length), .values = {}};
  array.values.resize((bytes.size() - 10 - length) / sizeof(float));
  std::memcpy(array.values.data(), bytes.data() + 10 + length, array.values.size() * sizeof(float));
  return array;
}

}  // namespace

class LogitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalTransformers_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("chunk");
    for (const char* name : {"llama-0", "llama-0-gguf", "qwen2_moe-0", "qwen3_moe-1", "mixtral-2"}) {
      for (const char* chunk : {"", "1", "5"}) {
        QTest::addRow("%s chunk %s", name, chunk) << QByteArray(name) << QByteArray(chunk);
      }
    }
  }
  void equalTransformers() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, chunk);
    std::ifstream cases(golden("models/cases.json"));
    const auto all = nlohmann::json::parse(cases, nullptr, false);
    const auto found =
        std::ranges::find_if(all, [&](const auto& c) { return c["name"] == name.toStdString(); });
    QVERIFY(found != all.end());
    std::string tokens;
    for (const int token : (*found)["tokens"]) tokens += (tokens.empty() ? "" : ",") + std::to_string(token);

    const fovea::tests::TemporaryFolder folder;
    const std::string out = folder.path() / "logits.npy";
    std::vector<std::string> arguments{
        "logits", golden("models/" + (*found)["model"].get<std::string>()), "--tokens", tokens, "--out", out,
        "--json"};
    if (!chunk.isEmpty()) arguments.insert(arguments.end(), {"--chunk", chunk.toStdString()});
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.err, std::string());
    const Array mine = read_npy(out);
    const Array theirs = read_npy(golden("models/" + (*found)["expected"].get<std::string>()));
    QVERIFY(!theirs.values.empty());
    QCOMPARE(mine.values.size(), theirs.values.size());
    double worst = 0;
    for (std::size_t i = 0; i < mine.values.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(mine.values[i]) - theirs.values[i]));
    }
    QVERIFY2(worst <= 1e-4, std::to_string(worst).c_str());

    const auto shape = nlohmann::json::parse(outcome.out, nullptr, false)["shape"];
    const std::string text = "(" + shape[0].dump() + ", " + shape[1].dump() + ")";
    QCOMPARE(shape[0].get<std::size_t>(), (*found)["tokens"].size());
    QVERIFY(mine.dictionary.contains("'descr': '<f4'"));
    QVERIFY(mine.dictionary.contains("'fortran_order': False"));
    QVERIFY(mine.dictionary.contains(text));
    QVERIFY(mine.dictionary.ends_with('\n'));
    QCOMPARE((mine.dictionary.size() + 10) % 64, 0U);
  }

  void tokensFromStandardInput() {
    const fovea::tests::TemporaryFolder folder;
    const std::string model = golden("models/llama-0");
    const std::string one = folder.path() / "a.npy", two = folder.path() / "b.npy";
    QCOMPARE(run({"logits", model, "--tokens", "3,1,2", "--out", one}).code, 0);
    QCOMPARE(run({"logits", model, "--tokens", "-", "--out", two}, {.input = " 3, 1,\n2\n"}).code, 0);
    QVERIFY(!read_npy(one).values.empty());
    QCOMPARE(read_npy(one).values, read_npy(two).values);
    QCOMPARE(run({"logits", model, "--tokens", "-", "--out", two}, {.input = "3;1"}).code, 1);
  }
};
FOVEA_TEST(LogitsTest)

#include "logits_test.moc"
