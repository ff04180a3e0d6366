// Published models as shapes: their parameters and sizes are the published ones.
#include "engine/precision/model_shapes.h"

#include <cmath>

#include "engine/precision/tiers.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;

namespace {

const ModelShape& shape(const QString& name) {
  return **find_shape(name.toStdString());
}

std::int64_t parameters(const ModelShape& s) {
  const DenseWeights dense = dense_weights(s);
  return expert_weights(s) + dense.matrices() + dense.vectors;
}

constexpr double gib = 1 << 30;

}  // namespace

class ModelShapesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void unknownNamesAreRefusedWithTheKnownOnes() {
    const auto found = find_shape("gpt-5");
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::not_found);
    QVERIFY(found.error().advice_words().find("gpt-oss-120b") != std::string::npos);
  }

  // The model cards' numbers, in billions. Qwen3-Next's 80 includes the layer that predicts further tokens
  // (512 experts and more, 1.7 B), which is not loaded.
  void parametersAreThePublishedOnes_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<double>("billions");
    QTest::addColumn<double>("embeddings");
    QTest::newRow("qwen3-4b") << "qwen3-4b" << 4.0 << 4.0 - 3.6;
    QTest::newRow("qwen3-30b") << "qwen3-30b-a3b" << 30.5 << 30.5 - 29.9;
    QTest::newRow("qwen3-next") << "qwen3-next-80b-a3b" << 81.3 - 1.65 << 0.62;
    QTest::newRow("mixtral") << "mixtral-8x7b" << 46.7 << 0.26;
    QTest::newRow("gpt-oss") << "gpt-oss-120b" << 116.8 << 1.16;
    QTest::newRow("gemma 4 with experts") << "gemma-4-26b-a4b" << 25.2 << 0.74;
    QTest::newRow("gemma 4") << "gemma-4-31b" << 30.7 << 1.41;
    QTest::newRow("gemma 3") << "gemma-3-27b" << 27.0 << 1.41;
    // The cards round these: 34.7 and 26.9 are ours.
    QTest::newRow("qwen3.6 with experts") << "qwen3.6-35b-a3b" << 34.66 << 1.02;
    QTest::newRow("qwen3.6") << "qwen3.6-27b" << 26.9 << 2.54;
  }
  void parametersAreThePublishedOnes() {
    QFETCH(QString, name);
    QFETCH(double, billions);
    QFETCH(double, embeddings);
    QVERIFY(std::abs(static_cast<double>(parameters(shape(name))) / 1e9 - billions) < 0.06);
    QVERIFY(std::abs(static_cast<double>(dense_weights(shape(name)).embeddings) / 1e9 - embeddings) < 0.03);
  }

  // Rough checks, within 5 %. Where ours differ: Qwen3-Next's 152 has the extra layer (3.3 GiB at FP16); the
  // INT4 exports have 4.15 bits per weight (a scale for 128 weights), our q4 has 4.25; what the INT2 export
  // calls 2 bits includes attention and shared experts, so there everything is counted at few bits. Ours
  // keeps embeddings, attention and routers in BF16 unless the file has them smaller.
  void sizesAreThePublishedOnes_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("tier");  // of the experts
    QTest::addColumn<int>("dense");     // kernels::Type
    QTest::addColumn<double>("least");
    QTest::addColumn<double>("most");
    QTest::addColumn<double>("unit");
    const int bf16 = int(kernels::Type::bf16), small = int(kernels::Type::q4_0);
    QTest::newRow("qwen3-30b fp16") << "qwen3-30b-a3b" << "bf16" << bf16 << 57.0 << 57.0 << gib;
    QTest::newRow("qwen3-30b int4") << "qwen3-30b-a3b" << "q4" << bf16 << 17.0 << 17.0 << gib;
    QTest::newRow("qwen3-next fp16") << "qwen3-next-80b-a3b" << "bf16" << bf16 << 152.0 << 152.0 << gib;
    QTest::newRow("qwen3-next int4") << "qwen3-next-80b-a3b" << "q4" << bf16 << 41.0 << 41.0 << gib;
    QTest::newRow("qwen3-next int2") << "qwen3-next-80b-a3b" << "q2" << small << 21.0 << 21.0 << gib;
    QTest::newRow("mixtral fp16") << "mixtral-8x7b" << "bf16" << bf16 << 93.0 << 93.0 << 1e9;
    QTest::newRow("mixtral int4") << "mixtral-8x7b" << "q4" << bf16 << 24.0 << 26.0 << 1e9;
    QTest::newRow("gpt-oss as published") << "gpt-oss-120b" << "file" << bf16 << 60.8 << 60.8 << gib;
  }
  void sizesAreThePublishedOnes() {
    QFETCH(QString, name);
    QFETCH(QString, tier);
    QFETCH(int, dense);
    QFETCH(double, least);
    QFETCH(double, most);
    QFETCH(double, unit);
    const ModelShape& s = shape(name);
    const ShapeWeights weights = weights_of(s);
    const UnitTable units(weights.plan, models::UnitScope::experts);
    const auto tiers = parse_tiers(std::vector{tier.toStdString()}, units);
    FOVEA_VERIFY(tiers);
    const double bits = bits_per_weight(tiers->front(), units[0]);
    const double size = (static_cast<double>(dense_bytes(s, static_cast<kernels::Type>(dense))) +
                         static_cast<double>(expert_weights(s)) * bits / 8) /
                        unit;
    QVERIFY2(size > 0.95 * least && size < 1.05 * most, qPrintable(QString::number(size)));
  }

  // Bytes of one more token: 48 layers of 4 heads of 128, keys and values of 2 bytes; of Qwen3-Next 12 layers
  // of 2 heads of 256; of gpt-oss half of 36 layers of 8 heads of 64, once the window is full.
  // 36 layers of 32 states of 128 × 128 and 3 positions of 8,192 channels, floats, twice.
  void linearAttentionHasAState() {
    const std::int64_t state = 36 * (32 * 128 * 128 + 3 * 8192) * 4;
    const models::StatePlan states = models::plan_states(config_of(shape("qwen3-next-80b-a3b")), 8192);
    QCOMPARE(states.bytes, state);
    // What a gibibyte holds are 13, of which four at the ends of turns; so the others are further apart.
    QCOMPARE(states.turn_ends, 4);
    QCOMPARE(states.spacing, 1024);
    QCOMPARE(states.saved, 4 + 8);
    QCOMPARE(states.sequences, 2);
  }

  void expertsAreUnits() {
    const ModelShape& s = shape("gpt-oss-120b");
    const ShapeWeights weights = weights_of(s);
    const UnitTable units(weights.plan, models::UnitScope::experts);
    QCOMPARE(units.size(), 36 * 128);
    QCOMPARE(units.parameters(), expert_weights(s));
    QCOMPARE(units.name(129), std::string("blk.1.expert.1"));
    const auto tiers = parse_tiers(std::vector<std::string>{"file"}, units);
    FOVEA_VERIFY(tiers);
    // Three matrices of 2,880 rows of 2,880 weights at 17 bytes for 32, in whole pages.
    const std::int64_t matrix = 2880 * 2880 / 32 * 17;
    QCOMPARE(version_layout(tiers->front(), units[0], kernels::reference::device()).bytes,
             (3 * matrix + 4095) / 4096 * 4096);
  }
};
FOVEA_TEST(ModelShapesTest)

#include "model_shapes_test.moc"
