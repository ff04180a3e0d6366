#include "ui/live/heat_layout.h"

#include <QRandomGenerator>

#include "tests/support/test.h"

using namespace fovea::ui;

class HeatLayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void folds_data() {
    QTest::addColumn<QSizeF>("size");
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("experts");
    QTest::addColumn<double>("min_side");
    QTest::newRow("128 experts, dock") << QSizeF(300, 360) << 48 << 128 << 2.0;
    QTest::newRow("128 experts, wide") << QSizeF(900, 700) << 48 << 128 << 7.0;
    QTest::newRow("512 experts, dock") << QSizeF(300, 400) << 48 << 512 << 1.6;
    QTest::newRow("512 experts, wide") << QSizeF(1400, 800) << 48 << 512 << 2.4;
    QTest::newRow("512 experts, one layer") << QSizeF(400, 300) << 1 << 512 << 12.0;
    QTest::newRow("8 experts") << QSizeF(300, 300) << 32 << 8 << 9.0;
    QTest::newRow("one expert") << QSizeF(100, 100) << 1 << 1 << 20.0;
  }
  void folds() {
    QFETCH(QSizeF, size);
    QFETCH(int, layers);
    QFETCH(int, experts);
    QFETCH(double, min_side);
    HeatLayout layout;
    layout.set_area(QRectF(QPointF(20, 5), size));
    layout.set_shape(0, layers, experts);
    QVERIFY2(layout.cell_width() >= min_side, qPrintable(QString::number(layout.cell_width())));
    QVERIFY2(layout.cell_height() >= std::min(min_side, 1.4),
             qPrintable(QString::number(layout.cell_height())));
    // Every cell lies inside, and is found where it lies.
    for (int layer = 0; layer < layers; ++layer) {
      for (int slot = 0; slot < experts; ++slot) {
        const HeatCell cell{layer, slot};
        const QRectF rect = layout.cell_rect(cell);
        QVERIFY(layout.area().adjusted(-0.01, -0.01, 0.01, 0.01).contains(rect));
        QVERIFY(layout.cell_at(rect.center()) == cell);
      }
    }
  }

  // As the line above it and the bar below it do, however few experts there are.
  void fillsItsWidth() {
    for (const int experts : {8, 16, 512}) {
      HeatLayout layout;
      layout.set_area({30, 0, 1055, 170});
      layout.set_shape(0, 30, experts, true);
      QVERIFY(std::abs(layout.cell_rect({0, experts - 1}).right() - layout.area().right()) < 0.01);
    }
  }

  void zoomKeepsThePoint() {
    HeatLayout layout;
    layout.set_area({30, 0, 600, 400});
    layout.set_shape(0, 48, 128);
    const QPointF mouse(400, 252);  // inside a cell
    const auto under = layout.cell_at(mouse);
    for (int i = 0; i < 12; ++i) {
      layout.zoom_by(1.3, mouse);
      QVERIFY(layout.cell_at(mouse) == under);
    }
    layout.zoom_by(1e6, mouse);
    QCOMPARE(layout.zoom(), HeatLayout::largest_zoom);
    layout.zoom_by(1e-9, mouse);
    QCOMPARE(layout.zoom(), 1.0);
    QCOMPARE(layout.cell_rect({0, 0}).topLeft(), layout.area().topLeft());
  }

  // However it is pushed, the map covers its area.
  void staysInside() {
    QRandomGenerator random(fovea::tests::seed());
    HeatLayout layout;
    layout.set_area({30, 0, 600, 400});
    layout.set_shape(0, 48, 128);
    for (int i = 0; i < 500; ++i) {
      layout.zoom_by(0.5 + random.bounded(1.2), {30 + random.bounded(600.0), random.bounded(400.0)});
      layout.move_by({random.bounded(2000.0) - 1000, random.bounded(2000.0) - 1000});
      const QRectF first = layout.cell_rect({0, 0}), last = layout.cell_rect({47, 127});
      QVERIFY(first.left() <= 30.001 && first.top() <= 0.001);
      QVERIFY(last.right() >= 629.99 && last.bottom() >= 399.99);
    }
  }

  // Where experts stand in an order, a layer is a row, however narrow; alone it is a block all the same.
  void anOrderIsReadAlongARow() {
    HeatLayout layout;
    layout.set_area({0, 0, 300, 480});
    layout.set_shape(0, 48, 512, true);
    QCOMPARE(layout.fold(), 1);
    QCOMPARE(layout.columns(), 512);
    QVERIFY(layout.cell_at(layout.cell_rect({47, 300}).center()) == (HeatCell{47, 300}));
    layout.set_shape(3, 1, 512, true);
    QVERIFY(layout.fold() > 1);
  }

  void neighbours() {
    HeatLayout layout;
    layout.set_area({0, 0, 300, 480});
    layout.set_shape(0, 48, 512);
    QVERIFY(layout.fold() > 1);
    QCOMPARE(512 % layout.fold(), 0);
    // Down a fold stays in the layer, then goes to the next.
    HeatCell cell{0, 5};
    for (int i = 0; i < layout.fold(); ++i) {
      QCOMPARE(cell.layer, 0);
      QCOMPARE(cell.slot, 5 + i * layout.columns());
      cell = layout.neighbour(cell, 0, 1);
    }
    QVERIFY((cell == HeatCell{1, 5}));
    QVERIFY((layout.neighbour({0, 0}, -1, -1) == HeatCell{0, 0}));
    QVERIFY((layout.neighbour({47, 511}, 1, 1) == HeatCell{47, 511}));
  }

  void makesVisible() {
    HeatLayout layout;
    layout.set_area({0, 0, 300, 300});
    layout.set_shape(0, 48, 128);
    layout.zoom_by(10, {0, 0});
    layout.make_visible({40, 100});
    QVERIFY(layout.area().adjusted(-0.01, -0.01, 0.01, 0.01).contains(layout.cell_rect({40, 100})));
  }
};

FOVEA_TEST(HeatLayoutTest)
#include "heat_layout_test.moc"
