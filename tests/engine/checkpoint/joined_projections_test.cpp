// Qwen3-Next's projections of gated delta: what the joined matrix becomes, and what is refused.
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using nlohmann::json;

namespace {

const std::string in_layer = "model.layers.0.linear_attn.in_proj_";

json configuration() {
  return {{"model_type", "qwen3_next"},
          {"linear_num_key_heads", 2},
          {"linear_num_value_heads", 4},
          {"linear_key_head_dim", 1},
          {"linear_value_head_dim", 1}};
}

// Of each of two key heads a row of q, one of k, two of v and two of z; three inputs. Each number is its
// row's, and a tenth of its column's.
StoredTensors joined() {
  FileBytes data(12 * 3 * sizeof(float));
  for (std::size_t i = 0; i < 36; ++i)
    overwrite<float>(data, i * sizeof(float), static_cast<float>(i / 3) + 0.1F * static_cast<float>(i % 3));
  return {{in_layer + "qkvz.weight", {"F32", {12, 3}, data}}};
}

Result<checkpoint::Checkpoint> open(const std::filesystem::path& folder, const StoredTensors& tensors,
                                    const json& config) {
  write_safetensors(folder / "model.safetensors", tensors);
  write_text(folder / "config.json", config.dump());
  return checkpoint::Checkpoint::open(folder);
}

}  // namespace

class JoinedProjectionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theMatrixIsTakenApart() {
    const TemporaryFolder folder;
    const auto file = open(folder.path(), joined(), configuration());
    FOVEA_VERIFY(file);
    QCOMPARE(file->tensors().size(), std::size_t{4});
    const std::pair<const char*, std::vector<int>> parts[] = {
        {"q", {0, 6}}, {"k", {1, 7}}, {"v", {2, 3, 8, 9}}, {"z", {4, 5, 10, 11}}};
    for (const auto& [letter, rows] : parts) {
      const checkpoint::TensorInfo* const tensor = file->find(in_layer + letter + ".weight");
      QVERIFY(tensor != nullptr);
      QCOMPARE(tensor->shape, (std::vector<std::int64_t>{std::ssize(rows), 3}));
      std::vector<std::byte> buffer;
      const auto bytes = file->rows(*tensor, 3, 0, std::ssize(rows), buffer);
      for (std::size_t i = 0; i < rows.size() * 3; ++i) {
        float found = 0;
        std::memcpy(&found, bytes.data() + i * sizeof(float), sizeof found);
        QCOMPARE(found, static_cast<float>(rows[i / 3]) + 0.1F * static_cast<float>(i % 3));
      }
    }
  }

  void otherHeadsAreRefused_data() {
    QTest::addColumn<QString>("change");
    QTest::newRow("more rows than heads") << R"({"linear_num_key_heads": 1, "linear_num_value_heads": 1})";
    QTest::newRow("heads that are not shared evenly") << R"({"linear_num_value_heads": 3})";
    QTest::newRow("no heads") << R"({"linear_num_key_heads": 0})";
    QTest::newRow("heads as text") << R"({"linear_key_head_dim": "1"})";
    QTest::newRow("heads below nothing") << R"({"linear_value_head_dim": -1})";
    QTest::newRow("heads beyond 64 bits") << R"({"linear_value_head_dim": 18446744073709551615})";
  }
  void otherHeadsAreRefused() {
    QFETCH(QString, change);
    json config = configuration();
    config.update(json::parse(change.toStdString()));
    const TemporaryFolder folder;
    const auto file = open(folder.path(), joined(), config);
    QVERIFY(!file);
    QCOMPARE(file.error().kind, ErrorKind::format);
    QVERIFY2(file.error().message().contains(
                 "in_proj_qkvz.weight\" has the shape [12, 3], expected [rows, inputs]"),
             file.error().message().c_str());
  }
};
FOVEA_TEST(JoinedProjectionsTest)

#include "joined_projections_test.moc"
