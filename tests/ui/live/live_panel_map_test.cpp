// The panel's map: what its colours and frames say, and how it is walked through.
#include <QApplication>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/live_panel.h"
#include "ui/theme/motion.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

using namespace fovea;
using namespace fovea::ui;
using namespace fovea::tests;

class LivePanelMapTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { motion::set_less(true); }
  void cleanupTestCase() { motion::set_less(false); }

  void hueIsTheTierStrengthTheHotness() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    const std::vector<double> bits{4.5, 2.25};
    // Unit 15 is the hottest of its layer, at the low tier; unit 14 at the high one.
    QCOMPARE(pixel(panel, 1, 7), QColor(tier_ramp(1, bits, panel.palette(), 64)[63]));
    const double strength = std::sqrt(0.15 / 0.16);
    const QColor expected = tier_colour(0, bits, strength, panel.palette()), drawn = pixel(panel, 1, 6);
    QVERIFY(std::abs(expected.red() - drawn.red()) <= 6 && std::abs(expected.blue() - drawn.blue()) <= 6);
    QVERIFY(pixel(panel, 0, 0) != pixel(panel, 0, 6));
  }

  // The others are dimmed while experts are pointed out; who points at one is told.
  void expertsArePointedOutAndAt() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    HeatmapView& map = panel.heatmap();
    const QColor lit = pixel(panel, 1, 7), other = pixel(panel, 1, 6);
    map.set_pointed_out({15, 3});
    QCOMPARE(pixel(panel, 1, 7), lit);
    QVERIFY(pixel(panel, 1, 6) != other);
    const QImage framed = map.grab().toImage();
    map.set_pointed_out({});
    QCOMPARE(pixel(panel, 1, 6), other);
    QVERIFY(map.grab().toImage() != framed);

    QSignalSpy pointed(&map, &HeatmapView::pointed);
    const auto last = [&] { return pointed.isEmpty() ? qint64{-2} : pointed.takeLast()[0].toLongLong(); };
    const auto move_to = [&](const HeatCell& cell) {
      const QPointF at = map.layout_of_cells().cell_rect(cell).center();
      QMouseEvent move(QEvent::MouseMove, at, map.mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
      QApplication::sendEvent(&map, &move);
    };
    move_to({1, 6});
    QCOMPARE(last(), qint64{14});
    move_to({0, 2});
    QCOMPARE(last(), qint64{2});
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&map, &leave);
    QCOMPARE(last(), qint64{-1});
    map.set_current_unit(8);
    QTest::keyClick(&map, Qt::Key_Right);
    QCOMPARE(last(), qint64{9});
  }

  // 16 bits on white: the cell's middle is its colour, an outline keeps it from vanishing.
  void lightCellsKeepAnOutline() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    QPalette light;
    light.setColor(QPalette::Base, Qt::white);
    light.setColor(QPalette::Text, Qt::black);
    panel.setPalette(light);
    panel.resize(500, 800);
    panel.show();
    Snapshot s = small_snapshot();
    s.tiers[0].bits_per_weight = 16;
    source.show(s);
    panel.refresh();
    HeatmapView& map = panel.heatmap();
    const auto at = [&](int slot, double down) {
      const QRectF cell = map.layout_of_cells().cell_rect({1, slot});
      const double ratio = map.devicePixelRatioF();
      return map.picture().pixelColor(
          QPoint(qRound(cell.left() * ratio), qRound((cell.top() + down * cell.height()) * ratio)));
    };
    QVERIFY(at(6, 0.5) != pixel(panel, 1, 6));  // hot, at 16 bits
    QVERIFY(at(7, 0.5) == pixel(panel, 1, 7));  // hot, at 2.25
    QCOMPARE(at(7, 0), QColor(Qt::white));      // corners are off
  }

  // The frame of the last cell is as whole as those of the others.
  void framesAreWhole() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    HeatmapView& map = panel.heatmap();
    const auto drawn = [&] {
      panel.refresh();
      return map.grab().toImage();
    };
    const QImage bare = drawn();
    const double ratio = map.devicePixelRatioF();
    // Pixels of the line through its middle, around its right edge.
    const auto changed = [&](std::int64_t expert) {
      source.fresh = {{.unit = expert, .freshness = 1, .is_up = true}};
      const QImage framed = drawn();
      const QRectF cell = map.layout_of_cells().cell_rect({0, static_cast<int>(expert)});
      const int y = qRound(cell.center().y() * ratio),
                last = std::min(bare.width(), qRound((cell.right() + 3) * ratio));
      int found = 0;
      for (int x = qRound((cell.right() - 3) * ratio); x < last; ++x)
        found += framed.pixel(x, y) != bare.pixel(x, y);
      return found;
    };
    QVERIFY(changed(5) > 0);
    QCOMPARE(changed(7), changed(5));
  }

  // What made room is nearest to the ground, in both themes.
  void whatFellComesOutOfTheGround() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    for (const QColor& ground : {QColor(Qt::white), QColor(Qt::black)}) {
      QPalette palette;
      palette.setColor(QPalette::Base, ground);
      palette.setColor(QPalette::Text, ground == Qt::white ? Qt::black : Qt::white);
      panel.setPalette(palette);
      panel.show();
      source.fresh.clear();
      panel.refresh();
      const auto middle = [&] {
        HeatmapView& map = panel.heatmap();
        const QPointF at = map.layout_of_cells().cell_rect({1, 7}).center() + QPointF(3, 3);
        return map.grab().toImage().pixelColor((at * map.devicePixelRatioF()).toPoint());
      };
      const auto away = [&](const QColor& colour) {
        return std::abs(colour.lightness() - ground.lightness());
      };
      const QColor before = middle();
      source.fresh = {{.unit = 15, .freshness = 1, .is_up = false}};
      panel.refresh();
      QVERIFY(away(middle()) < away(before));
      source.fresh = {{.unit = 15, .freshness = 1, .is_up = true}};
      panel.refresh();
      QVERIFY(middle().lightness() > before.lightness());
    }
  }

  // Once there was something to read, so that the map does not grow and shrink with each.
  void theLegendTellsOfLozenges() {
    MadeSource source;
    LivePanel panel(source);
    panel.resize(500, 800);
    panel.show();
    panel.refresh();
    const auto* legend = panel.findChild<LegendView*>();
    const auto tells = [&] { return legend->accessibleDescription().contains(QStringLiteral("being read")); };
    QVERIFY(!tells());
    Snapshot s = small_snapshot();
    s.units[3].target = 0;
    source.show(s);
    panel.refresh();
    QVERIFY(tells());
    source.show(small_snapshot());
    panel.refresh();
    QVERIFY(tells());
    Q_EMIT source.modelChanged();
    panel.refresh();
    QVERIFY(!tells());
  }

  void ordersByHotness() {
    MadeSource source;
    LivePanel panel(source);
    QCOMPARE(panel.heatmap().order(), HeatOrder::by_hotness);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    const QColor hottest = pixel(panel, 1, 7);
    panel.heatmap().set_order(HeatOrder::by_hotness);
    QCOMPARE(pixel(panel, 1, 0), hottest);
    panel.heatmap().set_order(HeatOrder::by_index);
    QCOMPARE(pixel(panel, 1, 7), hottest);
  }

  void keysWalkFollowAndZoom() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    HeatmapView& map = panel.heatmap();
    map.setFocus();
    QSignalSpy followed(&map, &HeatmapView::followToggled);
    map.set_current_unit(0);
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Down);
    QCOMPARE(map.current_unit().value_or(-1), 10);
    QVERIFY(map.accessibleDescription().contains(QStringLiteral("Layer 1, expert 2")));
    QVERIFY(map.accessibleDescription().contains(QStringLiteral("4 bits")));
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
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    HeatmapView& map = panel.heatmap();
    QSignalSpy followed(&map, &HeatmapView::followToggled);
    QTest::mouseClick(&map, Qt::LeftButton, {}, map.layout_of_cells().cell_rect({1, 3}).center().toPoint());
    QCOMPARE(followed.size(), 1);
    QCOMPARE(followed[0][0].toLongLong(), 11);
    QCOMPARE(source.told, QStringList{QStringLiteral("follow 11")});
  }

  void aSwapInFlightIsMarked() {
    MadeSource source;
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    Snapshot s = small_snapshot();
    source.show(s);
    panel.refresh();
    const auto at_centre = [&] {
      const QPoint centre = panel.heatmap().layout_of_cells().cell_rect({0, 3}).center().toPoint();
      return panel.heatmap().grab(QRect(centre, QSize(1, 1))).toImage().pixelColor(0, 0);
    };
    const QColor still = at_centre();
    s.units[3].target = 0;
    source.show(s);
    panel.refresh();
    QVERIFY(at_centre() != still);
    // In the colour of the tier that is coming.
    QCOMPARE(at_centre().rgb(), precision_colour(4.5).rgb());
  }
};

FOVEA_TEST(LivePanelMapTest)
#include "live_panel_map_test.moc"
