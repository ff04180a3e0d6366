#include "ui/formulas/math_fonts.h"

#include <QImage>
#include <QPainter>

#include "tests/support/test.h"
#include "ui/formulas/math_paint.h"
#include "ui/mathematics/layout.h"

using namespace fovea::ui;

namespace {

// With the font that the desktop has for mathematics, and without one.
void fonts_data() {
  QTest::addColumn<QString>("family");
  QTest::newRow("the desktop's") << MathFonts(QFont()).family();
  QTest::newRow("none") << QString();
}

QImage painted(const MathFonts& fonts, const QString& tex, qreal scale, const QColor& ink = Qt::black) {
  const std::optional<MathNode> tree = parse_math(tex);
  QImage image(400, 200, QImage::Format_RGB32);
  image.fill(Qt::white);
  if (!tree) return image;
  const MathBox box = lay_out_math(*tree, fonts, fonts.size(), true);
  QPainter painter(&image);
  paint_math(painter, box, 0, box.inks.size(), fonts, {20, 100}, scale, {ink, Qt::red});
  return image;
}

QRect inked(const QImage& image) {
  QRect out;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (image.pixelColor(x, y).lightness() < 200) out |= QRect(x, y, 1, 1);
    }
  }
  return out;
}

}  // namespace

class MathFontsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lettersHaveTheirSizes_data() { fonts_data(); }
  void lettersHaveTheirSizes() {
    QFETCH(QString, family);
    const MathFonts fonts(QFont(), family);
    const MathExtents x = fonts.measure(QStringLiteral("x"), MathFace::italic, 40);
    const MathExtents large = fonts.measure(QStringLiteral("x"), MathFace::italic, 80);
    QVERIFY(x.width > 0 && x.ascent > 0);
    QVERIFY(qAbs(large.width - 2 * x.width) < 2);
    QVERIFY(qAbs(large.ascent - 2 * x.ascent) < 2);
    const MathExtents p = fonts.measure(QStringLiteral("p"), MathFace::upright, 40);
    QVERIFY(p.descent > 4);
    QVERIFY(fonts.measure(QStringLiteral("H"), MathFace::upright, 40).ascent > x.ascent);
    // The minus floats: its ink ends above the baseline.
    QVERIFY(fonts.measure(QStringLiteral("−"), MathFace::upright, 40).descent < -4);
    // A space at an end counts.
    QVERIFY(fonts.measure(QStringLiteral("if "), MathFace::text, 40).width >
            fonts.measure(QStringLiteral("if"), MathFace::text, 40).width + 4);
  }

  void inkIsWhereTheBoxSays_data() { fonts_data(); }
  void inkIsWhereTheBoxSays() {
    QFETCH(QString, family);
    const MathFonts fonts(QFont(), family);
    for (const char* tex :
         {"x", "\\frac{a}{b}", "\\sqrt{\\frac{a}{b}}", "\\sum_{i=1}^n x_i",
          "\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}", "\\left\\{ \\frac{a}{b} \\right.",
          "\\overline{AB}", "\\vec{v}", "\\underbrace{a+b}_n"}) {
      const MathBox box = lay_out_math(*parse_math(QString::fromUtf8(tex)), fonts, fonts.size(), true);
      const QRect ink = inked(painted(fonts, QString::fromUtf8(tex), 1));
      QVERIFY2(!ink.isEmpty(), tex);
      QVERIFY2(ink.left() >= 20 - 3 && ink.right() <= 20 + box.width + 3, tex);
      QVERIFY2(ink.top() >= 100 - box.ascent - 3 && ink.bottom() <= 100 + box.descent + 3, tex);
      QVERIFY2(ink.height() >= 0.7 * box.height() - 3, tex);
    }
  }

  void facesDiffer_data() { fonts_data(); }
  void facesDiffer() {
    QFETCH(QString, family);
    const MathFonts fonts(QFont(), family);
    const QImage plain = painted(fonts, QStringLiteral("R"), 3);
    for (const char* tex : {"\\mathrm{R}", "\\mathbf{R}", "\\mathbb{R}", "\\mathcal{R}"}) {
      QVERIFY2(painted(fonts, QString::fromUtf8(tex), 3) != plain, tex);
    }
  }

  void coloursAreTheirs() {
    const MathFonts fonts{QFont()};
    QVERIFY(painted(fonts, QStringLiteral("\\frac{a}{b}"), 1, Qt::blue) !=
            painted(fonts, QStringLiteral("\\frac{a}{b}"), 1));
    const QImage unknown = painted(fonts, QStringLiteral("\\foo"), 1, Qt::white);
    QVERIFY(unknown != painted(fonts, QString(), 1));  // muted, so it is not white
  }

  void theyAreMadeOnce() {
    QFont large;
    large.setPointSizeF(30);
    QCOMPARE(math_fonts(QFont()).get(), math_fonts(QFont()).get());
    QVERIFY(math_fonts(large) != math_fonts(QFont()));
    QVERIFY(math_fonts(large)->size() > math_fonts(QFont())->size());
  }
};
FOVEA_TEST(MathFontsTest)

#include "math_fonts_test.moc"
