#include "ui/live/policy_gain.h"

#include <QPushButton>
#include <QRandomGenerator>
#include <algorithm>
#include <numeric>

#include "tests/support/test.h"
#include "ui/live/gain_view.h"
#include "ui/live/number_text.h"

using namespace fovea;
using namespace fovea::ui;

namespace {

const std::vector<double> bits = {4, 2};

constexpr std::uint32_t all_uses[] = {120, 410, 0, 0}, first_uses[] = {100, 10, 0, 0};
constexpr std::int64_t all_hits[] = {430, 100}, first_hits[] = {90, 20}, one_high[] = {1, 3};
const GainInputs changed_work = {.uses = all_uses,
                                 .hits = all_hits,
                                 .units_at_tier = one_high,
                                 .bits_per_weight = bits,
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
    const std::vector<std::int64_t> hits = {high_hits, 1000 - high_hits}, units = {1, 3};
    const PolicyGain gain =
        policy_gain({.uses = uses, .hits = hits, .units_at_tier = units, .bits_per_weight = bits});
    QCOMPARE(static_cast<int>(gain.verdict), verdict);
    QCOMPARE(gain.best_fixed_share, 0.4);
    QCOMPARE(gain.policy_share, static_cast<double>(high_hits) / 1000);
    // 0.4 at 4 bits and 0.6 at 2.
    QVERIFY(qFuzzyCompare(gain.best_fixed_bits, 2.8));
    QCOMPARE(gain.chosen_by, FixedMix::none);
    const bool no_gain = gain.verdict == GainVerdict::loses;
    QCOMPARE(gain_sentence(gain, PolicyKind::dynaexq).contains(QStringLiteral("gains nothing")), no_gain);
  }

  void waitsForEnough() {
    const std::vector<std::uint32_t> uses = {5, 4, 3, 2};
    const std::vector<std::int64_t> hits = {5, 9}, units = {1, 3};
    const PolicyGain gain =
        policy_gain({.uses = uses, .hits = hits, .units_at_tier = units, .bits_per_weight = bits});
    QCOMPARE(gain.verdict, GainVerdict::too_early);
    QVERIFY(gain_sentence(gain, PolicyKind::dynaexq).contains(QStringLiteral("Too early")));
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
    const QString said = gain_sentence(behind, PolicyKind::dynaexq);
    QVERIFY2(said.contains(QStringLiteral("by the calibration")) &&
                 said.contains(number_text(34) + QStringLiteral(" points more")),
             qPrintable(said));
  }

  // Words and bars say the same, with the same numbers.
  void theWordsAgreeWithTheBars_data() {
    QTest::addColumn<double>("policy");
    QTest::addColumn<double>("best");
    QTest::addColumn<double>("start");
    QTest::addColumn<int>("verdict");
    QTest::addColumn<QStringList>("said");
    QTest::addColumn<bool>("nothing");
    const auto points = [](double number) { return number_text(number) + QStringLiteral(" points more"); };
    const auto half = QStringLiteral("within half a point");
    QTest::newRow("ahead of the start, as good as the best")
        << 0.673 << 0.668 << 0.641 << int(GainVerdict::ahead) << QStringList{points(3.2), half} << false;
    QTest::newRow("ahead of the start, behind the best")
        << 0.673 << 0.7 << 0.641 << int(GainVerdict::ahead) << QStringList{points(3.2), points(2.7)} << false;
    // 66.65 and 67.34 are seen as 66.7 and 67.3.
    QTest::newRow("what is rounded") << 0.67341 << 0.66651 << 0.64 << int(GainVerdict::gains)
                                     << QStringList{points(0.6)} << false;
    QTest::newRow("as good as both") << 0.673 << 0.675 << 0.671 << int(GainVerdict::as_good)
                                     << QStringList{half} << true;
    QTest::newRow("behind") << 0.6 << 0.7 << 0.68 << int(GainVerdict::loses) << QStringList{points(10)}
                            << true;
  }
  void theWordsAgreeWithTheBars() {
    QFETCH(double, policy);
    QFETCH(double, best);
    QFETCH(double, start);
    QFETCH(int, verdict);
    QFETCH(QStringList, said);
    QFETCH(bool, nothing);
    const PolicyGain gain{.verdict = static_cast<GainVerdict>(verdict),
                          .uses = 10'000,
                          .high_slots = 1,
                          .policy_share = policy,
                          .best_fixed_share = best,
                          .chosen_share = start,
                          .chosen_by = FixedMix::session_start};
    const QString sentence = gain_sentence(gain, PolicyKind::dynaexq);
    said += percent_text(policy, 1);
    for (const QString& part : said)
      QVERIFY2(sentence.contains(part), qPrintable(part + QStringLiteral(" in: ") + sentence));
    QCOMPARE(sentence.contains(QStringLiteral("gains nothing")), nothing);
    GainView view;
    view.set_gain(gain, PolicyKind::dynaexq);
    QCOMPARE(!view.findChild<QPushButton*>(QStringLiteral("switchPolicy"))->isHidden(), nothing);
  }

  // No fixed set of that size serves more than the one that is called the best.
  void theBestFixedMixIsTheBest() {
    QRandomGenerator random(tests::seed());
    for (int round = 0; round < tests::rounds(50); ++round) {
      std::vector<std::uint32_t> uses(10);
      for (std::uint32_t& each : uses) each = random.bounded(1000U);
      const std::int64_t slots = random.bounded(1, 9);
      const std::int64_t total = std::accumulate(uses.begin(), uses.end(), std::int64_t{0});
      const std::vector<std::int64_t> hits = {0, total}, units = {slots, 10 - slots};
      const PolicyGain gain =
          policy_gain({.uses = uses, .hits = hits, .units_at_tier = units, .bits_per_weight = bits});
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

  void aPolicyThatStaysIsNotCompared() {
    QVERIFY(gain_sentence({}, PolicyKind::static_tiers).contains(QStringLiteral("nothing to compare")));
  }
};

FOVEA_TEST(PolicyGainTest)
#include "policy_gain_test.moc"
