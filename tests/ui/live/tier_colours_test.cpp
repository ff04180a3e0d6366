#include "ui/theme/tier_colours.h"

#include <array>
#include <cmath>

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

using Vector = std::array<double, 3>;

double linear(double c) {
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Vector oklab(const Vector& c) {
  const double l = std::cbrt(0.4122214708 * c[0] + 0.5363325363 * c[1] + 0.0514459929 * c[2]);
  const double m = std::cbrt(0.2119034982 * c[0] + 0.6806995451 * c[1] + 0.1073969566 * c[2]);
  const double s = std::cbrt(0.0883024619 * c[0] + 0.2817188376 * c[1] + 0.6299787005 * c[2]);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

// How a viewer without one kind of cone sees linear sRGB (Machado, Oliveira and Fernandes 2009, full
// severity).
using Matrix = std::array<Vector, 3>;
constexpr Matrix typical = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix protanopia = {
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deuteranopia = {
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritanopia = {
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};

Vector seen(const QColor& colour, const Matrix& eye) {
  const Vector in = {linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())};
  Vector out{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) out[row] += eye[row][column] * in[column];
    out[row] = std::clamp(out[row], 0.0, 1.0);
  }
  return oklab(out);
}

double distance(const Vector& a, const Vector& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

using Bits = std::vector<double>;

QPalette ground(bool dark) {
  QPalette palette;
  palette.setColor(QPalette::Base, dark ? QColor(0x1A, 0x1D, 0x21) : QColor(Qt::white));
  palette.setColor(QPalette::Text, dark ? QColor(0xEC, 0xEE, 0xF0) : QColor(0x16, 0x18, 0x1B));
  return palette;
}

}  // namespace

class TierColoursTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The same number of bits, the same colour, whatever else the store holds and whatever is behind it.
  void bitsHaveOneColour_data() {
    QTest::addColumn<double>("bits");
    QTest::addColumn<QColor>("colour");
    QTest::newRow("less than 2") << 1.5 << QColor(0x2E, 0x44, 0x74);
    QTest::newRow("2") << 2.0 << QColor(0x2E, 0x44, 0x74);
    QTest::newRow("3") << 3.0 << QColor(0x56, 0x60, 0x79);
    QTest::newRow("4") << 4.0 << QColor(0x85, 0x83, 0x77);
    QTest::newRow("6") << 6.0 << QColor(0xB9, 0xA7, 0x60);
    QTest::newRow("8") << 8.0 << QColor(0xE9, 0xC9, 0x3F);
    QTest::newRow("16") << 16.0 << QColor(0xFF, 0xF0, 0xA6);
    QTest::newRow("more than 16") << 32.0 << QColor(0xFF, 0xF0, 0xA6);
    QTest::newRow("half of the way from 4 to 6") << 5.0 << QColor(0x9F, 0x95, 0x6C);
    QTest::newRow("a quarter of the way from 8 to 16") << 10.0 << QColor(0xEF, 0xD3, 0x59);
  }
  void bitsHaveOneColour() {
    QFETCH(double, bits);
    QFETCH(QColor, colour);
    const auto near = [&](const QColor& found) {
      return std::abs(found.red() - colour.red()) <= 1 && std::abs(found.green() - colour.green()) <= 1 &&
             std::abs(found.blue() - colour.blue()) <= 1;
    };
    QVERIFY(near(precision_colour(bits)));
    for (const bool dark : {false, true}) {
      const QPalette palette = ground(dark);
      QVERIFY(near(tier_solid(0, Bits{bits, 2.25}, palette)));
      QVERIFY(near(tier_solid(2, Bits{16, 9, bits}, palette)));
      QVERIFY(near(tier_colour(1, Bits{16, bits}, 1, palette)));
    }
  }

  // More bits are lighter, by steps that are seen (0.02 in OKLab is about the least), also without one kind
  // of cone; what has no tier of its own is told from all of them.
  void precisionIsAnOrderForEveryEye() {
    const Bits bits{16, 8, 6, 4, 3, 2};
    for (const Matrix& eye : {typical, protanopia, deuteranopia, tritanopia}) {
      for (std::size_t tier = 0; tier + 1 < bits.size(); ++tier) {
        const Vector more = seen(precision_colour(bits[tier]), eye),
                     less = seen(precision_colour(bits[tier + 1]), eye);
        QVERIFY(more[0] > less[0] + 0.04);
        QVERIFY(distance(more, less) > 0.06);
      }
      for (const bool dark : {false, true}) {
        for (const std::size_t apart : {bits.size(), bits.size() + 1}) {
          for (std::size_t other = 0; other < bits.size() + 2; ++other) {
            if (other == apart) continue;
            const double difference = distance(seen(tier_solid(apart, bits, ground(dark)), eye),
                                               seen(tier_solid(other, bits, ground(dark)), eye));
            QVERIFY2(difference > 0.03,
                     qPrintable(QStringLiteral("%1 and %2: %3").arg(apart).arg(other).arg(difference)));
          }
        }
      }
    }
  }

  // From 30 to 100 % of the colour on what is behind it.
  void strengthIsOpacity() {
    const Bits bits{8, 2};
    for (const bool dark : {false, true}) {
      const QPalette palette = ground(dark);
      const QColor behind = palette.color(QPalette::Base), solid = tier_solid(1, bits, palette);
      const auto ramp = tier_ramp(1, bits, palette, 8);
      for (std::size_t step = 0; step < ramp.size(); ++step) {
        const double opacity = 0.3 + 0.1 * static_cast<double>(step);
        const double red = behind.red() + opacity * (solid.red() - behind.red());
        QVERIFY(std::abs(qRed(ramp[step]) - red) <= 0.51);
      }
    }
  }

  void texturesDiffer() {
    std::vector<unsigned> patterns;
    for (std::size_t tier = 0; tier <= 5; ++tier) {
      unsigned pattern = 0;
      for (int i = 0; i < tier_texture_period * tier_texture_period; ++i)
        pattern = pattern << 1 | tier_texture(tier, i % tier_texture_period, i / tier_texture_period);
      QVERIFY(std::ranges::find(patterns, pattern) == patterns.end());
      patterns.push_back(pattern);
    }
  }
};

FOVEA_TEST(TierColoursTest)
#include "tier_colours_test.moc"
