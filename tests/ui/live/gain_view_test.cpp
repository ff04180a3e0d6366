#include "ui/live/gain_view.h"

#include <QPushButton>

#include "tests/support/test.h"
#include "ui/language/number_text.h"

using namespace fovea::ui;

class GainViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhatIsKept_data() {
    QTest::addColumn<int>("verdict");
    QTest::addColumn<int>("chosen_by");
    QTest::addColumn<bool>("in_nats");
    QTest::addColumn<QStringList>("said");
    QTest::newRow("ahead of the start")
        << int(GainVerdict::ahead) << int(FixedMix::session_start) << true
        << QStringList{QStringLiteral("Quality kept: "), QStringLiteral("session's start"),
                       QStringLiteral("conversation pays")};
    QTest::newRow("as good as the calibration")
        << int(GainVerdict::as_good) << int(FixedMix::calibration) << true
        << QStringList{QStringLiteral("by the calibration"), QStringLiteral("gains nothing")};
    QTest::newRow("behind, no divergence")
        << int(GainVerdict::loses) << int(FixedMix::calibration) << false
        << QStringList{QStringLiteral("over the lowest"), QStringLiteral("gains nothing")};
  }
  void saysWhatIsKept() {
    QFETCH(int, verdict);
    QFETCH(int, chosen_by);
    QFETCH(bool, in_nats);
    QFETCH(QStringList, said);
    const bool nothing = verdict != int(GainVerdict::ahead);
    const PolicyGain gain{.verdict = static_cast<GainVerdict>(verdict),
                          .tokens = 10'000,
                          .in_nats = in_nats,
                          .kept = 0.9731,
                          .fixed_kept = 0.9512,
                          .low_kept = 0.61,
                          .bits_per_use = 5.34,
                          .chosen_by = static_cast<FixedMix>(chosen_by),
                          .fixed_mix_would_do = nothing};
    const QString sentence = gain_sentence(gain);
    said += {percent_text(0.9731, 1), percent_text(0.9512, 1),
             number_text(5.34, 1) + QStringLiteral(" bits per use")};
    for (const QString& part : said)
      QVERIFY2(sentence.contains(part), qPrintable(part + QStringLiteral(" in: ") + sentence));
    GainView view;
    view.set_gain(gain);
    QCOMPARE(!view.findChild<QPushButton*>(QStringLiteral("switchPolicy"))->isHidden(), nothing);
  }

  void saysWhyNothingIsCompared() {
    QVERIFY(gain_sentence({.verdict = GainVerdict::too_early}).contains(QStringLiteral("Too early")));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::tiers_stay}).contains(QStringLiteral("nothing to compare")));
    QVERIFY(gain_sentence({.verdict = GainVerdict::tiers_stay, .tokens = 9, .in_nats = true, .kept = 0.5})
                .contains(percent_text(0.5, 1)));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::not_compared}).contains(QStringLiteral("while it answers")));
    QVERIFY(gain_sentence({.verdict = GainVerdict::no_policy})
                .contains(QStringLiteral("as it is in the model's file")));
  }
};

FOVEA_TEST(GainViewTest)
#include "gain_view_test.moc"
