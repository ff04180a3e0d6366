// In how many layers a sequence's first token has its experts at the highest tier, where nobody says it.
#include "engine/precision/first_token.h"

#include "engine/precision/model_shapes.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;

class FirstTokenTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // As many as 128 MiB are read for, and four at least.
  void asManyLayersAsAreReadQuickly_data() {
    QTest::addColumn<std::int64_t>("width");
    QTest::addColumn<std::int64_t>("least");
    QTest::addColumn<std::int64_t>("most");
    QTest::newRow("small experts: all of them")
        << std::int64_t{256} << std::int64_t{48} << std::int64_t{1000};
    QTest::newRow("middling ones: some") << std::int64_t{768} << std::int64_t{6} << std::int64_t{7};
    QTest::newRow("large ones: four") << std::int64_t{4096} << std::int64_t{4} << std::int64_t{4};
  }
  void asManyLayersAsAreReadQuickly() {
    QFETCH(std::int64_t, width);
    QFETCH(std::int64_t, least);
    QFETCH(std::int64_t, most);
    const ShapeWeights weights = weights_of(shape(width));
    const UnitTable units(weights.plan, UnitScope::experts);
    const auto tiers = parse_tiers(std::vector<std::string>{"q4", "q2"}, units);
    FOVEA_VERIFY(tiers);
    const kernels::Device& device = kernels::reference::device();
    // A layer's experts take the same room, however many layers there are.
    const std::int64_t used = width == 256 ? 1 : 8;
    const auto scope = [&](const PrecisionRequest& request, PolicyKind policy) {
      return FirstToken::scope(request, policy, units, *tiers, device, used);
    };
    const FirstToken::Scope chosen = scope({}, PolicyKind::fovea);
    QVERIFY2(chosen.layers >= least && chosen.layers <= most, qPrintable(QString::number(chosen.layers)));
    const std::int64_t of_layer = FirstToken::bytes(chosen, units, *tiers, device);
    QVERIFY(of_layer > 0);
    QVERIFY(chosen.layers == 4 || chosen.layers * of_layer <= std::int64_t{128} << 20);
    QVERIFY(chosen.layers >= units.layers() || (chosen.layers + 1) * of_layer > std::int64_t{128} << 20);
    // Whoever says it is heeded; nothing moves, or as the paper has it: none.
    QCOMPARE(scope({.first_token_layers = 2}, PolicyKind::dynaexq).layers, 2);
    QCOMPARE(scope({}, PolicyKind::static_tiers).layers, 0);
    QCOMPARE(scope({.dynaexq = dynaexq_as_published(DynaExqVersion::v1)}, PolicyKind::dynaexq).layers, 0);
  }

 private:
  static ModelShape shape(std::int64_t width) {
    return {.name = "made up",
            .layers = 48,
            .hidden = 2048,
            .heads = 2,
            .kv_heads = 1,
            .head_dim = 32,
            .vocabulary = 100,
            .context = 100,
            .experts = 16,
            .experts_used = 8,
            .expert_width = width};
  }
};
FOVEA_TEST(FirstTokenTest)

#include "first_token_test.moc"
