#include "ui/theme/icons.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <set>

#include "tests/support/test.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

using namespace fovea::ui;

namespace {

QImage drawn(Glyph glyph, const QColor& colour, int side = 32) {
  QImage image(side, side, QImage::Format_ARGB32);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  paint_icon(painter, glyph, QRectF(0, 0, side, side), colour);
  return image;
}

std::set<QRgb> opaque_colours(const QImage& image) {
  std::set<QRgb> colours;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      if (qAlpha(image.pixel(x, y)) == 255) colours.insert(image.pixel(x, y));
  return colours;
}

}  // namespace

class IconsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Each is there, is another one, and has the colour that it is asked for.
  void everyDrawingIsThere() {
    std::vector<QImage> seen;
    for (int i = 0; i <= static_cast<int>(last_glyph); ++i) {
      const QImage image = drawn(static_cast<Glyph>(i), QColor(10, 200, 30));
      QCOMPARE(opaque_colours(image), std::set<QRgb>{qRgb(10, 200, 30)});
      QVERIFY2(std::ranges::find(seen, image) == seen.end(), qPrintable(QString::number(i)));
      seen.push_back(image);
    }
  }

  void iconsFollowTheTheme() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    const QIcon icon = icon_of(Glyph::add);
    for (const Scheme scheme : {Scheme::dark, Scheme::light}) {
      apply_theme(*qApp, scheme);
      const Tones& t = tones(QApplication::palette());
      const auto colours = [&](QIcon::Mode mode, QIcon::State state) {
        return opaque_colours(
            icon.pixmap(QSize(32, 32), 1, mode, state).toImage().convertToFormat(QImage::Format_ARGB32));
      };
      QCOMPARE(colours(QIcon::Normal, QIcon::Off), std::set<QRgb>{t.second.rgb()});
      QCOMPARE(colours(QIcon::Normal, QIcon::On), std::set<QRgb>{t.accent.rgb()});
      QCOMPARE(colours(QIcon::Disabled, QIcon::Off), std::set<QRgb>{t.third.rgb()});
    }
  }
};

FOVEA_TEST(IconsTest)

#include "icons_test.moc"
