#include "app/live/policy_gain.h"

#include <QRandomGenerator>
#include <algorithm>
#include <numeric>

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;

namespace {

constexpr std::uint32_t all_uses[] = {120, 410, 0, 0}, first_uses[] = {100, 10, 0, 0};
constexpr std::int64_t all_hits[] = {430, 100}, first_hits[] = {90, 20};
const GainInputs changed_work = {.uses = all_uses,
                                 .hits = all_hits,
                                 .high_slots = 1,
                                 .profile_uses = first_uses,
                                 .profile_hits = first_hits};

}  // namespace

class PolicyGainTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Four experts, one in the high tier; 1000 uses: 400, 300, 200, 100.
  void judges_data() {
    QTest::addColumn<qint64>("high_hits");
    QTest::addColumn<int>("verdict");
    QTest::newRow("it follows what is hot") << qint64{600} << static_cast<int>(GainVerdict::gains);
    QTest::newRow("just above the margin") << qint64{406} << static_cast<int>(GainVerdict::gains);
    QTest::newRow("the same") << qint64{400} << static_cast<int>(GainVerdict::as_good);
    QTest::newRow("within the margin") << qint64{396} << static_cast<int>(GainVerdict::as_good);
    QTest::newRow("it lags behind") << qint64{300} << static_cast<int>(GainVerdict::loses);
  }
  void judges() {
    QFETCH(qint64, high_hits);
    QFETCH(int, verdict);
    const std::vector<std::uint32_t> uses = {200, 400, 100, 300};
    const std::vector<std::int64_t> hits = {high_hits, 1000 - high_hits};
    const PolicyGain gain = policy_gain({.uses = uses, .hits = hits, .high_slots = 1});
    QCOMPARE(static_cast<int>(gain.verdict), verdict);
    QCOMPARE(gain.best_fixed_share, 0.4);
    QCOMPARE(gain.policy_share, static_cast<double>(high_hits) / 1000);
    QCOMPARE(gain.chosen_by, FixedMix::none);
  }

  void waitsForEnough() {
    const std::vector<std::uint32_t> uses = {5, 4, 3, 2};
    const std::vector<std::int64_t> hits = {5, 9};
    const PolicyGain gain = policy_gain({.uses = uses, .hits = hits, .high_slots = 1});
    QCOMPARE(gain.verdict, GainVerdict::too_early);
    QCOMPARE(policy_gain({}).verdict, GainVerdict::too_early);
  }

  // The work changes after the profile: expert 0 was hot, then expert 1.
  void comparesWithTheSessionsStart() {
    const PolicyGain gain = policy_gain(changed_work);
    QCOMPARE(gain.chosen_by, FixedMix::session_start);
    // 420 uses came after it; the profile's choice served the 20 of expert 0, the policy 340.
    QCOMPARE(gain.uses, 420);
    QVERIFY(qFuzzyCompare(gain.chosen_share, 20.0 / 420));
    QVERIFY(qFuzzyCompare(gain.policy_share, 340.0 / 420));
    QVERIFY(qFuzzyCompare(gain.best_fixed_share, 400.0 / 420));
    QCOMPARE(gain.verdict, GainVerdict::ahead);
  }

  // From the first token on, and whatever the session's start was.
  void comparesWithTheCalibration() {
    static constexpr float calibrated[] = {0.5F, 0.2F, 0.2F, 0.1F};
    GainInputs inputs = changed_work;
    inputs.calibrated_uses = calibrated;
    const PolicyGain gain = policy_gain(inputs);
    QCOMPARE(gain.chosen_by, FixedMix::calibration);
    QCOMPARE(gain.uses, 530);
    QVERIFY(qFuzzyCompare(gain.chosen_share, 120.0 / 530));
    QVERIFY(qFuzzyCompare(gain.policy_share, 430.0 / 530));
    QVERIFY(qFuzzyCompare(gain.best_fixed_share, 410.0 / 530));
    QCOMPARE(gain.verdict, GainVerdict::gains);
    static constexpr std::int64_t fewer[] = {300, 230};
    inputs.hits = fewer;
    const PolicyGain behind = policy_gain(inputs);
    QCOMPARE(behind.verdict, GainVerdict::ahead);
  }

  // No fixed set of that size serves more than the one that is called the best.
  void theBestFixedMixIsTheBest() {
    QRandomGenerator random(tests::seed());
    for (int round = 0; round < tests::rounds(50); ++round) {
      std::vector<std::uint32_t> uses(10);
      for (std::uint32_t& each : uses) each = random.bounded(1000U);
      const std::int64_t slots = random.bounded(1, 9);
      const std::int64_t total = std::accumulate(uses.begin(), uses.end(), std::int64_t{0});
      const std::vector<std::int64_t> hits = {0, total};
      const PolicyGain gain = policy_gain({.uses = uses, .hits = hits, .high_slots = slots});
      std::int64_t best = 0;
      for (int set = 0; set < 1024; ++set) {
        if (__builtin_popcount(static_cast<unsigned>(set)) != slots) continue;
        std::int64_t served = 0;
        for (int i = 0; i < 10; ++i)
          if (set & (1 << i)) served += uses[static_cast<std::size_t>(i)];
        best = std::max(best, served);
      }
      QVERIFY2(
          std::abs(gain.best_fixed_share - static_cast<double>(best) / static_cast<double>(total)) < 1e-12,
          qPrintable(QStringLiteral("FOVEA_TEST_SEED=%1").arg(tests::seed())));
    }
  }

  // As much as a mix that one could have; behind the best; ahead of all.
  void saysWhetherAFixedMixWouldDo() {
    static constexpr float calibrated[] = {0.5F, 0.2F, 0.2F, 0.1F};
    static constexpr std::uint32_t uses[] = {400, 300, 200, 100};
    const auto gain = [&](std::int64_t high, std::span<const float> chosen) {
      const std::int64_t hits[] = {high, 1000 - high};
      return policy_gain({.uses = uses, .hits = hits, .high_slots = 1, .calibrated_uses = chosen});
    };
    QVERIFY(gain(400, calibrated).fixed_mix_would_do && !gain(400, calibrated).best_fixed_ahead);
    QVERIFY(!gain(400, {}).fixed_mix_would_do);  // nobody could have chosen it
    QVERIFY(gain(300, {}).fixed_mix_would_do && gain(300, {}).best_fixed_ahead);
    QVERIFY(!gain(600, calibrated).fixed_mix_would_do);
  }

  void aPolicyThatStaysIsNotCompared() {
    const auto verdict = [](PolicyKind policy) {
      return policy_gain(policy, SnapshotRing(), 0, {}, {}, {}).verdict;
    };
    QCOMPARE(verdict(PolicyKind::none), GainVerdict::no_policy);
    QCOMPARE(verdict(PolicyKind::static_tiers), GainVerdict::tiers_stay);
    QCOMPARE(verdict(PolicyKind::offload), GainVerdict::tiers_stay);
  }
};

FOVEA_TEST(PolicyGainTest)
#include "policy_gain_test.moc"
