#include "ui/live/gain_view.h"

#include <QPushButton>

#include "tests/support/test.h"
#include "ui/language/number_text.h"

using namespace fovea::ui;

class GainViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
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
                          .policy_share = policy,
                          .best_fixed_share = best,
                          .chosen_share = start,
                          .chosen_by = FixedMix::session_start,
                          .best_fixed_ahead = best - policy > 0.005,
                          .fixed_mix_would_do = nothing};
    const QString sentence = gain_sentence(gain);
    said += percent_text(policy, 1);
    for (const QString& part : said)
      QVERIFY2(sentence.contains(part), qPrintable(part + QStringLiteral(" in: ") + sentence));
    QCOMPARE(sentence.contains(QStringLiteral("gains nothing")), nothing);
    GainView view;
    view.set_gain(gain);
    QCOMPARE(!view.findChild<QPushButton*>(QStringLiteral("switchPolicy"))->isHidden(), nothing);
  }

  void saysWhatAFixedMixIsChosenBy() {
    const PolicyGain gain{.verdict = GainVerdict::ahead,
                          .uses = 530,
                          .policy_share = 0.57,
                          .best_fixed_share = 0.77,
                          .chosen_share = 0.23,
                          .chosen_by = FixedMix::calibration,
                          .best_fixed_ahead = true};
    const QString said = gain_sentence(gain);
    QVERIFY2(said.contains(QStringLiteral("by the calibration")) &&
                 said.contains(number_text(34) + QStringLiteral(" points more")),
             qPrintable(said));
  }

  void saysWhyNothingIsCompared() {
    QVERIFY(gain_sentence({.verdict = GainVerdict::too_early}).contains(QStringLiteral("Too early")));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::tiers_stay}).contains(QStringLiteral("nothing to compare")));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::no_policy}).contains(QStringLiteral("as the model's file")));
  }
};

FOVEA_TEST(GainViewTest)
#include "gain_view_test.moc"
