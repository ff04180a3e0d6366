#include "engine/precision/quality_meter.h"

#include <cmath>
#include <random>

#include "engine/precision/best_mix.h"
#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::no_tier;
using fovea::QualityState;
using fovea::tests::random_routing;
using fovea::tests::three_sizes;
using fovea::tests::two_tiers;

namespace {

bool close(double a, double b) {
  return std::abs(a - b) < 1e-4;
}

}  // namespace

class QualityMeterTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // By hand: one layer, one of four high. The calibration would keep unit 0 there, the first 2,048 tokens
  // unit 3.
  void everySum() {
    PolicyWorld world = two_tiers(1, 4, 1);
    world.damage = {0, 1, 0, 2, 0, 3, 0.5F, 4};
    world.damage_is_divergence = true;
    world.uses = {0.9F, 0.03F, 0.03F, 0.04F};
    QualityMeter meter(world);
    const std::vector<ExpertUse> first{{.unit = 3, .tokens = 2048, .gate_sum = 2000}};
    const std::vector<std::uint8_t> tiers{1, 1, 0, 1};
    meter.observe({.tokens = 2048, .prefill = true, .uses = first}, tiers);
    const QualityState before = meter.state();
    QVERIFY(before.in_nats && before.has_calibration);
    QCOMPARE(before.tokens, 2048);
    QVERIFY(close(before.loss, 8000) && close(before.all_low, 8000) && close(before.all_high, 1000));
    QVERIFY(close(before.calibrated, 8000));
    QCOMPARE(before.tokens_since, 0);
    const std::vector<ExpertUse> then{{.unit = 0, .tokens = 1, .gate_sum = 0.5F},
                                      {.unit = 2, .tokens = 1, .gate_sum = 0.25F},
                                      {.unit = 3, .tokens = 1, .gate_sum = 0.25F}};
    meter.observe({.tokens = 1, .uses = then}, tiers);
    const QualityState& now = meter.state();
    QCOMPARE(now.tokens_since, 1);
    QVERIFY(close(now.loss_since, 0.5 * 1 + 0 + 0.25 * 4));
    QVERIFY(close(now.calibrated_since, 0 + 0.25 * 3 + 0.25 * 4));
    QVERIFY(close(now.start_since, 0.5 * 1 + 0.25 * 3 + 0.25 * 0.5));
    QVERIFY(close(now.low_since, 0.5 * 1 + 0.25 * 3 + 0.25 * 4) && close(now.high_since, 0.125));
    QVERIFY(close(now.loss, 8000 + now.loss_since));
  }

  // By hand: unit 3 does most of the work first, unit 0 later. What was known only
  // afterwards is never worse than any mix that stays.
  void hindsight() {
    PolicyWorld world = two_tiers(1, 4, 1);
    world.damage = {0, 1, 0, 1, 0, 1, 0, 1};
    QualityMeter meter(world);
    const auto pass = [&](std::int32_t unit, std::int64_t tokens) {
      const std::vector<ExpertUse> uses{{.unit = unit,
                                         .tokens = static_cast<std::int32_t>(tokens),
                                         .gate_sum = static_cast<float>(tokens)}};
      meter.observe({.tokens = tokens, .uses = uses}, std::vector<std::uint8_t>{1, 1, 0, 1});
    };
    pass(1, hindsight_tokens - 1);
    QCOMPARE(meter.state().hindsight.tokens, 0);
    pass(3, 300);
    QCOMPARE(meter.state().hindsight.tokens, hindsight_tokens + 299);
    QVERIFY(close(meter.state().hindsight.loss, 255) && close(meter.state().hindsight.low, 555));
    pass(3, 10);  // not yet a sixteenth more
    QCOMPARE(meter.state().hindsight.tokens, hindsight_tokens + 299);
    pass(1, 2048);
    QVERIFY(!meter.state().hindsight.tokens && meter.state().tokens_since == 0);  // the start is chosen
    pass(0, 200);
    QCOMPARE(meter.state().hindsight.tokens, 0);
    pass(2, 100);
    QCOMPARE(meter.state().hindsight.tokens, 300);
    QVERIFY(close(meter.state().hindsight.loss, 100));
    QVERIFY(meter.state().hindsight.loss < meter.state().start_since);
  }

  // Three tiers of 4, 2 and 1 pages, four units at the middle one: where numbers are free a fixed mix of as
  // many bytes gives the first unit, which does all the work, the highest.
  void numbersOfFixedMixesAreFree() {
    PolicyWorld world = three_sizes();
    for (const bool free : {false, true}) {
      world.any_mix_bytes = free ? 20 * 4096 : 0;
      QualityMeter meter(world);
      const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 2048, .gate_sum = 2048}};
      const std::vector<std::uint8_t> tiers{1, 1, 1, 1};
      meter.observe({.tokens = 2048, .prefill = true, .uses = uses}, tiers);
      meter.observe({.tokens = 2048, .prefill = true, .uses = uses}, tiers);
      const QualityState& q = meter.state();
      QVERIFY(close(q.loss_since, 1024) && close(q.calibrated_since, 1024));
      QVERIFY(close(q.start_since, free ? 0 : 1024) && close(q.hindsight.loss, free ? 0 : 1024));
    }
    // The host's units take no bytes, and none of them is moved.
    world.on_host = {false, true, true, true};
    world.capacity = {0, 1, 0};
    QualityMeter meter(world);
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 2048, .gate_sum = 2048}};
    for (int pass = 0; pass < 2; ++pass)
      meter.observe({.tokens = 2048, .uses = uses}, std::vector<std::uint8_t>{1, no_tier, no_tier, no_tier});
    QVERIFY(close(meter.state().start_since, 1024));
  }

  // The host has its units as the file has them; one on disk alone is read at the lowest tier.
  void unitsElsewhere() {
    PolicyWorld world = two_tiers(1, 2, 1);
    world.damage = {0, 1, 0, 1};
    world.on_host = {true, false};
    QualityMeter meter(world);
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 1},
                                      {.unit = 1, .tokens = 1, .gate_sum = 1}};
    meter.observe({.tokens = 1, .uses = uses}, std::vector<std::uint8_t>{no_tier, no_tier});
    QVERIFY(close(meter.state().loss, 1) && close(meter.state().all_low, 1));
  }

  // Linear layers serve every token and nobody chooses them: that is no quality of 100 %.
  void saysNothingWithoutRouters() {
    const PolicyWorld world = two_tiers(1, 2, 1);
    QualityMeter meter(world);
    meter.observe({.tokens = 5}, std::vector<std::uint8_t>{0, 1});
    QCOMPARE(meter.state().tokens, 0);
  }

  // The static policy's tiers are the calibration's mix: both lose the same, whatever comes.
  void staticIsTheCalibrationsMix() {
    PolicyWorld world = two_tiers(3, 8, 2);
    std::mt19937 random(5);
    for (std::int64_t unit = 0; unit < world.units(); ++unit) {
      world.damage.insert(world.damage.end(), {0, std::uniform_real_distribution<float>(0, 1)(random)});
      world.uses.push_back(std::uniform_real_distribution<float>(0, 1)(random));
    }
    QualityMeter meter(world);
    const auto tiers = best_fill(world, expected_loss(world));
    for (int pass = 0; pass < 3000; ++pass)
      meter.observe(random_routing(world, 1, 2, pass / 1000, random).observation(), tiers);
    const QualityState& q = meter.state();
    QVERIFY(q.loss > 0 && close(q.loss, q.calibrated) && close(q.loss_since, q.calibrated_since));
    QCOMPARE(q.tokens_since, 3000 - 2048);
    QVERIFY(q.all_high <= q.loss && q.loss <= q.all_low && q.start_since <= q.low_since);
    const double share = static_cast<double>(q.hindsight.tokens) / static_cast<double>(q.tokens_since);
    QVERIFY(share > 0.9 && q.hindsight.high <= q.hindsight.loss && q.hindsight.loss <= q.hindsight.low);
    QVERIFY(q.hindsight.loss <= std::min(q.calibrated_since, q.start_since));
  }
};
FOVEA_TEST(QualityMeterTest)

#include "quality_meter_test.moc"
