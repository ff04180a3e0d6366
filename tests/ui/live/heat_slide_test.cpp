// Cells slide to their new places, where motion is wanted; and the map goes on from all layers to one expert.
#include <QLabel>
#include <QProxyStyle>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
#include "ui/language/number_text.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/theme/motion.h"
#include "ui/theme/tier_colours.h"

using namespace fovea;
using namespace fovea::ui;
using namespace fovea::tests;

namespace {

// A desktop that moves things, or does not.
class MovingStyle : public QProxyStyle {
 public:
  explicit MovingStyle(int milliseconds) : milliseconds_(milliseconds) {}
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* more) const override {
    return hint == SH_Widget_Animation_Duration ? milliseconds_
                                                : QProxyStyle::styleHint(hint, option, widget, more);
  }

 private:
  int milliseconds_;
};

}  // namespace

class HeatSlideTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cleanup() { motion::set_less(false); }

  void cellsSlide_data() {
    QTest::addColumn<int>("desktop");
    QTest::addColumn<bool>("less");
    QTest::addColumn<bool>("slides");
    QTest::newRow("usual") << 200 << false << true;
    QTest::newRow("a desktop without motion") << 0 << false << false;
    QTest::newRow("our setting") << 200 << true << false;
  }

  void cellsSlide() {
    QFETCH(int, desktop);
    QFETCH(bool, less);
    QFETCH(bool, slides);
    motion::set_less(less);
    MadeSource source;
    LivePanel panel(source);
    MovingStyle style(desktop);
    panel.heatmap().setStyle(&style);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    QTest::qWait(50);  // for the legend's lines to find their places
    panel.set_hottest_first(true);
    // The hottest of eight goes from the right to the left; on its way it is not there yet.
    const QImage begun = panel.heatmap().picture();
    if (slides) {
      QTRY_VERIFY(panel.heatmap().picture() != begun);
      QTRY_COMPARE(pixel(panel, 1, 0), QColor(hottest(panel)));
    } else {
      QCOMPARE(pixel(panel, 1, 0), QColor(hottest(panel)));
      QTest::qWait(50);
      QCOMPARE(panel.heatmap().picture(), begun);
    }
  }

  // Every cell is somewhere at each moment: none is left out and none is drawn twice over another that
  // stands.
  void halfWayNothingIsLost() {
    MapFrame before_frame, after_frame;
    before_frame.layers = after_frame.layers = 1;
    before_frame.units_per_layer = after_frame.units_per_layer = 8;
    before_frame.hot = {80, 70, 60, 50, 40, 30, 20, 10};
    after_frame.hot = {80, 70, 60, 50, 40, 30, 10, 20};
    for (MapFrame* frame : {&before_frame, &after_frame}) frame->tier.assign(8, 0);
    HeatPlaces before, after;
    before.by_hotness(before_frame);
    after.by_hotness(after_frame);
    HeatLayout layout;
    layout.set_area(QRectF(0, 0, 160, 40));
    layout.set_shape(0, 1, 8);
    HeatSlide slide;
    slide.begin(before, after, layout);
    QCOMPARE(slide.movers().size(), std::size_t{2});
    QVERIFY(!slide.find(5));
    slide.set_progress(0);
    QCOMPARE(slide.rect_of(*slide.find(7), layout), layout.cell_rect({0, 7}));
    slide.set_progress(0.5);
    QCOMPARE(slide.rect_of(*slide.find(7), layout).left(),
             (layout.cell_rect({0, 7}).left() + layout.cell_rect({0, 6}).left()) / 2);
    slide.set_progress(1);
    QCOMPARE(slide.rect_of(*slide.find(7), layout), layout.cell_rect({0, 6}));
  }

  void tooManyChangePlacesAtOnce() {
    constexpr std::int64_t wide = 4096;
    MapFrame rising, falling;
    for (MapFrame* frame : {&rising, &falling}) {
      frame->layers = 1;
      frame->units_per_layer = wide;
      frame->tier.assign(wide, 0);
      for (std::int64_t unit = 0; unit < wide; ++unit)
        frame->hot.push_back(static_cast<std::uint8_t>((frame == &rising ? unit : wide - 1 - unit) / 16));
    }
    HeatPlaces before, after;
    before.by_hotness(rising);
    after.by_hotness(falling);
    HeatLayout layout;
    layout.set_area(QRectF(0, 0, 400, 400));
    layout.set_shape(0, 1, wide);
    HeatSlide slide;
    slide.begin(before, after, layout);
    QVERIFY(!slide.is_under_way());
  }

  // All layers, one layer, one expert, and back.
  void goesDownToOneExpert() {
    MadeSource source;
    source.looked_changes = {{.seconds_ago = 12,
                              .decision = {.unit = 11, .from = 1, .to = 0, .reason = SwapReason::hotter},
                              .explained = true}};
    LivePanel panel(source);
    panel.set_hottest_first(false);
    panel.resize(500, 800);
    panel.show();
    HeatmapView& map = panel.heatmap();
    const auto* pages = qobject_cast<QStackedWidget*>(map.parentWidget());
    auto* back = panel.findChild<QToolButton*>(QStringLiteral("backToMap"));
    const auto centre = [&](int layer, int slot) {
      return map.layout_of_cells().cell_rect({layer, slot}).center().toPoint();
    };
    QVERIFY(back->isHidden());
    QTest::mouseDClick(&map, Qt::LeftButton, {}, centre(1, 3));
    QCOMPARE(map.single_layer().value_or(-1), 1);
    QVERIFY(!back->isHidden());
    QTest::mouseDClick(&map, Qt::LeftButton, {}, centre(1, 3));
    QCOMPARE(source.looked_unit.value_or(-1), 11);
    QCOMPARE(pages->currentWidget()->objectName(), QStringLiteral("expertPage"));
    QCOMPARE(panel.findChild<QLabel*>(QStringLiteral("mapTitle"))->text(),
             QStringLiteral("Layer 1, expert 3"));
    const auto says = [&](const char* name) { return panel.findChild<QLabel*>(QLatin1String(name))->text(); };
    QVERIFY2(says("expertUse")
                 .endsWith(percent_text(0.125, 1) + QStringLiteral(" of its layer's work, ranked 1 of 8.")),
             qPrintable(says("expertUse")));
    QVERIFY(says("expertPlace").startsWith(QStringLiteral("In memory, with 2 bits")));
    QVERIFY(says("expertChanges").startsWith(QStringLiteral("12 s ago: 2 bits → 4 bits, it became hotter")));
    QTest::keyClick(pages->currentWidget(), Qt::Key_Escape);
    QVERIFY(!source.looked_unit);
    QCOMPARE(pages->currentWidget(), &map);
    QCOMPARE(map.single_layer().value_or(-1), 1);
    back->click();
    QVERIFY(!map.single_layer());
    QVERIFY(back->isHidden());
    // By the keyboard alone.
    map.set_current_unit(10);
    QTest::keyClick(&map, Qt::Key_E);
    QCOMPARE(source.looked_unit.value_or(-1), 10);
    back->click();
    QVERIFY(!source.looked_unit);
  }

 private:
  static QRgb hottest(LivePanel& panel) {
    return tier_ramp(1, std::vector<double>{4.5, 2.25}, panel.palette(), 64)[63];
  }
};

FOVEA_TEST(HeatSlideTest)
#include "heat_slide_test.moc"
