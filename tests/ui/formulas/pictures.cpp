// Draws all formulas of tests/ui/mathematics/formulas.txt, displayed and within a line, to be looked at:
//   QT_QPA_PLATFORM=offscreen fovea_formula_pictures FOLDER dark|light [SCALE [FONT FOR MATHEMATICS, or ""]]
#include <QApplication>
#include <QDir>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/ui/mathematics/formulas.h"
#include "ui/formulas/math_paint.h"
#include "ui/mathematics/layout.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

using namespace fovea::ui;

namespace {

constexpr int kWidth = 1000, kHeight = 1250;
constexpr qreal kMiddle = 520, kAir = 14;

struct Sheet {
  QImage image;
  qreal y = kAir;
};

Sheet sheet(const QPalette& palette, qreal scale) {
  QImage image(QSize(kWidth, kHeight) * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(palette.color(QPalette::Base));
  return {image};
}

void draw_all(const QString& folder, const QString& end, qreal scale, const QString& family) {
  const QPalette palette = QApplication::palette();
  const QFont text = type_of(QApplication::font(), Type::text);
  const MathFonts fonts = family.isNull() ? MathFonts(text) : MathFonts(text, family);
  const MathColours colours{palette.color(QPalette::Text), subtle_text(palette)};
  std::printf("%s at %g pixels\n", qPrintable(fonts.family()), fonts.size());
  Sheet page = sheet(palette, scale);
  int number = 1;
  const auto save = [&] {
    page.image.save(folder +
                    QStringLiteral("/formulas_%1%2.png").arg(number++, 2, 10, QLatin1Char('0')).arg(end));
    page = sheet(palette, scale);
  };
  for (const QString& tex : fovea::tests::sample_formulas()) {
    const std::optional<MathNode> tree = parse_math(tex);
    if (!tree) std::printf("not a formula: %s\n", qPrintable(tex));
    const MathNode shown = tree.value_or(MathNode{});
    const MathBox display = lay_out_math(shown, fonts, fonts.size(), true);
    const MathBox line = lay_out_math(shown, fonts, fonts.size(), false);
    const qreal above = std::max({display.ascent, line.ascent, fonts.size()});
    const qreal below = std::max({display.descent, line.descent, 0.3 * fonts.size()});
    if (page.y + above + below + kAir > kHeight) save();
    QPainter painter(&page.image);
    const qreal baseline = std::round(page.y + above);
    paint_math(painter, display, 0, display.inks.size(), fonts, {kAir, baseline},
               std::min(1.0, (kMiddle - 2 * kAir) / std::max(1.0, display.width)), colours);
    painter.setFont(text);
    painter.setPen(colours.ink);
    painter.drawText(QPointF(kMiddle, baseline), QStringLiteral("so "));
    paint_math(painter, line, 0, line.inks.size(), fonts, {kMiddle + 26, baseline},
               std::min(1.0, (kWidth - kMiddle - 26 - kAir) / std::max(1.0, line.width)), colours);
    page.y = baseline + below + kAir;
  }
  save();
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 3) {
    std::fputs("usage: fovea_formula_pictures FOLDER dark|light [SCALE [FONT FOR MATHEMATICS]]\n", stderr);
    return 2;
  }
  const QString folder = QString::fromLocal8Bit(argv[1]);
  const bool dark = QByteArray(argv[2]) == "dark";
  QDir().mkpath(folder);
  apply_theme(application, dark ? Scheme::dark : Scheme::light);
  const double scale = argc > 3 ? std::clamp(QByteArray(argv[3]).toDouble(), 1.0, 4.0) : 1.0;
  draw_all(folder, QStringLiteral("_%1").arg(QString::fromLocal8Bit(argv[2])), scale,
           argc > 4 ? QString::fromLocal8Bit(argv[4]) : QString());
  return 0;
}
