#include "ui/theme/tier_colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace fovea::ui {
namespace {

// OKLCH hues in degrees, from the highest tier to the lowest: warm to cool. Chosen by the least distance in
// OKLab under simulated protanopia, deuteranopia and tritanopia.
constexpr std::array<double, 2> kTwo{75, 255};
constexpr std::array<double, 3> kThree{80, 165, 268};
constexpr std::array<double, 4> kFour{85, 160, 250, 330};

struct Hue {
  double degrees;
  double chroma;  // 1: full
};

Hue hue_of(std::size_t tier, std::size_t tiers) {
  // Apart from all of them and from the grey.
  if (tier == tiers + 1) return tiers <= 2 ? Hue{145, 0.8} : tiers == 3 ? Hue{330, 1.0} : Hue{40, 0.8};
  if (tier >= tiers) return {260, 0.08};
  const std::span<const double> hues = tiers <= 2   ? std::span<const double>(kTwo)
                                       : tiers == 3 ? std::span<const double>(kThree)
                                                    : kFour;
  // More than four tiers begin again, paler.
  return {hues[tier % hues.size()], tier < hues.size() ? 1.0 : 0.45};
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

QColor tier_colour(std::size_t tier, std::size_t tiers, double strength, bool dark) {
  const Hue hue = hue_of(tier, tiers);
  const double s = std::clamp(strength, 0.0, 1.0);
  // Cold cells keep enough colour to tell their tier.
  const double lightness = dark ? std::lerp(0.285, 0.86, s) : std::lerp(0.905, 0.50, s);
  const double chroma = dark ? std::lerp(0.050, 0.155, s) : std::lerp(0.056, 0.160, s);
  return screen_colour(lightness, hue.chroma * chroma, hue.degrees);
}

QColor tier_solid(std::size_t tier, std::size_t tiers, bool dark) {
  return tier_colour(tier, tiers, dark ? 0.78 : 0.72, dark);
}

std::vector<QRgb> tier_ramp(std::size_t tier, std::size_t tiers, bool dark, std::size_t steps) {
  std::vector<QRgb> ramp(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const double strength = steps > 1 ? static_cast<double>(i) / static_cast<double>(steps - 1) : 1;
    ramp[i] = tier_colour(tier, tiers, strength, dark).rgb();
  }
  return ramp;
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
  return is_dark(palette) ? screen_colour(0.76, 0.12, 175) : screen_colour(0.50, 0.10, 180);
}

}  // namespace fovea::ui
