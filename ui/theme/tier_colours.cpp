#include "ui/theme/tier_colours.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ui/theme/scale/precision_scale.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

// Steps of grey, of 255; on a dark ground fewer are seen.
constexpr int kVanishesOnLight = 26, kVanishesOnDark = 10;
constexpr double kEdge = 0.28;  // of the text's colour

QColor colour_of(Rgb rgb) {
  return {rgb.red, rgb.green, rgb.blue};
}
Rgb rgb_of(const QColor& colour) {
  return {static_cast<std::uint8_t>(colour.red()), static_cast<std::uint8_t>(colour.green()),
          static_cast<std::uint8_t>(colour.blue())};
}

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  return colour_of(mixed(rgb_of(a), rgb_of(b), share_of_b));
}

struct Linear {
  double r, g, b;
  bool in_gamut() const {
    const auto good = [](double c) { return c >= -1e-4 && c <= 1 + 1e-4; };
    return good(r) && good(g) && good(b);
  }
};

// Björn Ottosson's OKLab, to linear sRGB.
Linear from_oklch(double lightness, double chroma, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

float encoded(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  return static_cast<float>(c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055);
}

// The nearest colour of that lightness and hue that a screen can show.
QColor screen_colour(double lightness, double chroma, double degrees) {
  Linear colour = from_oklch(lightness, chroma, degrees);
  while (!colour.in_gamut() && chroma > 0.002) {
    chroma *= 0.96;
    colour = from_oklch(lightness, chroma, degrees);
  }
  return QColor::fromRgbF(encoded(colour.r), encoded(colour.g), encoded(colour.b));
}

}  // namespace

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

QColor precision_colour(double bits) {
  return colour_of(precision_rgb(bits));
}

QColor tier_solid(std::size_t place, std::span<const double> bits, const QPalette& palette) {
  if (place < bits.size()) return precision_colour(bits[place]);
  if (place > bits.size()) return colour_of(host_rgb);
  return mixed(palette.color(QPalette::Base), palette.color(QPalette::Text), disk_share);
}

QColor tier_colour(std::size_t place, std::span<const double> bits, double strength,
                   const QPalette& palette) {
  return mixed(palette.color(QPalette::Base), tier_solid(place, bits, palette),
               std::lerp(cold_opacity, 1.0, std::clamp(strength, 0.0, 1.0)));
}

std::vector<QRgb> tier_ramp(std::size_t place, std::span<const double> bits, const QPalette& palette,
                            std::size_t steps) {
  std::vector<QRgb> ramp(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const double strength = steps > 1 ? static_cast<double>(i) / static_cast<double>(steps - 1) : 1;
    ramp[i] = tier_colour(place, bits, strength, palette).rgb();
  }
  return ramp;
}

QRgb keeping_edge(QRgb colour, const QPalette& palette) {
  const QColor ground = palette.color(QPalette::Base);
  const int behind = qGray(ground.rgb());
  if (std::abs(qGray(colour) - behind) >= (behind < 128 ? kVanishesOnDark : kVanishesOnLight)) return colour;
  return mixed(ground, palette.color(QPalette::Text), kEdge).rgb();
}

bool tier_texture(std::size_t tier, int x, int y) {
  switch (tier) {
    case 0:
      return false;
    case 1:
      return (x + y) % tier_texture_period == 0;
    case 2:
      return x % 2 == 0 && y % 2 == 0;
    case 3:
      return x % tier_texture_period == 0;
    case 4:
      return y % tier_texture_period == 0;
    default:
      return (x + 2 * y) % tier_texture_period != 0;
  }
}

QColor alarm_colour(const QPalette& palette) {
  return is_dark(palette) ? screen_colour(0.72, 0.17, 25) : screen_colour(0.53, 0.19, 25);
}

QColor good_colour(const QPalette& palette) {
  return tones(palette).good;
}

}  // namespace fovea::ui
