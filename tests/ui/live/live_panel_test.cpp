// What the panel says, and of which moment.
#include "ui/live/live_panel.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/small_session.h"
#include "ui/live/expert_text.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/number_text.h"
#include "ui/live/pools_view.h"
#include "ui/live/router_view.h"
#include "ui/live/traffic_view.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

using namespace fovea;
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
    LivePanel panel;
    panel.set_model(small_model());
    int asked = 0;
    Snapshot s = small_snapshot();
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
    panel.add_snapshot(small_snapshot(), 1);
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
    Snapshot s = small_snapshot();
    for (UnitState& unit : s.units) unit.tier = 0;
    s.tiers = {{.name = "file", .bits_per_weight = 5, .units = 16, .bytes = 800, .hits = 1600}};
    s.mean_bits_per_weight = 5;
    s.pools.clear();
    s.arena_bytes = s.arena_used_bytes = s.budget_bytes = 0;
    panel.add_snapshot(s, 1);
    panel.refresh();
    QCOMPARE(pixel(panel, 1, 7), QColor(tier_ramp(0, std::vector<double>{5}, panel.palette(), 64)[63]));
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
    panel.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    QVERIFY(!choose->isVisible());
    QVERIFY(
        panel.findChild<TrafficView*>()->accessibleDescription().startsWith(QStringLiteral("Tier changes")));
    const QString moving = legend->accessibleDescription();
    QVERIFY2(moving.startsWith(QStringLiteral("q4 · 8, q2 · 8")) &&
                 moving.endsWith(QStringLiteral(", in flight, just changed")),
             qPrintable(moving));
  }

  // Bytes are held against what was measured, and the conversation's part of the KV cache is told.
  void trafficIsHeldAgainstTheLink() {
    LivePanel panel;
    LiveModel model = small_model();
    model.plan.parts.kv = 400;
    panel.set_model(model);
    panel.show();
    panel.add_snapshot(small_snapshot(), 1);
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

  // Units that the processor computes beside a card: their own hue and texture, place in the legend and bar.
  void showsWhatTheProcessorComputes() {
    LivePanel panel;
    panel.resize(600, 900);
    LiveModel model = small_model();
    model.plan.host_bytes = 3'000'000'000;
    model.plan.units_on_host = 2;
    panel.set_model(model);
    panel.show();
    Snapshot s = small_snapshot();
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

  // A pool is its tier's by the size of the blocks, whatever the order of either.
  void poolsAreNamedAfterTheirTiers() {
    Snapshot s = small_snapshot();
    QCOMPARE(tier_of_pool(s, 0), 1);
    QCOMPARE(tier_of_pool(s, 1), 0);
    s.tiers[1].units = 0;
    s.tiers[1].bytes = 0;
    QCOMPARE(tier_of_pool(s, 0), -1);
    s.tiers[1] = s.tiers[0];
    QCOMPARE(tier_of_pool(s, 1), -1);
  }

  void raisesAlarms() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    panel.add_snapshot(small_snapshot(), 1);
    panel.refresh();
    auto* alarm = panel.findChild<QLabel*>(QStringLiteral("alarm"));
    QVERIFY(!panel.collapse_alarm() && !panel.memory_alarm() && !alarm->isVisible());
    panel.set_device_memory(91, 100);
    QVERIFY(panel.memory_alarm() && alarm->isVisible());
    panel.set_device_memory(90, 100);
    QVERIFY(!panel.memory_alarm() && !alarm->isVisible());
    // Two of eight experts serve what was written lately: it may be about one thing …
    Snapshot s = small_snapshot();
    s.tokens += 1000;
    s.units[3].uses += 1000;
    s.units[5].uses += 1000;
    panel.add_snapshot(s, 2);
    panel.refresh();
    QVERIFY(!panel.collapse_alarm() && !alarm->isVisible());
    // … but not all the time.
    s.tokens += 50'000;
    s.units[3].uses += 50'000;
    s.units[5].uses += 50'000;
    panel.add_snapshot(s, 3);
    panel.refresh();
    QVERIFY(panel.collapse_alarm() && alarm->isVisible());
    QVERIFY(alarm->text().contains(QStringLiteral("collapse")));
  }

  // 16 experts, two for a token: four serve 92 % of an answer, but the calibration used them all.
  void oneSubjectIsNoCollapse() {
    LivePanel panel;
    LiveModel model = small_model();
    model.experts = 16;
    model.calibrated_uses = std::vector<float>(32, 1.0F / 16);
    panel.set_model(model);
    Snapshot s = small_snapshot();
    s.units_per_layer = 16;
    s.units.resize(32);
    for (std::size_t unit = 0; unit < 32; ++unit)
      s.units[unit].uses = unit % 16 < 4 ? 1000 + 300 * (unit % 2) : 33;
    panel.add_snapshot(s, 1);
    panel.refresh();
    QVERIFY(!panel.collapse_alarm());
    QVERIFY(panel.findChild<RouterView*>()->accessibleDescription().contains(
        QStringLiteral("One subject in 2 layer")));
  }

  void offersAFixedMixWhenThePolicyGainsNothing() {
    LivePanel panel;
    panel.resize(500, 900);
    panel.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
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

  void freezesAndScrubs() {
    LivePanel panel;
    panel.resize(500, 800);
    panel.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
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
    Snapshot s = small_snapshot();
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

  void replaysARecording() {
    auto ring = std::make_shared<SnapshotRing>(recording_limits);
    Snapshot s = small_snapshot();
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
};

FOVEA_TEST(LivePanelTest)
#include "live_panel_test.moc"
