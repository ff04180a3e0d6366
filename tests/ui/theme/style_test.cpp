// Controls are drawn with the tokens, and what is to be read can be read.
#include "ui/theme/style.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QStyleOptionGroupBox>
#include <QTextEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>

#include "tests/support/test.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"
#include "ui/theme/window_size.h"

using namespace fovea::ui;

namespace {

// WCAG 2.1, relative luminance and contrast.
double luminance(const QColor& colour) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

}  // namespace

class StyleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { palette_ = QApplication::palette(); }
  void cleanup() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(palette_);
  }

  // Beside fields that are as wide as the page.
  void aPagesScrollBarStandsApart() {
    auto* const page = new QWidget;
    auto* const fields = new QVBoxLayout(page);
    fields->setContentsMargins({});
    for (int i = 0; i < 8; ++i) fields->addWidget(new QLineEdit);
    PageArea area(page);
    area.resize(300, 60);
    area.show();
    QVERIFY(QTest::qWaitForWindowExposed(&area));
    QScrollBar* const bar = area.verticalScrollBar();
    QTRY_VERIFY(bar->isVisible());
    const auto right_of = [&](const QWidget* part) {
      return part->mapTo(&area, QPoint(part->width(), 0)).x();
    };
    QTRY_COMPARE(bar->mapTo(&area, QPoint()).x() - right_of(page), space::tight);
    area.resize(300, page->sizeHint().height() + 10);
    QTRY_VERIFY(!bar->isVisible());
    QTRY_COMPARE(right_of(page), 300);
  }

  void theme_data() {
    QTest::addColumn<Scheme>("scheme");
    QTest::newRow("dark") << Scheme::dark;
    QTest::newRow("light") << Scheme::light;
  }

  // Beside each other in a form, all in the interface's font.
  void fieldsAreAllOfOneHeight() {
    apply_theme(*qApp, Scheme::dark);
    const int height = QComboBox().sizeHint().height();
    QCOMPARE(QSpinBox().sizeHint().height(), height);
    QCOMPARE(QLineEdit().sizeHint().height(), height);
  }

  // Its icon and words have as much room before them as behind them.
  void anIconBesideWordsKeepsTheButtonsMargin() {
    apply_theme(*qApp, Scheme::dark);
    QToolButton button;
    button.setAutoRaise(true);
    button.setText(QStringLiteral("Newest"));
    button.setIcon(icon_of(Glyph::latest));
    button.setIconSize({icon_size, icon_size});
    button.setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button.resize(button.sizeHint());
    button.setAttribute(Qt::WA_DontShowOnScreen);
    button.show();
    const QImage picture = button.grab().toImage();
    int first = picture.width(), last = 0;
    for (int x = 0; x < picture.width(); ++x)
      for (int y = 0; y < picture.height(); ++y)
        if (picture.pixel(x, y) != picture.pixel(0, 0)) first = std::min(first, x), last = std::max(last, x);
    const double ratio = picture.devicePixelRatio();
    const double before = first / ratio, behind = (picture.width() - 1 - last) / ratio;
    QVERIFY2(std::abs(before - behind) <= icon_size / 2.0,
             qPrintable(QStringLiteral("%1 and %2").arg(before).arg(behind)));
  }

  void keysAreUnderlinedWhileAltIsHeld() {
    apply_theme(*qApp, Scheme::dark);
    QPushButton button(QStringLiteral("&Open"));
    button.show();
    const auto underlines = [&] {
      return button.style()->styleHint(QStyle::SH_UnderlineShortcut, nullptr, &button) != 0;
    };
    QVERIFY(!underlines());
    const QImage without = button.grab().toImage();
    QTest::keyPress(&button, Qt::Key_Alt);
    QVERIFY(underlines());
    QVERIFY(button.grab().toImage() != without);
    QTest::keyRelease(&button, Qt::Key_Alt);
    QVERIFY(!underlines());
    QCOMPARE(button.grab().toImage(), without);
  }

  void whatIsReadHasContrast_data() { theme_data(); }
  void whatIsReadHasContrast() {
    QFETCH(Scheme, scheme);
    apply_theme(*qApp, scheme);
    const Tones& t = tones(QApplication::palette());
    for (const QColor& ground : {t.window, t.sidebar, t.card, t.hover, t.bubble, t.code}) {
      for (const QColor& words : {t.text, t.second, t.accent, t.good, t.warning, t.error})
        QVERIFY2(contrast(words, ground) >= 4.5,
                 qPrintable(words.name() + QStringLiteral(" on ") + ground.name() + QStringLiteral(": ") +
                            QString::number(contrast(words, ground))));
      QVERIFY(contrast(t.third, ground) >= 3);
    }
    QVERIFY(contrast(t.on_brand, t.brand) >= 4.5);
    QVERIFY(contrast(t.on_accent, t.accent) >= 4.5);
    QVERIFY(contrast(t.error, t.error_ground) >= 4.5);
  }

  void theMainButtonIsFilled_data() { theme_data(); }
  void theMainButtonIsFilled() {
    QFETCH(Scheme, scheme);
    apply_theme(*qApp, scheme);
    QPushButton plain(QStringLiteral("Back")), main(QStringLiteral("Next"));
    make_main(main);
    const Tones& t = tones(QApplication::palette());
    const auto ground = [](QPushButton& button) {
      button.resize(120, 32);
      button.ensurePolished();
      return button.grab().toImage().pixelColor(12, 16);
    };
    QCOMPARE(ground(plain), t.card);
    QCOMPARE(ground(main), t.brand);
    main.setEnabled(false);
    QCOMPARE(ground(main), t.card);
  }

  // Fields of several lines have the corners of those of one; within a card without a frame they have none.
  void textFieldsAreRound_data() { theme_data(); }
  void textFieldsAreRound() {
    QFETCH(Scheme, scheme);
    apply_theme(*qApp, scheme);
    const Tones& t = tones(QApplication::palette());
    QWidget page;
    page.resize(300, 200);
    QTextEdit shown(&page);
    QPlainTextEdit written(&page);
    QLineEdit line(&page);
    shown.setGeometry(10, 10, 120, 80);
    written.setGeometry(150, 10, 120, 80);
    line.setGeometry(10, 100, 120, 32);
    for (QWidget* field : std::initializer_list<QWidget*>{&shown, &written, &line})
      field->setFocusPolicy(Qt::NoFocus);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    const QImage image = page.grab().toImage();
    const double scale = image.devicePixelRatio();
    const auto at = [&](const QWidget& field, QPoint point) {
      return image.pixelColor(((QPointF(field.pos()) + QPointF(point)) * scale).toPoint());
    };
    for (const QWidget* field : std::initializer_list<QWidget*>{&shown, &written}) {
      QCOMPARE(at(*field, {0, 0}), t.window);
      QCOMPARE(at(*field, {60, 20}), t.card);
      for (const QPoint point : {QPoint(1, 1), QPoint(2, 2), QPoint(3, 1), QPoint(1, 3), QPoint(4, 4)})
        QCOMPARE(at(*field, point), at(line, point));
    }
  }

  // The line stands beside the dock, at the left as at the right.
  void docksEndInALine_data() { theme_data(); }
  void docksEndInALine() {
    QFETCH(Scheme, scheme);
    apply_theme(*qApp, scheme);
    QMainWindow window;
    window.setCentralWidget(new QWidget);
    QList<QDockWidget*> docks;
    for (const Qt::DockWidgetArea area : {Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea}) {
      auto* dock = new QDockWidget(&window);
      dock->setTitleBarWidget(new QWidget);
      dock->setWidget(new QWidget);
      window.addDockWidget(area, dock);
      docks.append(dock);
    }
    window.resize(600, 200);
    window.show();
    window.resizeDocks(docks, {100, 100}, Qt::Horizontal);
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    const QImage seen = window.grab().toImage();
    const Tones& t = tones(QApplication::palette());
    QCOMPARE(docks[0]->width(), 100);
    QCOMPARE(docks[1]->width(), 100);
    QCOMPARE(seen.pixelColor(100, 100), t.line);
    QCOMPARE(seen.pixelColor(101, 100), t.window);
    QCOMPARE(seen.pixelColor(499, 100), t.line);
    QCOMPARE(seen.pixelColor(498, 100), t.window);
  }

  void anIconThatIsOnHasTheAccent_data() { theme_data(); }
  void anIconThatIsOnHasTheAccent() {
    QFETCH(Scheme, scheme);
    apply_theme(*qApp, scheme);
    QWidget parent;
    QToolButton* button = icon_button(Glyph::panel, QStringLiteral("Panel"), &parent);
    button->setCheckable(true);
    const Tones& t = tones(QApplication::palette());
    const auto has = [&](const QColor& colour) {
      const QImage seen = button->grab().toImage();
      for (int y = 0; y < seen.height(); ++y)
        for (int x = 0; x < seen.width(); ++x)
          if (seen.pixelColor(x, y) == colour) return true;
      return false;
    };
    QVERIFY(has(t.second) && !has(t.accent));
    button->setChecked(true);
    QVERIFY(has(t.accent) && !has(t.hover));
  }

  void interIsTakenWhereItIs() {
    QFont desktop(QStringLiteral("Sans"));
    desktop.setPointSizeF(11);
    QCOMPARE(interface_font(desktop, {QStringLiteral("Sans"), QStringLiteral("Inter Tight")}), desktop);
    const QFont inter = interface_font(desktop, {QStringLiteral("Inter"), QStringLiteral("Sans")});
    QCOMPARE(inter.family(), QStringLiteral("Inter"));
    QCOMPARE(inter.pointSizeF(), 11);
  }

  // Its thumb says how much is seen, and where a click on either side of it leads.
  void scrollBarsHaveNoArrows() {
    apply_theme(*qApp, Scheme::dark);
    QScrollBar bar(Qt::Vertical);
    bar.setRange(0, 300);
    bar.setPageStep(100);
    bar.resize(bar.sizeHint().width(), 400);
    bar.show();
    QStyleOptionSlider option;
    option.initFrom(&bar);
    option.orientation = Qt::Vertical;
    option.minimum = 0;
    option.maximum = 300;
    option.pageStep = 100;
    option.sliderPosition = 150;
    const auto part = [&](QStyle::SubControl each) {
      return bar.style()->subControlRect(QStyle::CC_ScrollBar, &option, each, &bar);
    };
    QCOMPARE(part(QStyle::SC_ScrollBarGroove), bar.rect());
    QCOMPARE(part(QStyle::SC_ScrollBarSlider).height(), 100);
    QCOMPARE(part(QStyle::SC_ScrollBarSlider).top(), 150);
    QCOMPARE(part(QStyle::SC_ScrollBarAddPage).bottom(), 399);
    QVERIFY(part(QStyle::SC_ScrollBarAddLine).isEmpty());
    QTest::mouseClick(&bar, Qt::LeftButton, {}, QPoint(4, 390));
    QVERIFY(bar.value() > 0);
  }

  // A group's title stands in its card: it begins where the content does, above it, and not on the line.
  void aGroupsTitleStandsInItsCard() {
    struct Group : QGroupBox {
      using QGroupBox::QGroupBox;
      QRect title() const {
        QStyleOptionGroupBox option;
        initStyleOption(&option);
        return style()->subControlRect(QStyle::CC_GroupBox, &option, QStyle::SC_GroupBoxLabel, this);
      }
    };
    apply_theme(*qApp, Scheme::light);
    for (const Qt::LayoutDirection direction : {Qt::LeftToRight, Qt::RightToLeft}) {
      Group group(QStringLiteral("Sampling"));
      group.setLayoutDirection(direction);
      auto* content = new QLabel(QStringLiteral("Content"));
      (new QVBoxLayout(&group))->addWidget(content);
      group.resize(300, 120);
      group.show();
      QCoreApplication::processEvents();
      const QRect title = group.title();
      QVERIFY(
          group.rect().adjusted(radius::card / 2, radius::card / 2, -radius::card / 2, 0).contains(title));
      QVERIFY(title.bottom() < content->geometry().top());
      const bool left = direction == Qt::LeftToRight;
      const int beside =
          left ? title.left() - content->geometry().left() : content->geometry().right() - title.right();
      QVERIFY2(std::abs(beside) < space::hair, qPrintable(QString::number(beside)));
    }
  }

  void typeFollowsTheTextSize() {
    const auto restore = qScopeGuard([font = QApplication::font()] { QApplication::setFont(font); });
    QLabel label(QStringLiteral("Title"));
    set_type(label, Type::title, true);
    const double before = label.font().pointSizeF();
    QFont larger = QApplication::font();
    larger.setPointSizeF(larger.pointSizeF() * 1.5);
    QApplication::setFont(larger);
    QCoreApplication::processEvents();
    QVERIFY(std::abs(label.font().pointSizeF() - before * 1.5) < 0.1);
  }

 private:
  QPalette palette_;
};

FOVEA_TEST(StyleTest)

#include "style_test.moc"
