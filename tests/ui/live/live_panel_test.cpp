// What the panel shows of its source, and what it tells it.
#include "ui/live/live_panel.h"

#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
#include "ui/language/number_text.h"
#include "ui/live/headline.h"

using namespace fovea;
using namespace fovea::ui;
using namespace fovea::tests;

class LivePanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tellsWhatItsUserDoes() {
    MadeSource source;
    source.shown.last = source.shown.index = 40;
    LivePanel panel(source);
    panel.show();
    const auto press = [&](const char* name) {
      panel.findChild<QToolButton*>(QString::fromLatin1(name))->click();
    };
    press("freeze");
    press("play");
    press("live");
    panel.findChild<QSlider*>(QStringLiteral("timeline"))->setValue(7);
    source.shown.playing = true;
    press("play");
    const QStringList told{QStringLiteral("freeze"), QStringLiteral("play"), QStringLiteral("live"),
                           QStringLiteral("go to 7"), QStringLiteral("pause")};
    QCOMPARE(source.told, told);
  }

  void showsWhatTheMomentSays() {
    MadeSource source;
    source.shown = {.state = ShownMoment::State::frozen,
                    .first = 10,
                    .last = 40,
                    .index = 20,
                    .seconds_back = 2,
                    .seconds_behind_live = 65,
                    .high_share = 0.25};
    LivePanel panel(source);
    panel.show();
    QVERIFY(panel.findChild<QToolButton*>(QStringLiteral("freeze"))->isChecked());
    const auto* headline = panel.findChild<Headline*>();
    QVERIFY2(headline->text().contains(number_text(65, 0) + QStringLiteral(" s ago")),
             qPrintable(headline->text()));
    QVERIFY2(headline->toolTip().contains(QStringLiteral("4 bits: ") + percent_text(0.25)),
             qPrintable(headline->toolTip()));
    const auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    QCOMPARE(slider->minimum(), 10);
    QCOMPARE(slider->maximum(), 40);
    QCOMPARE(slider->value(), 20);
    source.shown.state = ShownMoment::State::live;
    Q_EMIT source.momentChanged();
    QVERIFY(!panel.findChild<QToolButton*>(QStringLiteral("freeze"))->isChecked());
    QVERIFY(!panel.findChild<Headline*>()->text().contains(QStringLiteral("back")));
  }

  void showsWhyThereIsNothing() {
    MadeSource source;
    source.none = NothingToSee{
        .why = NothingToSee::Why::no_answer_yet, .model = QStringLiteral("m"), .can_choose_precision = true};
    LivePanel panel(source);
    panel.show();
    const auto* text = panel.findChild<QLabel*>(QStringLiteral("emptyText"));
    const auto* button = panel.findChild<QPushButton*>(QStringLiteral("choosePrecision"));
    QVERIFY(text->isVisible() && text->text().contains(QStringLiteral("first answer")));
    QVERIFY(button->isVisible());
    source.none = NothingToSee{.why = NothingToSee::Why::no_experts, .model = QStringLiteral("a<b")};
    Q_EMIT source.momentChanged();
    QVERIFY(text->text().contains(QStringLiteral("a&lt;b has no experts")));
    QVERIFY(!button->isVisible());
    source.none.reset();
    Q_EMIT source.momentChanged();
    QVERIFY(!text->isVisible());
  }

  void showsTheAlarms() {
    MadeSource source;
    LivePanel panel(source);
    panel.show();
    const auto* alarm = panel.findChild<QLabel*>(QStringLiteral("alarm"));
    QVERIFY(!alarm->isVisible());
    source.raised = {.collapsed_layers = 2, .device_full = 0.95, .experts_over_budget = true};
    Q_EMIT source.measuresChanged();
    QVERIFY(alarm->isVisible());
    QCOMPARE(alarm->text().count(QLatin1Char('\n')), 2);
    QVERIFY(alarm->text().contains(percent_text(0.95)));
    source.raised = {};
    Q_EMIT source.measuresChanged();
    QVERIFY(!alarm->isVisible());
  }
};

FOVEA_TEST(LivePanelTest)
#include "live_panel_test.moc"
