// How the panel looks: in any size and theme, and to a screen reader.
#include <QAccessible>
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QScopeGuard>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
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
    MadeSource source;
    LivePanel panel(source);
    panel.resize(1200, 700);
    panel.show();
    QTest::qWait(0);
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
    const auto* more = panel.findChild<QToolButton*>(QStringLiteral("panelMore"));
    const QRect button = more->geometry();
    QVERIFY2(std::abs(middle - button.center().y()) <= 1.5,
             qPrintable(QStringLiteral("%1 beside %2").arg(middle).arg(button.center().y())));
  }

  // Lines over and under the map take the room that they need, also in a panel that becomes narrow later.
  void noLineIsCutOff() {
    MadeSource source;
    LivePanel panel(source);
    panel.show();
    for (const int width : {900, 330, 700, 300}) {
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
    MadeSource source;
    const auto floating = [&source] {
      auto window = std::make_unique<QMainWindow>();
      auto* dock = new QDockWidget(window.get());
      auto* panel = new LivePanel(source, dock);
      dock->setWidget(panel);
      window->addDockWidget(Qt::RightDockWidgetArea, dock);
      dock->setFloating(true);
      dock->resize(1200, 900);
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

  // Every control has a name that a screen reader can say.
  void everythingHasAName() {
    MadeSource source;
    LivePanel panel(source);
    panel.show();
    for (QWidget* widget : panel.findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith(QStringLiteral("qt_")))
        continue;
      if (qobject_cast<QSplitterHandle*>(widget) || widget->inherits("QHeaderView") ||
          widget->inherits("QScrollArea") || widget->inherits("QAbstractItemView"))
        continue;
      if (const auto* label = qobject_cast<QLabel*>(widget); label && label->text().isEmpty()) continue;
      const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      QVERIFY2(face && !face->text(QAccessible::Name).isEmpty(),
               qPrintable(QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') +
                          widget->objectName()));
    }
  }
};

FOVEA_TEST(LivePanelLookTest)
#include "live_panel_look_test.moc"
