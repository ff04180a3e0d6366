#include "engine/precision/hotness.h"

#include <cmath>

#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::tests::random_routing;
using fovea::tests::Routing;
using fovea::tests::two_tiers;

namespace {

// DynaExq's Eq. 2 as it is written: every unit, every pass.
struct Plain {
  std::vector<double> s;

  void observe(const PolicyWorld& world, const Observation& o, const HotnessSettings& settings) {
    std::vector<double> gates(s.size());
    for (const ExpertUse& use : o.uses) gates[static_cast<std::size_t>(use.unit)] += double(use.gate_sum);
    for (std::int64_t layer = 0; layer < world.layers(); ++layer) {
      const auto l = static_cast<std::size_t>(layer);
      const double tokens = o.routed.empty() ? double(o.tokens) : double(o.routed[l]);
      const double a = settings.smoothing_tokens == 0
                           ? settings.smoothing
                           : std::pow(settings.smoothing, tokens / double(settings.smoothing_tokens));
      for (auto u = static_cast<std::size_t>(world.first_unit[l]);
           u < static_cast<std::size_t>(world.first_unit[l + 1]); ++u)
        s[u] = a * s[u] + (1 - a) * gates[u] / tokens;
    }
  }
};

bool close(double found, double wanted) {
  return std::abs(found - wanted) <= 1e-9 * std::abs(wanted) + 1e-30;
}

std::vector<float> skewed(int units, int busy) {
  std::vector<float> load(static_cast<std::size_t>(units));
  std::fill_n(load.begin(), busy, 2.0F);
  return load;
}

}  // namespace

class HotnessTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsTheEquation_data() {
    QTest::addColumn<double>("smoothing");
    QTest::addColumn<int>("smoothingTokens");
    QTest::newRow("each pass") << 0.9 << 0;
    QTest::newRow("each pass, folded often") << 0.01 << 0;
    QTest::newRow("tokens") << 0.9 << 200;
    QTest::newRow("tokens, short memory") << 0.5 << 7;
    QTest::newRow("no memory") << 0.0 << 0;
  }
  void equalsTheEquation() {
    QFETCH(double, smoothing);
    QFETCH(int, smoothingTokens);
    const HotnessSettings settings{.smoothing = smoothing, .smoothing_tokens = smoothingTokens};
    const PolicyWorld world = two_tiers(3, 20, 4);
    std::mt19937 random(fovea::tests::seed());
    Hotness hotness(world.first_unit, settings);
    Plain plain{.s = std::vector<double>(60)};
    for (int pass = 0; pass < 2000; ++pass) {
      const Routing routing = random_routing(world, 1 + random() % 40, 3, pass / 500 * 7, random);
      hotness.observe(routing.observation());
      plain.observe(world, routing.observation(), settings);
      for (std::int32_t unit = 0; unit < 60; ++unit) {
        if (close(hotness.of(unit), plain.s[static_cast<std::size_t>(unit)])) continue;
        QFAIL(
            qPrintable(QString("unit %1 in pass %2, seed %3").arg(unit).arg(pass).arg(fovea::tests::seed())));
      }
    }
    double sum = 0;
    for (int unit = 20; unit < 40; ++unit) sum += plain.s[static_cast<std::size_t>(unit)];
    QVERIFY(std::abs(hotness.layer_mean(1) - sum / 20) < 1e-9);
    QCOMPARE(hotness.all()[7], float(plain.s[7]));
    QVERIFY(!close(hotness.of(0), plain.s[0] * (1 + 1e-8)));  // the comparison can fail
  }

  void unusedUnitsDecay() {
    const std::vector<std::int32_t> first{0, 2};
    Hotness hotness(first, {.smoothing = 0.5, .smoothing_tokens = 0});
    const std::vector<ExpertUse> uses{{.unit = 1, .tokens = 1, .gate_sum = 1}};
    hotness.observe({.tokens = 1, .uses = uses});
    QCOMPARE(hotness.of(1), 0.5);
    hotness.observe({.tokens = 1});
    hotness.observe({.tokens = 1});
    QCOMPARE(hotness.of(1), 0.125);
    QCOMPARE(hotness.of(0), 0.0);
  }

  void aChunkWeighsAsItsTokens() {
    const std::vector<std::int32_t> first{0, 3};
    const HotnessSettings settings{.smoothing = 0.9, .smoothing_tokens = 50};
    const std::vector<float> begin{0.25F, 0.5F, 0.0F};
    Hotness chunk(first, settings, begin), single(first, settings, begin);
    const std::vector<ExpertUse> of_chunk{{.unit = 0, .tokens = 30, .gate_sum = 7.5F}};
    const std::vector<ExpertUse> of_token{{.unit = 0, .tokens = 1, .gate_sum = 0.25F}};
    chunk.observe({.tokens = 30, .prefill = true, .uses = of_chunk});
    for (int token = 0; token < 30; ++token) single.observe({.tokens = 1, .uses = of_token});
    for (int unit = 0; unit < 3; ++unit) QVERIFY(close(chunk.of(unit), single.of(unit)));
    QCOMPARE(single.of(0), 0.25);
  }

  void aLayerThatDidNotRunStays() {
    const std::vector<std::int32_t> first{0, 1, 2};
    const std::vector<float> begin{0.5F, 0.5F};
    Hotness hotness(first, {.smoothing = 0.5, .smoothing_tokens = 0}, begin);
    const std::vector<std::int32_t> routed{4, 0};
    hotness.observe({.tokens = 4, .prefill = true, .routed = routed});
    QCOMPARE(hotness.of(0), 0.25);
    QCOMPARE(hotness.of(1), 0.5);
  }

  void tellsTheSkew() {
    std::vector<float> scratch;
    QCOMPARE(top_tenth_share(skewed(40, 40), scratch), 0.1F);
    QCOMPARE(top_tenth_share(skewed(40, 8), scratch), 0.5F);
    QCOMPARE(top_tenth_share(skewed(40, 3), scratch), 1.0F);
    QCOMPARE(top_tenth_share(skewed(40, 0), scratch), 0.0F);
    QCOMPARE(top_tenth_share(skewed(19, 19), scratch), 1 / 19.0F);
    QCOMPARE(top_tenth_share(skewed(8, 8), scratch), 0.125F);  // at least one unit
    QCOMPARE(top_tenth_share({}, scratch), 0.0F);
  }
};
FOVEA_TEST(HotnessTest)

#include "hotness_test.moc"
