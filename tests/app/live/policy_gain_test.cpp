#include "app/live/measures/policy_gain.h"

#include <cmath>

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;

namespace {

// 1,000 tokens, of which everything low would have lost 0.5 nats each.
QualityState judged(double loss, double calibrated) {
  return {.in_nats = true,
          .has_calibration = true,
          .tokens = 1000,
          .loss = 1000 * loss,
          .all_low = 500,
          .calibrated = 1000 * calibrated};
}

// With two tiers.
PolicyGain policy_gain(PolicyKind policy, const QualityState& quality) {
  return app::policy_gain(policy, 2, quality);
}

bool close(double a, double b) {
  return std::abs(a - b) < 1e-9;
}

}  // namespace

class PolicyGainTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void judges_data() {
    QTest::addColumn<double>("loss");
    QTest::addColumn<int>("verdict");
    QTest::newRow("it follows what is hot") << 0.05 << static_cast<int>(GainVerdict::ahead);
    QTest::newRow("beyond the margin") << 0.0979 << static_cast<int>(GainVerdict::ahead);
    QTest::newRow("within it") << 0.0981 << static_cast<int>(GainVerdict::as_good);
    QTest::newRow("the same") << 0.1 << static_cast<int>(GainVerdict::as_good);
    QTest::newRow("within it, worse") << 0.1019 << static_cast<int>(GainVerdict::as_good);
    QTest::newRow("it lags behind") << 0.1021 << static_cast<int>(GainVerdict::loses);
  }
  void judges() {
    QFETCH(double, loss);
    QFETCH(int, verdict);
    const PolicyGain gain = policy_gain(PolicyKind::fovea, judged(loss, 0.1));
    QCOMPARE(static_cast<int>(gain.verdict), verdict);
    QCOMPARE(gain.fixed_mix_would_do, gain.verdict != GainVerdict::ahead);
    QCOMPARE(gain.chosen_by, FixedMix::calibration);
    QVERIFY(close(gain.kept, std::exp(-loss)) && close(gain.fixed_kept, std::exp(-0.1)));
    QVERIFY(close(gain.low_kept, std::exp(-0.5)));
  }

  // Where no divergence was measured: what of the lowest tier's loss was avoided.
  void withoutDivergences() {
    QualityState quality = judged(0.1, 0.2);
    quality.in_nats = false;
    const PolicyGain gain = policy_gain(PolicyKind::dynaexq, quality);
    QVERIFY(close(gain.kept, 0.8) && close(gain.fixed_kept, 0.6) && close(gain.low_kept, 0));
  }

  // The mix of the session's start is compared for the tokens since; of two that one could have the better
  // one.
  void comparesWithTheBetterOfTwo() {
    QualityState quality = judged(0.3, 0.1);
    quality.tokens_since = 300;
    quality.loss_since = 30;
    quality.calibrated_since = 60;
    quality.start_since = 45;
    quality.low_since = 150;
    PolicyGain gain = policy_gain(PolicyKind::fovea, quality);
    QCOMPARE(gain.chosen_by, FixedMix::session_start);
    QCOMPARE(gain.tokens, 300);
    QCOMPARE(gain.verdict, GainVerdict::ahead);
    QVERIFY(close(gain.kept, std::exp(-0.1)) && close(gain.fixed_kept, std::exp(-0.15)));
    quality.calibrated_since = 20;
    gain = policy_gain(PolicyKind::fovea, quality);
    QCOMPARE(gain.chosen_by, FixedMix::calibration);
    QCOMPARE(gain.verdict, GainVerdict::loses);
    quality.has_calibration = false;  // then its mix is nobody's choice
    QCOMPARE(policy_gain(PolicyKind::fovea, quality).chosen_by, FixedMix::session_start);
  }

  // Only where something is compared, and for the tokens that it knows.
  void hindsight() {
    QualityState quality = judged(0.3, 0.15);
    QVERIFY(!policy_gain(PolicyKind::fovea, quality).hindsight_kept);
    quality.hindsight = {.tokens = 500, .loss = 25, .low = 250, .high = 0};
    QVERIFY(close(*policy_gain(PolicyKind::fovea, quality).hindsight_kept, std::exp(-0.05)));
    QVERIFY(!policy_gain(PolicyKind::static_tiers, quality).hindsight_kept);
    quality.in_nats = false;
    QVERIFY(close(*policy_gain(PolicyKind::fovea, quality).hindsight_kept, 0.9));
    quality.hindsight.loss = 200;  // of tokens before the last ones, with which the fixed mix does better
    QVERIFY(close(*policy_gain(PolicyKind::fovea, quality).hindsight_kept, 0.7));
  }

  void waitsForEnough() {
    QualityState quality = judged(0.1, 0.2);
    quality.tokens = min_gain_tokens - 1;
    QCOMPARE(policy_gain(PolicyKind::fovea, quality).verdict, GainVerdict::too_early);
    QCOMPARE(policy_gain(PolicyKind::fovea, {}).verdict, GainVerdict::too_early);
    quality = judged(0.1, 0.2);
    quality.has_calibration = false;
    QCOMPARE(policy_gain(PolicyKind::fovea, quality).verdict, GainVerdict::too_early);
  }

  // Experts that only change places: no fixed mix would do as well, since it is time that is gained.
  void wherePlacesChangeNothingIsLost() {
    QualityState quality = judged(0, 0);
    quality.in_nats = false;
    quality.all_low = quality.all_high = quality.low_since = quality.high_since = 0;
    const PolicyGain gain = app::policy_gain(PolicyKind::fovea, 1, quality);
    QCOMPARE(gain.verdict, GainVerdict::nothing_lost);
    QCOMPARE(gain.kept, 1.0);
    QVERIFY(!gain.fixed_mix_would_do && gain.chosen_by == FixedMix::none);
    // Two tiers that cost nothing, as 16 bits above what the file has at 16, are compared as any others.
    QVERIFY(policy_gain(PolicyKind::fovea, quality).verdict != GainVerdict::nothing_lost);
  }

  void aPolicyThatStaysIsNotCompared() {
    QCOMPARE(policy_gain(PolicyKind::none, {}).verdict, GainVerdict::no_policy);
    for (const PolicyKind policy : {PolicyKind::flexquant, PolicyKind::pmpd})
      QCOMPARE(policy_gain(policy, {}).verdict, GainVerdict::not_compared);
    for (const PolicyKind policy : {PolicyKind::static_tiers, PolicyKind::offload}) {
      const PolicyGain gain = policy_gain(policy, judged(0.1, 0.1));
      QCOMPARE(gain.verdict, GainVerdict::tiers_stay);
      QVERIFY(close(gain.kept, std::exp(-0.1)) && !gain.fixed_mix_would_do);
    }
  }
};

FOVEA_TEST(PolicyGainTest)
#include "policy_gain_test.moc"
