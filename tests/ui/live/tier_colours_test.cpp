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

}  // namespace

class TierColoursTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 0.02 in OKLab is about the least difference that is seen at once.
  void tiersStayApart_data() {
    QTest::addColumn<int>("tiers");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<double>("least");
    for (const bool dark : {false, true}) {
      const char* const name = dark ? "dark" : "light";
      QTest::addRow("two, %s", name) << 2 << dark << 0.06;
      QTest::addRow("three, %s", name) << 3 << dark << 0.02;
      QTest::addRow("four, %s", name) << 4 << dark << 0.012;
    }
  }
  void tiersStayApart() {
    QFETCH(int, tiers);
    QFETCH(bool, dark);
    QFETCH(double, least);
    for (const Matrix& eye : {typical, protanopia, deuteranopia, tritanopia}) {
      for (double strength = 0; strength <= 1; strength += 0.125) {
        for (int a = 0; a < tiers; ++a) {
          for (int b = a + 1; b < tiers + 2; ++b) {
            if (b == tiers) continue;  // on disk: grey; behind it what the processor computes
            const auto n = static_cast<std::size_t>(tiers);
            const double apart =
                distance(seen(tier_colour(static_cast<std::size_t>(a), n, strength, dark), eye),
                         seen(tier_colour(static_cast<std::size_t>(b), n, strength, dark), eye));
            // One hue more than the tiers, beside its own texture and word.
            QVERIFY2(apart >= (b < tiers ? least : 0.012),
                     qPrintable(
                         QStringLiteral("tiers %1 and %2 at %3: %4").arg(a).arg(b).arg(strength).arg(apart)));
          }
        }
      }
    }
  }

  // Equal steps of strength are equal steps of lightness, up on a dark ground and down on a light one.
  void strengthIsEven_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
  }
  void strengthIsEven() {
    QFETCH(bool, dark);
    for (std::size_t tiers = 2; tiers <= 4; ++tiers) {
      for (std::size_t tier = 0; tier <= tiers; ++tier) {
        const auto ramp = tier_ramp(tier, tiers, dark, 9);
        const double whole = seen(QColor(ramp[8]), typical)[0] - seen(QColor(ramp[0]), typical)[0];
        QVERIFY((whole > 0.3) == dark && std::abs(whole) > 0.3);
        for (std::size_t step = 1; step < ramp.size(); ++step) {
          const double part = seen(QColor(ramp[step]), typical)[0] - seen(QColor(ramp[step - 1]), typical)[0];
          QVERIFY(std::abs(part / whole - 0.125) < 0.02);
        }
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
