// What the panel shows of its source, and what it tells it.
#include "ui/live/live_panel.h"

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
#include "ui/language/number_text.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/tour_view.h"
#include "ui/theme/tokens.h"

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

  // Also where there is no room for the buttons; the command palette offers what stands there.
  void everyToolIsInTheMenu() {
    MadeSource source;
    LivePanel panel(source);
    panel.resize(panel_width, 700);
    panel.show();
    const auto action = [&](const char* words) -> QAction* {
      for (QAction* each : panel.commands().actions())
        if (each->isVisible() && each->isEnabled() && each->text() == QString::fromUtf8(words)) return each;
      return nullptr;
    };
    for (const auto& [words, name] : {std::pair{"Freeze", "freeze"},
                                      {"Hottest first", "hottestFirst"},
                                      {"Hatched", "patterns"},
                                      {"Table", "table"},
                                      {"Details", "details"}}) {
      const auto* button = panel.findChild<QToolButton*>(QLatin1String(name));
      const bool before = button->isChecked();
      QVERIFY2(action(words) && action(words)->isChecked() == before, words);
      action(words)->trigger();
      QVERIFY2(button->isChecked() != before && action(words)->isChecked() != before, words);
    }
    QSignalSpy memory(&panel, &LivePanel::choosePrecisionRequested);
    QVERIFY(action("Change the memory…"));
    action("Change the memory…")->trigger();
    QCOMPARE(memory.count(), 1);
    panel.resize(1200, 700);
    QVERIFY(!action("Details"));  // they are there
  }

  // In a narrow panel the line alone, below the map, until somebody goes back.
  void timeIsBelowTheMap() {
    MadeSource source;
    source.shown.last = source.shown.index = 40;
    LivePanel panel(source);
    panel.resize(panel_width, 700);
    panel.show();
    const auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    const auto* live = panel.findChild<QToolButton*>(QStringLiteral("live"));
    QVERIFY(slider->isVisible() && panel.heatmap().isVisible() && !live->isVisible());
    source.shown.state = ShownMoment::State::frozen;
    source.shown.index = 7;
    Q_EMIT source.momentChanged();
    QVERIFY(slider->isVisible() && panel.heatmap().isVisible() && live->isVisible());
    source.shown.state = ShownMoment::State::live;
    Q_EMIT source.momentChanged();
    panel.show_tour(TourCaption{.step = 1, .steps = 3, .text = QStringLiteral("A poem")});
    QVERIFY(!slider->isVisible());  // the map needs the room
    panel.show_tour({});
    QVERIFY(slider->isVisible());
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
