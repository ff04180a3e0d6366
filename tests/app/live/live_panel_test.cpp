// What the panel says with a session behind it, and of which moment.
#include "ui/live/live_panel.h"

#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QSlider>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "app/live/live_session.h"
#include "tests/app/live/sessions.h"
#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
#include "ui/language/number_text.h"
#include "ui/live/expert_text.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/pools_view.h"
#include "ui/live/router_view.h"
#include "ui/live/traffic_view.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;
using namespace fovea::tests;

namespace {

QString text_of(LivePanel& panel, const char* name) {
  return panel.findChild<QLabel*>(QString::fromLatin1(name))->text();
}

}  // namespace

class LivePanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void asksOnlyWhileVisible() {
    LiveSession session;
    LivePanel panel(session);
    session.set_model(small_model());
    int asked = 0;
    Snapshot s = small_snapshot();
    session.set_reader([&](Snapshot& snapshot) {
      ++asked;
      ++s.tokens;
      snapshot = s;
      return true;
    });
    QTest::qWait(250);
    QCOMPARE(asked, 0);
    panel.show();
    QTRY_VERIFY(asked >= 3);
    QCOMPARE(session.ring().end(), asked);
    panel.hide();
    const int until = asked;
    QTest::qWait(250);
    QCOMPARE(asked, until);
  }

  void saysWhyThereIsNothing() {
    LiveSession session;
    LivePanel panel(session);
    panel.show();
    auto* button = panel.findChild<QPushButton*>(QStringLiteral("choosePrecision"));
    // What needs something to be seen waits for it; a tour and a recording bring it.
    const auto able = [&] {
      const auto actions = panel.findChild<QToolButton*>(QStringLiteral("panelMore"))->menu()->actions();
      return std::ranges::count_if(
          actions, [](const QAction* action) { return !action->isSeparator() && action->isEnabled(); });
    };
    QCOMPARE(able(), 2);
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("No model")));
    QVERIFY(!button->isVisible());
    session.set_opening(QStringLiteral("small.gguf"));
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("small.gguf is being opened")));
    session.clear_model();
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("No model")));
    LiveModel model = small_model();
    model.policy = PolicyKind::none;
    session.set_model(model);
    QVERIFY(button->isVisible());
    QSignalSpy chosen(&panel, &LivePanel::choosePrecisionRequested);
    button->click();
    QCOMPARE(chosen.size(), 1);
    model.experts = 0;
    session.set_model(model);
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("no experts")));
    QVERIFY(!button->isVisible());
    session.set_model(small_model());
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("first answer")));
    session.add_snapshot(small_snapshot(), 1);
    QVERIFY(!panel.findChild<QLabel*>(QStringLiteral("emptyText"))->isVisible());
    QVERIFY(able() > 10);
    session.clear_model();
    QCOMPARE(able(), 2);
  }

  // Experts that stay as the file has them are watched all the same.
  void withoutAPolicyTheUseIsShown() {
    LiveSession session;
    LivePanel panel(session);
    panel.set_hottest_first(false);
    panel.resize(500, 1400);
    LiveModel model = small_model();
    model.policy = PolicyKind::none;
    model.plan.parts.dense = 1000;
    model.plan.parts.kv = 300;
    session.set_model(model);
    panel.show();
    panel.findChild<QToolButton*>(QStringLiteral("details"))->click();
    Snapshot s = small_snapshot();
    for (UnitState& unit : s.units) unit.tier = 0;
    s.tiers = {{.name = "file", .bits_per_weight = 5, .units = 16, .bytes = 800, .hits = 1600}};
    s.mean_bits_per_weight = 5;
    s.pools.clear();
    s.arena_bytes = s.arena_used_bytes = s.budget_bytes = 0;
    session.add_snapshot(s, 1);
    panel.refresh();
    QCOMPARE(pixel(panel, 1, 7), QColor(tier_ramp(0, std::vector<double>{5}, panel.palette(), 64)[63]));
    QVERIFY(pixel(panel, 1, 0) != pixel(panel, 1, 7));
    QVERIFY(text_of(panel, "gainSentence").contains(QStringLiteral("as it is in the model's file")));
    QSignalSpy chosen(&panel, &LivePanel::choosePrecisionRequested);
    auto* choose = panel.findChild<QPushButton*>(QStringLiteral("choosePrecisionBeside"));
    QVERIFY(choose->isVisible());
    choose->click();
    QCOMPARE(chosen.size(), 1);
    const QString memory = panel.findChild<PoolsView*>()->accessibleDescription();
    QVERIFY2(memory.contains(QStringLiteral("Experts (5 bits)")), qPrintable(memory));
    QVERIFY2(memory.contains(QStringLiteral("Conversation")), qPrintable(memory));
    const QString traffic = panel.findChild<TrafficView*>()->accessibleDescription();
    QVERIFY2(traffic.startsWith(QStringLiteral("Tokens a second")), qPrintable(traffic));
    const auto* legend = panel.findChild<LegendView*>();
    const QStringList entries = legend->accessibleDescription().split(QStringLiteral(", "));
    QCOMPARE(entries.size(), 2);  // the tier, and what its strength says
    QCOMPARE(entries.front(), QStringLiteral("5 bits"));
    session.set_model(small_model());
    session.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    QVERIFY(!choose->isVisible());
    QVERIFY(
        panel.findChild<TrafficView*>()->accessibleDescription().startsWith(QStringLiteral("Tier changes")));
    const QString moving = legend->accessibleDescription();
    QVERIFY2(moving.startsWith(QStringLiteral("4 bits, 2 bits")) &&
                 moving.endsWith(QStringLiteral(", just changed")),
             qPrintable(moving));
  }

  // Bytes are held against what was measured, and the conversation's part of the KV cache is told.
  void trafficIsHeldAgainstTheLink() {
    LiveSession session;
    LivePanel panel(session);
    LiveModel model = small_model();
    model.plan.parts.kv = 400;
    session.set_model(model);
    panel.show();
    session.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    const auto words = [&](const char* view) {
      for (const QWidget* widget : panel.findChildren<QWidget*>())
        if (widget->accessibleName() == QLatin1String(view)) return widget->accessibleDescription();
      return QString();
    };
    QVERIFY2(!words("Traffic").contains(QStringLiteral("of the link")), qPrintable(words("Traffic")));
    QVERIFY2(!words("Memory").contains(QStringLiteral("in use")), qPrintable(words("Memory")));
    session.set_link(2e9);
    session.set_kv_used(100);
    QCOMPARE(session.link_bytes_per_s(), 2e9);
    panel.refresh();
    QVERIFY2(words("Traffic").contains(QStringLiteral("of the link")), qPrintable(words("Traffic")));
    QVERIFY2(words("Memory").contains(QStringLiteral("in use")), qPrintable(words("Memory")));
  }

  // Units that the processor computes beside a card: their own hue and texture, place in the legend and bar.
  void showsWhatTheProcessorComputes() {
    LiveSession session;
    LivePanel panel(session);
    panel.resize(600, 900);
    LiveModel model = small_model();
    model.plan.host_bytes = 3'000'000'000;
    model.plan.units_on_host = 2;
    session.set_model(model);
    panel.show();
    Snapshot s = small_snapshot();
    s.units[2].tier = host_tier;
    s.units[3].tier = no_tier;
    s.units[4].tier = 0;
    for (const std::size_t unit : {2U, 3U, 4U, 5U}) s.units[unit].hotness = 0.05F;
    s.host_units = 1;
    s.host_hits = 400;
    s.tiers[0].units = s.tiers[1].units = 7;
    session.add_snapshot(s, 1);
    session.set_device_memory(50, 100, 60'000'000'000);
    panel.refresh();
    const QColor host = pixel(panel, 0, 2);
    for (const int other : {3, 4, 5}) QVERIFY(pixel(panel, 0, other) != host);
    const QString headline = panel.findChild<Headline*>()->text();
    QVERIFY2(headline.contains(percent_text(0.2) + QStringLiteral(" by the processor")),
             qPrintable(headline));
    const auto* pools = panel.findChild<PoolsView*>();
    QVERIFY2(pools->accessibleDescription().contains(QStringLiteral("Main memory (processor) 1 · ") +
                                                     bytes_text(3e9)),
             qPrintable(pools->accessibleDescription()));
    const SnapshotRing& ring = session.ring();
    const QString hover = expert_text(session.model(), ring.last().numbers, ring.last_frame(), 2, {}, false);
    QVERIFY2(hover.contains(QStringLiteral("Precision: main memory, computed by the processor")),
             qPrintable(hover));
  }

  // The map is cut between the layers of two cards, each of which has a bar of its own.
  void showsTwoCards() {
    LiveSession session;
    LivePanel panel(session);
    panel.resize(600, 900);
    LiveModel model = small_model();
    session.set_model(model);
    panel.show();
    session.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    const int of_one = panel.findChild<PoolsView*>(QStringLiteral("memoryBar"))->heightForWidth(300);
    QVERIFY(!panel.heatmap().cut());
    model.cards = {{.name = "Card A", .layers = 1, .rows = 1, .budget_bytes = 1000},
                   {.name = "Card B", .rows = 1, .budget_bytes = 900}};
    session.set_model(model);
    session.add_snapshot(small_snapshot(), 1);
    session.set_device_memory(95, 100, 0, {.used_bytes = 10, .total_bytes = 100});
    panel.refresh();
    const std::optional<QLineF> cut = panel.heatmap().cut();
    QVERIFY(cut);
    const ui::HeatLayout& layout = panel.heatmap().layout_of_cells();
    QVERIFY(cut->y1() == cut->y2() && cut->y1() >= layout.layer_rect(0).bottom() - 1 &&
            cut->y1() <= layout.layer_rect(1).top() + 1);
    QVERIFY(cut->x1() <= layout.area().left() && cut->x2() >= layout.area().right());
    panel.heatmap().show_layer(0);
    QVERIFY(!panel.heatmap().cut());
    panel.heatmap().show_layer(std::nullopt);
    const auto* legend = panel.findChild<LegendView*>();
    QVERIFY2(legend->accessibleDescription().contains(QStringLiteral("Card A above, Card B below")),
             qPrintable(legend->accessibleDescription()));
    const auto* bar = panel.findChild<PoolsView*>(QStringLiteral("memoryBar"));
    QVERIFY(bar->heightForWidth(300) > of_one);
    QVERIFY2(bar->accessibleDescription().startsWith(QStringLiteral("Card A: ")) &&
                 bar->accessibleDescription().contains(QStringLiteral("Card B: ")),
             qPrintable(bar->accessibleDescription()));
    const SnapshotRing& ring = session.ring();
    const auto hover = [&](std::int64_t unit) {
      return expert_text(session.model(), ring.last().numbers, ring.last_frame(), unit, {}, false);
    };
    QVERIFY2(hover(7).contains(QStringLiteral("Card: Card A")), qPrintable(hover(7)));
    QVERIFY2(hover(8).contains(QStringLiteral("Card: Card B")), qPrintable(hover(8)));
    QVERIFY(session.alarms().device_full);
    session.set_device_memory(50, 100, 0, {.used_bytes = 95, .total_bytes = 100});
    QVERIFY(session.alarms().device_full);
  }

  void raisesAlarms() {
    LiveSession session;
    LivePanel panel(session);
    panel.resize(500, 800);
    session.set_model(small_model());
    panel.show();
    session.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    auto* alarm = panel.findChild<QLabel*>(QStringLiteral("alarm"));
    QVERIFY(session.alarms().collapsed_layers == 0 && !session.alarms().device_full && !alarm->isVisible());
    session.set_device_memory(91, 100);
    QVERIFY(session.alarms().device_full && alarm->isVisible());
    session.set_device_memory(90, 100);
    QVERIFY(!session.alarms().device_full && !alarm->isVisible());
    // Two of eight experts serve what was written lately: it may be about one thing …
    Snapshot s = small_snapshot();
    s.tokens += 1000;
    s.units[3].uses += 1000;
    s.units[5].uses += 1000;
    session.add_snapshot(s, 2);
    panel.refresh();
    QVERIFY(session.alarms().collapsed_layers == 0 && !alarm->isVisible());
    // … but not all the time.
    s.tokens += 50'000;
    s.units[3].uses += 50'000;
    s.units[5].uses += 50'000;
    session.add_snapshot(s, 3);
    panel.refresh();
    QVERIFY(session.alarms().collapsed_layers > 0 && alarm->isVisible());
    QVERIFY(alarm->text().contains(QStringLiteral("collapse")));
  }

  // 16 experts, two for a token: four serve 92 % of an answer, but the calibration used them all.
  void oneSubjectIsNoCollapse() {
    LiveSession session;
    LivePanel panel(session);
    LiveModel model = small_model();
    model.experts = 16;
    model.calibrated_uses = std::vector<float>(32, 1.0F / 16);
    session.set_model(model);
    Snapshot s = small_snapshot();
    s.units_per_layer = 16;
    s.units.resize(32);
    for (std::size_t unit = 0; unit < 32; ++unit)
      s.units[unit].uses = unit % 16 < 4 ? 1000 + 300 * (unit % 2) : 33;
    session.add_snapshot(s, 1);
    panel.refresh();
    QVERIFY(session.alarms().collapsed_layers == 0);
    auto* const routers = panel.findChild<RouterView*>();
    const QString said = routers->accessibleDescription();
    QVERIFY(said.contains(QStringLiteral("One subject in 2 layer")));
    // Of 1000 + 1300 + 1000 + 1300 and 12 × 33 uses the four have 4600 / 4996; the calibration gave them a
    // quarter. The busiest has 1300 / 4996 instead of a sixteenth.
    QVERIFY2(said.contains(percent_text(0.67) + QStringLiteral(" of uses go to other experts")),
             qPrintable(said));
    QVERIFY2(said.contains(QStringLiteral("up to 4.2 × its even share")), qPrintable(said));
    QVERIFY(!said.contains(QStringLiteral("choices")));
    const int height = routers->sizeHint().height();
    session.set_fidelity(RoutingFidelity{.share = 0.973, .other = "the file"});
    panel.refresh();
    QVERIFY2(routers->accessibleDescription().contains(
                 QStringLiteral("of the choices are the same as with “the file”")),
             qPrintable(routers->accessibleDescription()));
    QVERIFY(routers->sizeHint().height() > height);  // a line more
    session.set_model(model);                        // opened anew: measured of none
    session.add_snapshot(s, 1);
    panel.refresh();
    QVERIFY(!routers->accessibleDescription().contains(QStringLiteral("choices")));
  }

  void offersAFixedMixWhenThePolicyGainsNothing() {
    LiveSession session;
    LivePanel panel(session);
    panel.resize(500, 900);
    session.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
    s.quality = {.in_nats = true,
                 .has_calibration = true,
                 .tokens = 500,
                 .loss = 25,
                 .all_low = 100,
                 .calibrated = 25};
    session.add_snapshot(s, 1);
    panel.refresh();
    auto* button = panel.findChild<QPushButton*>(QStringLiteral("switchPolicy"));
    QVERIFY(text_of(panel, "gainSentence").contains(QStringLiteral("gains nothing")));
    QVERIFY(!button->isHidden());
    QSignalSpy wanted(&panel, &LivePanel::switchPolicyRequested);
    button->click();
    QCOMPARE(wanted.size(), 1);
    s.tokens += 100;
    s.quality.loss = 20;
    session.add_snapshot(s, 2);
    panel.refresh();
    QVERIFY(text_of(panel, "gainSentence").contains(QStringLiteral("pays")));
    QVERIFY(button->isHidden());
  }

  // The way there and back is a button in the panel, whichever way the experts are kept.
  void aFixedMixOffersTheWayBack() {
    LiveSession session;
    LivePanel panel(session);
    panel.resize(500, 900);
    LiveModel model = small_model();
    model.policy = PolicyKind::static_tiers;
    model.plan.parts.experts.resize(2);
    session.set_model(model);
    panel.show();
    session.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    auto* button = panel.findChild<QPushButton*>(QStringLiteral("adviceSwitch"));
    QVERIFY(button->isVisible());
    QVERIFY2(button->text().contains(QStringLiteral("Follow")), qPrintable(button->text()));
    QSignalSpy wanted(&panel, &LivePanel::switchPolicyRequested);
    button->click();
    QCOMPARE(wanted.size(), 1);
    session.set_model(small_model());  // it follows the conversation, and loses
    Snapshot s = small_snapshot();
    s.quality = {.in_nats = true,
                 .has_calibration = true,
                 .tokens = 500,
                 .loss = 50,
                 .all_low = 100,
                 .calibrated = 25};
    session.add_snapshot(s, 1);
    panel.refresh();
    QVERIFY(button->isVisible());
    QVERIFY(text_of(panel, "adviceWords").contains(QStringLiteral("fixed mix would keep more")));
    s.quality.loss = 5;
    s.tokens += 100;
    session.add_snapshot(s, 2);
    panel.refresh();
    QVERIFY(!button->isVisible());
  }

  // The line stands behind as many experts of each layer as are above the lowest tier.
  void theLimitIsALine() {
    LiveSession session;
    LivePanel panel(session);
    panel.resize(500, 900);
    session.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
    session.add_snapshot(s, 1);
    panel.refresh();
    HeatmapView& map = panel.heatmap();
    QVERIFY(map.has_frontier());
    const QPolygonF line = map.frontier();
    QCOMPARE(line.size(), 2 * s.layers);
    const auto lowest = static_cast<std::uint8_t>(s.tiers.size() - 1);
    for (std::int64_t layer = 0; layer < s.layers; ++layer) {
      std::int64_t above = 0;
      for (std::int64_t unit = 0; unit < s.units_per_layer; ++unit)
        above += s.units[static_cast<std::size_t>(layer * s.units_per_layer + unit)].tier < lowest;
      const QRectF last = map.layout_of_cells().cell_rect({static_cast<int>(layer), static_cast<int>(above)});
      QVERIFY(std::abs(line[2 * layer].x() - last.left()) <= 1);
      QVERIFY(std::abs(line[2 * layer + 1].y() - last.bottom()) <= 1);
    }
    panel.set_hottest_first(false);
    QVERIFY(!map.has_frontier());
  }

  void freezesAndScrubs() {
    LiveSession session;
    LivePanel panel(session);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    session.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
    for (int i = 0; i < 50; ++i) {
      s.tokens += 5;
      s.units[9].tier = i < 25 ? 0 : 1;
      session.add_snapshot(s, i * 0.1);
    }
    panel.refresh();
    const QColor now = pixel(panel, 1, 1);
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    QCOMPARE(slider->maximum(), 49);
    slider->setValue(10);
    QVERIFY(session.held());
    QVERIFY(pixel(panel, 1, 1) != now);
    // The recording goes on behind it.
    s.tokens += 5;
    session.add_snapshot(s, 5);
    panel.refresh();
    QCOMPARE(session.ring().end(), 51);
    QCOMPARE(slider->value(), 10);
    QVERIFY(pixel(panel, 1, 1) != now);
    panel.findChild<QToolButton*>(QStringLiteral("live"))->click();
    QVERIFY(!session.held());
    QCOMPARE(pixel(panel, 1, 1), now);
    QCOMPARE(slider->value(), 50);
    panel.findChild<QToolButton*>(QStringLiteral("freeze"))->click();
    QVERIFY(session.held());
    panel.findChild<QToolButton*>(QStringLiteral("freeze"))->click();
    QVERIFY(!session.held());
  }

  // With one moment alone the time line stands at its newest end, and stays there.
  void theFirstMomentIsTheNewest() {
    LiveSession session;
    LivePanel panel(session);
    session.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    for (int i = 0; i < 3; ++i) {
      s.tokens += 5;
      session.add_snapshot(s, i * 0.1);
      panel.refresh();
      QVERIFY(slider->minimum() < slider->maximum());
      QCOMPARE(slider->value(), slider->maximum());
    }
    QVERIFY(!session.held());
  }

  void replaysARecording() {
    auto ring = std::make_shared<SnapshotRing>(recording_limits);
    Snapshot s = small_snapshot();
    for (int i = 0; i < 20; ++i) {
      s.tokens += 5;
      ring->add(s, i * 0.1);
    }
    LiveSession session;
    LivePanel panel(session);
    panel.resize(500, 800);
    panel.show();
    session.play({.model = small_model(), .ring = ring}, QStringLiteral("evening.jsonl"));
    QVERIFY(session.replaying());
    QVERIFY(panel.findChild<Headline*>()->text().contains(QStringLiteral("evening.jsonl")));
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    QTRY_COMPARE(slider->value(), 19);
    session.back_to_live();
    QVERIFY(!session.replaying());
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("No model")));
  }

  // Also while the engine idles, when no newer snapshot comes.
  void aFreshChangeIsMarkedForAMoment() {
    Snapshot before = small_snapshot(), after = small_snapshot();
    before.units[3].tier = 0;
    ++after.tokens;
    const auto show = [](LiveSession& session, LivePanel& panel) {
      panel.resize(500, 800);
      session.set_model(small_model());
      panel.show();
    };
    LiveSession other, session;
    LivePanel unmarked(other), panel(session);
    show(other, unmarked);
    other.add_snapshot(after, 1);
    unmarked.refresh();
    int asked = 0;
    session.set_reader([&](Snapshot& snapshot) {
      if (asked == 2) return false;
      snapshot = ++asked == 1 ? before : after;
      return true;
    });
    show(session, panel);
    QTRY_COMPARE(asked, 2);
    const auto map = [](LivePanel& of) { return of.heatmap().grab().toImage(); };
    auto* freeze = panel.findChild<QToolButton*>(QStringLiteral("freeze"));
    freeze->click();
    QVERIFY(map(panel) != map(unmarked));
    freeze->click();
    QTRY_VERIFY(map(panel) == map(unmarked));
  }

  // A click on the time line goes there at once, and dragging goes on from there.
  void aClickOnTheTimeLineGoesThere() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    apply_theme(*qApp, Scheme::light);
    LiveSession session;
    LivePanel panel(session);
    panel.resize(700, 800);
    session.set_model(small_model());
    panel.show();
    panel.findChild<QToolButton*>(QStringLiteral("details"))->click();
    Snapshot s = small_snapshot();
    for (int i = 0; i < 400; ++i) {
      s.tokens += 5;
      session.add_snapshot(s, i * 0.1);
    }
    panel.refresh();
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    const auto place = [slider](double share) {
      return QPoint(static_cast<int>(share * slider->width()), slider->height() / 2);
    };
    QTest::mousePress(slider, Qt::LeftButton, {}, place(0.25));
    QVERIFY(session.held());
    QVERIFY2(std::abs(slider->value() - 100) < 25, qPrintable(QString::number(slider->value())));
    QTest::mouseMove(slider, place(0.75));
    QTest::mouseRelease(slider, Qt::LeftButton, {}, place(0.75));
    QVERIFY2(std::abs(slider->value() - 300) < 25, qPrintable(QString::number(slider->value())));
  }

  // A real policy's session: nothing is drawn outside, in any size, order or mode.
  void drawsRealSessions_data() {
    QTest::addColumn<QString>("like");
    QTest::addColumn<QSize>("size");
    for (const char* like : {"qwen3-30b-a3b", "qwen3-next-80b-a3b"}) {
      QTest::addRow("%s, narrow", like) << QString::fromLatin1(like) << QSize(320, 700);
      QTest::addRow("%s, wide", like) << QString::fromLatin1(like) << QSize(1500, 900);
    }
  }
  void drawsRealSessions() {
    QFETCH(QString, like);
    QFETCH(QSize, size);
    SessionShape shape{.like = like.toStdString(), .seconds = 6};
    LiveSession session;
    LivePanel panel(session);
    panel.resize(size);
    session.set_model(session_model(shape));
    panel.show();
    FOVEA_VERIFY(play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
      session.add_snapshot(snapshot, seconds);
      return {};
    }));
    panel.refresh();
    QCOMPARE(panel.width(), size.width());
    // Where there is room the details stand beside the map.
    QVERIFY(panel.heatmap().isVisible());
    const auto* details = panel.findChild<QToolButton*>(QStringLiteral("details"));
    QCOMPARE(details->isVisible(), size.width() < 1000);
    for (const char* name : {"hottestFirst", "patterns", "table"}) {
      panel.findChild<QToolButton*>(QString::fromLatin1(name))->click();
      QVERIFY(!panel.grab().isNull());
    }
    auto* table = panel.findChild<QTableView*>();
    QCOMPARE(table->model()->rowCount(), static_cast<int>(session.ring().last_frame().size()));
    panel.findChild<QToolButton*>(QStringLiteral("table"))->click();
    HeatmapView& map = panel.heatmap();
    map.show_layer(3);
    for (int i = 0; i < 12; ++i) QTest::keyClick(&map, Qt::Key_Plus);
    QVERIFY(!panel.grab().isNull());
  }
};

FOVEA_TEST(LivePanelTest)
#include "live_panel_test.moc"
