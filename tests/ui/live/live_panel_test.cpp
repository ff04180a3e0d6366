#include "ui/live/live_panel.h"

#include <QAccessible>
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QPushButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/sessions.h"
#include "ui/live/expert_text.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/number_text.h"
#include "ui/live/pools_view.h"
#include "ui/live/traffic_view.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

using namespace fovea;
using namespace fovea::ui;

namespace {

LiveModel small_model() {
  LiveModel model;
  model.name = QStringLiteral("small");
  model.policy = PolicyKind::dynaexq;
  model.experts = 8;
  model.experts_used = 2;
  return model;
}

// Two layers of eight; layer 1 is hotter to the right.
Snapshot sample() {
  Snapshot s;
  s.layers = 2;
  s.units_per_layer = 8;
  s.units.resize(16);
  for (std::size_t unit = 0; unit < 16; ++unit)
    s.units[unit] = {.hotness = 0.01F * static_cast<float>(unit + 1),
                     .tier = static_cast<std::uint8_t>(unit % 2),
                     .uses = 100};
  s.tiers = {{.name = "q4", .bits_per_weight = 4.5, .units = 8, .bytes = 800, .hits = 800},
             {.name = "q2", .bits_per_weight = 2.25, .units = 8, .bytes = 400, .hits = 800}};
  s.pools = {{.block_bytes = 50, .blocks = 9, .used = 8}, {.block_bytes = 100, .blocks = 9, .used = 8}};
  s.arena_bytes = 1350;
  s.arena_used_bytes = 1200;
  s.budget_bytes = 2000;
  s.tokens = 100;
  return s;
}

QColor pixel(LivePanel& panel, int layer, int slot) {
  HeatmapView& map = panel.heatmap();
  const QPointF centre = map.layout_of_cells().cell_rect({layer, slot}).center();
  return map.picture().pixelColor((centre * map.devicePixelRatioF()).toPoint());
}

QString text_of(LivePanel& panel, const char* name) {
  return panel.findChild<QLabel*>(QString::fromLatin1(name))->text();
}

}  // namespace

class LivePanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void asksOnlyWhileVisible() {
    LivePanel panel;
    panel.set_model(small_model());
    int asked = 0;
    Snapshot s = sample();
    panel.set_source([&](Snapshot& snapshot) {
      ++asked;
      ++s.tokens;
      snapshot = s;
      return true;
    });
    QTest::qWait(250);
    QCOMPARE(asked, 0);
    panel.show();
    QTRY_VERIFY(asked >= 3);
    QCOMPARE(panel.ring().end(), asked);
    panel.hide();
    const int until = asked;
    QTest::qWait(250);
    QCOMPARE(asked, until);
  }

  // Its ink, which stands between the tops of capitals and the line below.
  void theHeadlineStandsInTheMiddleOfItsRow() {
    LivePanel panel;
    panel.set_model(small_model());
    panel.set_source([s = sample()](Snapshot& snapshot) { return snapshot = s, true; });
    panel.resize(1200, 700);
    panel.show();
    QTRY_VERIFY(!panel.ring().empty());
    panel.refresh();
    auto* headline = panel.findChild<Headline*>();
    headline->set_parts({QStringLiteral("HHH"), QStringLiteral("HHH")});
    const QImage picture = headline->grab().toImage();
    int top = picture.height(), bottom = 0;
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < 20; ++x)
        if (picture.pixel(x, y) != picture.pixel(picture.width() - 1, 0))
          top = std::min(top, y), bottom = std::max(bottom, y);
    const double ratio = picture.devicePixelRatio();
    const double middle = (top + bottom) / 2.0 / ratio + headline->geometry().top();
    const auto* freeze = panel.findChild<QToolButton*>(QStringLiteral("freeze"));
    const QRect button = freeze->geometry();
    QVERIFY2(std::abs(middle - button.center().y()) <= 1.5,
             qPrintable(QStringLiteral("%1 beside %2").arg(middle).arg(button.center().y())));
  }

  void saysWhyThereIsNothing() {
    LivePanel panel;
    panel.show();
    auto* button = panel.findChild<QPushButton*>(QStringLiteral("choosePrecision"));
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("No model")));
    QVERIFY(!button->isVisible());
    panel.set_opening(QStringLiteral("small.gguf"));
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("small.gguf is being opened")));
    panel.clear_model();
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("No model")));
    LiveModel model = small_model();
    model.policy = PolicyKind::none;
    panel.set_model(model);
    QVERIFY(button->isVisible());
    QSignalSpy chosen(&panel, &LivePanel::choosePrecisionRequested);
    button->click();
    QCOMPARE(chosen.size(), 1);
    model.experts = 0;
    panel.set_model(model);
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("no experts")));
    QVERIFY(!button->isVisible());
    panel.set_model(small_model());
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("first answer")));
    panel.add_snapshot(sample(), 1);
    QVERIFY(!panel.findChild<QLabel*>(QStringLiteral("emptyText"))->isVisible());
  }

  // Experts that stay as the file has them are watched all the same.
  void withoutAPolicyTheUseIsShown() {
    LivePanel panel;
    panel.resize(500, 1400);
    LiveModel model = small_model();
    model.policy = PolicyKind::none;
    model.plan.parts.dense = 1000;
    model.plan.parts.kv = 300;
    panel.set_model(model);
    panel.show();
    Snapshot s = sample();
    for (UnitState& unit : s.units) unit.tier = 0;
    s.tiers = {{.name = "file", .bits_per_weight = 5, .units = 16, .bytes = 800, .hits = 1600}};
    s.mean_bits_per_weight = 5;
    s.pools.clear();
    s.arena_bytes = s.arena_used_bytes = s.budget_bytes = 0;
    panel.add_snapshot(s, 1);
    panel.refresh();
    const bool dark = is_dark(panel.palette());
    QCOMPARE(pixel(panel, 1, 7), QColor(tier_ramp(0, 1, dark, 64)[63]));
    QVERIFY(pixel(panel, 1, 0) != pixel(panel, 1, 7));
    QVERIFY(text_of(panel, "gainSentence").contains(QStringLiteral("as the model's file has it")));
    QSignalSpy chosen(&panel, &LivePanel::choosePrecisionRequested);
    auto* choose = panel.findChild<QPushButton*>(QStringLiteral("choosePrecisionBeside"));
    QVERIFY(choose->isVisible());
    choose->click();
    QCOMPARE(chosen.size(), 1);
    const QString memory = panel.findChild<PoolsView*>()->accessibleDescription();
    QVERIFY2(memory.contains(QStringLiteral("Experts (file)")), qPrintable(memory));
    QVERIFY2(memory.contains(QStringLiteral("KV cache")), qPrintable(memory));
    const QString traffic = panel.findChild<TrafficView*>()->accessibleDescription();
    QVERIFY2(traffic.startsWith(QStringLiteral("Tokens a second")), qPrintable(traffic));
    const auto* legend = panel.findChild<LegendView*>();
    const QStringList entries = legend->accessibleDescription().split(QStringLiteral(", "));
    QCOMPARE(entries.size(), 2);  // the tier, and what its strength says
    QCOMPARE(entries.front(), QStringLiteral("file · 16"));
    panel.set_model(small_model());
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    QVERIFY(!choose->isVisible());
    QVERIFY(
        panel.findChild<TrafficView*>()->accessibleDescription().startsWith(QStringLiteral("Tier changes")));
    const QString moving = legend->accessibleDescription();
    QVERIFY2(moving.startsWith(QStringLiteral("q4 · 8, q2 · 8")) &&
                 moving.endsWith(QStringLiteral(", in flight, just changed")),
             qPrintable(moving));
  }

  void hueIsTheTierStrengthTheHotness() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    const bool dark = is_dark(panel.palette());
    // Unit 15 is the hottest of its layer, at the low tier; unit 14 at the high one.
    QCOMPARE(pixel(panel, 1, 7), QColor(tier_ramp(1, 2, dark, 64)[63]));
    const double strength = std::sqrt(0.15 / 0.16);
    const QColor expected = tier_colour(0, 2, strength, dark), drawn = pixel(panel, 1, 6);
    QVERIFY(std::abs(expected.red() - drawn.red()) <= 6 && std::abs(expected.blue() - drawn.blue()) <= 6);
    QVERIFY(pixel(panel, 0, 0) != pixel(panel, 0, 6));
  }

  void ordersByHotness() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    const QColor hottest = pixel(panel, 1, 7);
    panel.heatmap().set_order(HeatOrder::by_hotness);
    QCOMPARE(pixel(panel, 1, 0), hottest);
    panel.heatmap().set_order(HeatOrder::by_index);
    QCOMPARE(pixel(panel, 1, 7), hottest);
  }

  void keysWalkFollowAndZoom() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    HeatmapView& map = panel.heatmap();
    map.setFocus();
    QSignalSpy followed(&map, &HeatmapView::followToggled);
    map.set_current_unit(0);
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Down);
    QCOMPARE(map.current_unit().value_or(-1), 10);
    QVERIFY(map.accessibleDescription().contains(QStringLiteral("Layer 1, expert 2")));
    QVERIFY(map.accessibleDescription().contains(QStringLiteral("q4")));
    QTest::keyClick(&map, Qt::Key_Return);
    QCOMPARE(followed.size(), 1);
    QCOMPARE(followed[0][0].toLongLong(), 10);
    QTest::keyClick(&map, Qt::Key_Plus);
    QVERIFY(map.layout_of_cells().zoom() > 1);
    QTest::keyClick(&map, Qt::Key_0);
    QCOMPARE(map.layout_of_cells().zoom(), 1.0);
    QTest::keyClick(&map, Qt::Key_L);
    QCOMPARE(map.single_layer().value_or(-1), 1);
    QTest::keyClick(&map, Qt::Key_Escape);
    QVERIFY(!map.single_layer());
    for (int i = 0; i < 30; ++i) QTest::keyClick(&map, Qt::Key_End);
    QCOMPARE(map.current_unit().value_or(-1), 15);
  }

  void clickFollows() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    HeatmapView& map = panel.heatmap();
    QSignalSpy followed(&map, &HeatmapView::followToggled);
    QTest::mouseClick(&map, Qt::LeftButton, {}, map.layout_of_cells().cell_rect({1, 3}).center().toPoint());
    QCOMPARE(followed.size(), 1);
    QCOMPARE(followed[0][0].toLongLong(), 11);
  }

  void freezesAndScrubs() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    Snapshot s = sample();
    for (int i = 0; i < 50; ++i) {
      s.tokens += 5;
      s.units[9].tier = i < 25 ? 0 : 1;
      panel.add_snapshot(s, i * 0.1);
    }
    panel.refresh();
    const QColor now = pixel(panel, 1, 1);
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    QCOMPARE(slider->maximum(), 49);
    slider->setValue(10);
    QVERIFY(panel.frozen());
    QVERIFY(pixel(panel, 1, 1) != now);
    // The recording goes on behind it.
    s.tokens += 5;
    panel.add_snapshot(s, 5);
    panel.refresh();
    QCOMPARE(panel.ring().end(), 51);
    QCOMPARE(slider->value(), 10);
    QVERIFY(pixel(panel, 1, 1) != now);
    panel.findChild<QToolButton*>(QStringLiteral("live"))->click();
    QVERIFY(!panel.frozen());
    QCOMPARE(pixel(panel, 1, 1), now);
    QCOMPARE(slider->value(), 50);
    panel.findChild<QToolButton*>(QStringLiteral("freeze"))->click();
    QVERIFY(panel.frozen());
    panel.findChild<QToolButton*>(QStringLiteral("freeze"))->click();
    QVERIFY(!panel.frozen());
  }

  // With one moment alone the time line stands at its newest end, and stays there.
  void theFirstMomentIsTheNewest() {
    LivePanel panel;
    panel.set_model(small_model());
    panel.show();
    Snapshot s = sample();
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    for (int i = 0; i < 3; ++i) {
      s.tokens += 5;
      panel.add_snapshot(s, i * 0.1);
      panel.refresh();
      QVERIFY(slider->minimum() < slider->maximum());
      QCOMPARE(slider->value(), slider->maximum());
    }
    QVERIFY(!panel.frozen());
  }

  void aSwapInFlightIsMarked() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    Snapshot s = sample();
    panel.add_snapshot(s, 1);
    panel.refresh();
    const auto at_centre = [&] {
      const QPoint centre = panel.heatmap().layout_of_cells().cell_rect({0, 3}).center().toPoint();
      return panel.heatmap().grab(QRect(centre, QSize(1, 1))).toImage().pixelColor(0, 0);
    };
    const QColor still = at_centre();
    ++s.tokens;
    s.units[3].target = 0;
    panel.add_snapshot(s, 1.1);
    panel.refresh();
    QVERIFY(at_centre() != still);
    // In the colour of the tier that is coming.
    QCOMPARE(at_centre().rgb(), tier_solid(0, 2, is_dark(panel.palette())).rgb());
  }

  // Also while the engine idles, when no newer snapshot comes.
  void aFreshChangeIsMarkedForAMoment() {
    Snapshot before = sample(), after = sample();
    before.units[3].tier = 0;
    ++after.tokens;
    const auto show = [](LivePanel& panel) {
      panel.resize(500, 800);
      panel.set_model(small_model());
      panel.show();
    };
    LivePanel unmarked, panel;
    show(unmarked);
    unmarked.add_snapshot(after, 1);
    unmarked.refresh();
    int asked = 0;
    panel.set_source([&](Snapshot& snapshot) {
      if (asked == 2) return false;
      snapshot = ++asked == 1 ? before : after;
      return true;
    });
    show(panel);
    QTRY_COMPARE(asked, 2);
    const auto map = [](LivePanel& of) { return of.heatmap().grab().toImage(); };
    auto* freeze = panel.findChild<QToolButton*>(QStringLiteral("freeze"));
    freeze->click();
    QVERIFY(map(panel) != map(unmarked));
    freeze->click();
    QTRY_VERIFY(map(panel) == map(unmarked));
  }

  // Bytes are held against what was measured, and the conversation's part of the KV cache is told.
  void trafficIsHeldAgainstTheLink() {
    LivePanel panel;
    LiveModel model = small_model();
    model.plan.parts.kv = 400;
    panel.set_model(model);
    panel.show();
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    const auto words = [&](const char* view) {
      for (const QWidget* widget : panel.findChildren<QWidget*>())
        if (widget->accessibleName() == QLatin1String(view)) return widget->accessibleDescription();
      return QString();
    };
    QVERIFY2(!words("Traffic").contains(QStringLiteral("of the link")), qPrintable(words("Traffic")));
    QVERIFY2(!words("Memory").contains(QStringLiteral("in use")), qPrintable(words("Memory")));
    panel.set_link(2e9);
    panel.set_kv_used(100);
    QCOMPARE(panel.link_bytes_per_s(), 2e9);
    panel.refresh();
    QVERIFY2(words("Traffic").contains(QStringLiteral("of the link")), qPrintable(words("Traffic")));
    QVERIFY2(words("Memory").contains(QStringLiteral("in use")), qPrintable(words("Memory")));
  }

  void replaysARecording() {
    auto ring = std::make_shared<SnapshotRing>(recording_limits);
    Snapshot s = sample();
    for (int i = 0; i < 20; ++i) {
      s.tokens += 5;
      ring->add(s, i * 0.1);
    }
    LivePanel panel;
    panel.resize(500, 800);
    panel.show();
    panel.play({.model = small_model(), .ring = ring}, QStringLiteral("evening.jsonl"));
    QVERIFY(panel.replaying());
    QVERIFY(panel.findChild<Headline*>()->text().contains(QStringLiteral("evening.jsonl")));
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    QTRY_COMPARE(slider->value(), 19);
    panel.back_to_live();
    QVERIFY(!panel.replaying());
    QVERIFY(text_of(panel, "emptyText").contains(QStringLiteral("No model")));
  }

  // A pool is its tier's by the size of the blocks, whatever the order of either.
  void poolsAreNamedAfterTheirTiers() {
    Snapshot s = sample();
    QCOMPARE(tier_of_pool(s, 0), 1);
    QCOMPARE(tier_of_pool(s, 1), 0);
    s.tiers[1].units = 0;
    s.tiers[1].bytes = 0;
    QCOMPARE(tier_of_pool(s, 0), -1);
    s.tiers[1] = s.tiers[0];
    QCOMPARE(tier_of_pool(s, 1), -1);
  }

  // Units that the processor computes beside a card: their own hue and texture, place in the legend and bar.
  void showsWhatTheProcessorComputes() {
    LivePanel panel;
    panel.resize(600, 900);
    LiveModel model = small_model();
    model.plan.host_bytes = 3'000'000'000;
    model.plan.units_on_host = 2;
    panel.set_model(model);
    panel.show();
    Snapshot s = sample();
    s.units[2].tier = host_tier;
    s.units[3].tier = no_tier;
    s.units[4].tier = 0;
    for (const std::size_t unit : {2U, 3U, 4U, 5U}) s.units[unit].hotness = 0.05F;
    s.host_units = 1;
    s.host_hits = 400;
    s.tiers[0].units = s.tiers[1].units = 7;
    panel.add_snapshot(s, 1);
    panel.set_device_memory(50, 100, 60'000'000'000);
    panel.refresh();
    const QColor host = pixel(panel, 0, 2);
    for (const int other : {3, 4, 5}) QVERIFY(pixel(panel, 0, other) != host);
    const QString headline = panel.findChild<Headline*>()->text();
    QVERIFY2(headline.contains(percent_text(0.2) + QStringLiteral(" by the processor")),
             qPrintable(headline));
    const auto* pools = panel.findChild<PoolsView*>();
    QVERIFY2(pools->accessibleDescription().contains(QStringLiteral("Main memory, the processor's 1 · ") +
                                                     bytes_text(3e9)),
             qPrintable(pools->accessibleDescription()));
    const SnapshotRing& ring = panel.ring();
    const QString hover = expert_text(model, ring.last(), ring.last_frame(), 2, {}, false);
    QVERIFY2(hover.contains(QStringLiteral("Tier: main memory, computed by the processor")),
             qPrintable(hover));
  }

  // Lines over and under the map take the room that they need, also in a panel that becomes narrow later.
  void noLineIsCutOff() {
    LivePanel panel;
    panel.set_model(small_model());
    panel.show();
    Snapshot s = sample();
    for (const int width : {900, 330, 700, 300}) {
      ++s.tokens;
      panel.add_snapshot(s, static_cast<double>(s.tokens));
      panel.refresh();
      panel.resize(width, 800);
      for (const QWidget* view :
           std::initializer_list<QWidget*>{panel.findChild<Headline*>(), panel.findChild<LegendView*>()})
        QTRY_VERIFY2(view->height() >= view->heightForWidth(view->width()),
                     qPrintable(QStringLiteral("%1 at %2: %3 x %4 of %5")
                                    .arg(QLatin1String(view->metaObject()->className()))
                                    .arg(width)
                                    .arg(view->width())
                                    .arg(view->height())
                                    .arg(view->heightForWidth(view->width()))));
    }
  }

  // Dark and then light, where the panel is a window of its own: as if it had been light from the start.
  void aThemeThatChangesReachesEveryButton() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    const auto buttons = [](LivePanel& panel) {
      QMap<QString, QImage> images;
      for (QToolButton* button : panel.findChildren<QToolButton*>())
        if (button->isVisible()) images[button->text()] = button->grab().toImage();
      return images;
    };
    const auto floating = [] {
      auto window = std::make_unique<QMainWindow>();
      auto* dock = new QDockWidget(window.get());
      auto* panel = new LivePanel(dock);
      panel->set_model(small_model());
      panel->add_snapshot(sample(), 1);
      dock->setWidget(panel);
      window->addDockWidget(Qt::RightDockWidgetArea, dock);
      dock->setFloating(true);
      dock->resize(600, 900);
      window->show();
      return std::pair(std::move(window), panel);
    };
    apply_theme(*qApp, Scheme::dark);
    const auto [window, panel] = floating();
    QVERIFY(QTest::qWaitForWindowExposed(panel->window()));
    const auto dark = buttons(*panel);
    apply_theme(*qApp, Scheme::light);
    QCoreApplication::processEvents();
    const auto changed = buttons(*panel);
    const auto [other_window, other] = floating();
    QVERIFY(QTest::qWaitForWindowExposed(other->window()));
    const auto light = buttons(*other);
    QVERIFY(light.size() >= 6);
    for (const auto& [text, image] : light.asKeyValueRange()) {
      QVERIFY2(dark[text] != image, qPrintable(text));
      QVERIFY2(changed[text] == image, qPrintable(text));
    }
  }

  void raisesAlarms() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(sample(), 1);
    panel.refresh();
    auto* alarm = panel.findChild<QLabel*>(QStringLiteral("alarm"));
    QVERIFY(!panel.collapse_alarm() && !panel.memory_alarm() && !alarm->isVisible());
    panel.set_device_memory(91, 100);
    QVERIFY(panel.memory_alarm() && alarm->isVisible());
    panel.set_device_memory(90, 100);
    QVERIFY(!panel.memory_alarm() && !alarm->isVisible());
    Snapshot s = sample();
    s.tokens += 1000;
    s.units[3].uses += 1000;
    s.units[5].uses += 1000;
    panel.add_snapshot(s, 2);
    panel.refresh();
    QVERIFY(panel.collapse_alarm() && alarm->isVisible());
    QVERIFY(alarm->text().contains(QStringLiteral("collapse")));
  }

  void offersAFixedMixWhenThePolicyGainsNothing() {
    LivePanel panel;
    panel.resize(500, 900);
    panel.set_model(small_model());
    panel.show();
    Snapshot s = sample();
    for (std::size_t unit = 0; unit < 8; ++unit) s.units[unit].uses = 1000;
    s.tiers[0].hits = 4400;
    s.tiers[1].hits = 4400;
    panel.add_snapshot(s, 1);
    panel.refresh();
    auto* button = panel.findChild<QPushButton*>(QStringLiteral("switchPolicy"));
    QVERIFY(text_of(panel, "gainSentence").contains(QStringLiteral("gains nothing")));
    QVERIFY(!button->isHidden());
    QSignalSpy wanted(&panel, &LivePanel::switchPolicyRequested);
    button->click();
    QCOMPARE(wanted.size(), 1);
    s.tokens += 100;
    s.tiers[0].hits = 8700;
    s.tiers[1].hits = 100;
    panel.add_snapshot(s, 2);
    panel.refresh();
    QVERIFY(text_of(panel, "gainSentence").contains(QStringLiteral("pays")));
    QVERIFY(button->isHidden());
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
    tests::SessionShape shape{.like = like.toStdString(), .seconds = 6};
    LivePanel panel;
    panel.resize(size);
    panel.set_model(tests::session_model(shape));
    panel.show();
    FOVEA_VERIFY(tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
      panel.add_snapshot(snapshot, seconds);
      return {};
    }));
    panel.refresh();
    QCOMPARE(panel.width(), size.width());
    auto* splitter = panel.findChild<QSplitter*>();
    QCOMPARE(splitter->orientation(), size.width() > 1000 ? Qt::Horizontal : Qt::Vertical);
    for (const char* name : {"hottestFirst", "patterns", "table"}) {
      panel.findChild<QToolButton*>(QString::fromLatin1(name))->click();
      QVERIFY(!panel.grab().isNull());
    }
    auto* table = panel.findChild<QTableView*>();
    QCOMPARE(table->model()->rowCount(), static_cast<int>(panel.ring().last_frame().size()));
    panel.findChild<QToolButton*>(QStringLiteral("table"))->click();
    HeatmapView& map = panel.heatmap();
    map.show_layer(3);
    for (int i = 0; i < 12; ++i) QTest::keyClick(&map, Qt::Key_Plus);
    QVERIFY(!panel.grab().isNull());
  }

  // Every control has a name that a screen reader can say.
  void everythingHasAName() {
    LivePanel panel;
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(sample(), 1);
    for (QWidget* widget : panel.findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith(QStringLiteral("qt_")))
        continue;
      if (qobject_cast<QSplitterHandle*>(widget) || widget->inherits("QHeaderView") ||
          widget->inherits("QScrollArea") || widget->inherits("QAbstractItemView"))
        continue;
      const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      QVERIFY2(face && !face->text(QAccessible::Name).isEmpty(),
               qPrintable(QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') +
                          widget->objectName()));
    }
  }
};

FOVEA_TEST(LivePanelTest)
#include "live_panel_test.moc"
