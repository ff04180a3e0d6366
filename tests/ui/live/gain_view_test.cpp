#include "ui/live/gain_view.h"

#include <QImage>
#include <QPainter>
#include <QPushButton>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/test.h"
#include "ui/language/number_text.h"
#include "ui/live/strip_chart.h"

using namespace fovea::ui;

namespace {

struct Bar {
  int top = 0;
  int filled = 0;  // of its pixels
  QRgb colour = 0;
};

// The lines of a picture that are one colour from the left, and the bars' ground behind it.
std::vector<Bar> bars_of(const QImage& picture, QRgb ground) {
  std::vector<Bar> bars;
  bool is_inside = false;
  for (int y = 0; y < picture.height(); ++y) {
    const QRgb colour = picture.pixel(0, y);
    int filled = 0;
    while (filled < picture.width() && picture.pixel(filled, y) == colour) ++filled;
    int whole = filled;
    while (whole < picture.width() && picture.pixel(whole, y) == ground) ++whole;
    const bool is_bar = whole == picture.width() && filled < whole;
    if (is_bar && !is_inside) bars.push_back({y, filled, colour});
    is_inside = is_bar;
  }
  return bars;
}

QRgb over(const QColor& below, const QColor& above) {
  QImage one(1, 1, QImage::Format_RGB32);
  one.fill(below);
  QPainter(&one).fillRect(one.rect(), above);
  return one.pixel(0, 0);
}

}  // namespace

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
    // And where its expectation comes from, of a policy that has one.
    QVERIFY(!sentence.contains(QStringLiteral("expected")));
    PolicyGain learnt = gain;
    learnt.calibration_part = 0.14;
    QVERIFY2(gain_sentence(learnt).contains(
                 percent_text(0.86) + QStringLiteral(" of what is expected next comes from this session, ") +
                 percent_text(0.14) + QStringLiteral(" from the calibration.")),
             qPrintable(gain_sentence(learnt)));
    GainView view;
    view.set_gain(gain);
    QCOMPARE(!view.findChild<QPushButton*>(QStringLiteral("switchPolicy"))->isHidden(), nothing);
  }

  // What is drawn: a bar for each, as long as its share, below its words; the mix that knew every word
  // beforehand stands among them where it is known, and takes no room where it is not.
  void drawsWhatIsKept_data() {
    QTest::addColumn<bool>("hindsight");
    QTest::newRow("with hindsight") << true;
    QTest::newRow("hindsight is not known") << false;
  }
  void drawsWhatIsKept() {
    QFETCH(bool, hindsight);
    std::vector<std::pair<QString, double>> expected = {
        {QStringLiteral("Adaptive"), 0.75},
        {QStringLiteral("Fixed mix from the start"), 0.5},
        {QStringLiteral("Everything at the lowest precision"), 0.25}};
    if (hindsight) expected.emplace_back(QStringLiteral("Fixed mix that knew every word beforehand"), 0.875);
    PolicyGain gain{.verdict = GainVerdict::ahead,
                    .tokens = 10'000,
                    .in_nats = true,
                    .kept = 0.75,
                    .fixed_kept = 0.5,
                    .low_kept = 0.25,
                    .bits_per_use = 5,
                    .chosen_by = FixedMix::session_start,
                    .hindsight_kept = hindsight ? std::optional(0.875) : std::nullopt};
    GainView view;
    view.resize(600, 400);
    view.show();
    view.set_gain(gain);
    auto* drawn = view.findChild<QWidget*>(QStringLiteral("gainBars"));
    QVERIFY(drawn->isVisible());
    drawn->resize(400, drawn->sizeHint().height());
    const QImage picture = drawn->grab().toImage().convertToFormat(QImage::Format_RGB32);
    const QPalette& palette = drawn->palette();
    const std::vector<Bar> bars = bars_of(picture, over(picture.pixelColor(0, 0), chart_ground(palette)));
    QCOMPARE(bars.size(), expected.size());
    QStringList said;
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const auto& [name, share] = expected[i];
      QCOMPARE(bars[i].filled, int(400 * share));
      QCOMPARE(bars[i].colour == bars[0].colour, i == 0);  // the model's own is another
      said += name + QLatin1Char(' ') + percent_text(share, 1);
      // Its words: what stands above it, up to the bar before.
      const int line = drawn->fontMetrics().height();
      QImage words(400, line, QImage::Format_RGB32);
      words.fill(picture.pixel(0, 0));
      QPainter painter(&words);
      painter.setFont(drawn->font());
      paint_caption(painter, words.rect(), name, percent_text(share, 1), palette);
      painter.end();
      QCOMPARE(picture.copy(0, 2 * line * int(i), 400, line), words);
    }
    QVERIFY(picture.height() >= bars.back().top + drawn->fontMetrics().height() / 2);
    QCOMPARE(drawn->accessibleDescription(), said.join(QStringLiteral(", ")));
    // What becomes known, or is lost with another session, changes the height.
    const int before = drawn->sizeHint().height();
    gain.hindsight_kept = hindsight ? std::nullopt : std::optional(0.875);
    view.set_gain(gain);
    QCOMPARE(drawn->sizeHint().height() > before, !hindsight);
  }

  void saysWhyNothingIsCompared() {
    QVERIFY(gain_sentence({.verdict = GainVerdict::too_early}).contains(QStringLiteral("Too early")));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::tiers_stay}).contains(QStringLiteral("nothing to compare")));
    QVERIFY(gain_sentence({.verdict = GainVerdict::tiers_stay, .tokens = 9, .in_nats = true, .kept = 0.5})
                .contains(percent_text(0.5, 1)));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::not_compared}).contains(QStringLiteral("while it answers")));
    QVERIFY(
        gain_sentence({.verdict = GainVerdict::nothing_lost}).contains(QStringLiteral("nothing is lost")));
    QVERIFY(gain_sentence({.verdict = GainVerdict::no_policy})
                .contains(QStringLiteral("as it is in the model's file")));
  }
};

FOVEA_TEST(GainViewTest)
#include "gain_view_test.moc"
