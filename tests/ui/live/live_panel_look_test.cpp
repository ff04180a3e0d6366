// How the panel looks: in any size and theme, with real sessions, and to a screen reader.
#include <QAccessible>
#include <QDockWidget>
#include <QMainWindow>
#include <QScopeGuard>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/sessions.h"
#include "tests/ui/live/small_session.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/live_panel.h"
#include "ui/theme/theme.h"

using namespace fovea;
using namespace fovea::ui;
using namespace fovea::tests;

class LivePanelLookTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Its ink, which stands between the tops of capitals and the line below.
  void theHeadlineStandsInTheMiddleOfItsRow() {
    LivePanel panel;
    panel.set_model(small_model());
    panel.set_source([s = small_snapshot()](Snapshot& snapshot) { return snapshot = s, true; });
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

  // Lines over and under the map take the room that they need, also in a panel that becomes narrow later.
  void noLineIsCutOff() {
    LivePanel panel;
    panel.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
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
      panel->add_snapshot(small_snapshot(), 1);
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

  // A click on the time line goes there at once, and dragging goes on from there.
  void aClickOnTheTimeLineGoesThere() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    apply_theme(*qApp, Scheme::light);
    LivePanel panel;
    panel.resize(700, 800);
    panel.set_model(small_model());
    panel.show();
    Snapshot s = small_snapshot();
    for (int i = 0; i < 400; ++i) {
      s.tokens += 5;
      panel.add_snapshot(s, i * 0.1);
    }
    panel.refresh();
    auto* slider = panel.findChild<QSlider*>(QStringLiteral("timeline"));
    const auto place = [slider](double share) {
      return QPoint(static_cast<int>(share * slider->width()), slider->height() / 2);
    };
    QTest::mousePress(slider, Qt::LeftButton, {}, place(0.25));
    QVERIFY(panel.frozen());
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
    panel.add_snapshot(small_snapshot(), 1);
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

FOVEA_TEST(LivePanelLookTest)
#include "live_panel_look_test.moc"
