#include "ui/theme/scale/precision_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace fovea::ui {
namespace {

struct Anchor {
  double bits;
  Rgb colour;
};
constexpr std::array<Anchor, 6> anchors{{{2, {0x2E, 0x44, 0x74}},
                                         {3, {0x56, 0x60, 0x79}},
                                         {4, {0x85, 0x83, 0x77}},
                                         {6, {0xB9, 0xA7, 0x60}},
                                         {8, {0xE9, 0xC9, 0x3F}},
                                         {16, {0xFF, 0xF0, 0xA6}}}};

}  // namespace

int whole_bits(double bits) {
  return static_cast<int>(std::floor(std::clamp(bits, 0.0, 64.0) + 0.25));
}

Rgb mixed(Rgb a, Rgb b, double share_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<std::uint8_t>(std::lround(std::lerp(x, y, share_of_b)));
  };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

Rgb precision_rgb(double bits) {
  const auto above = std::ranges::find_if(anchors, [bits](const Anchor& each) { return each.bits >= bits; });
  if (above == anchors.begin()) return above->colour;
  const Anchor& below = *std::prev(above);
  if (above == anchors.end()) return below.colour;
  return mixed(below.colour, above->colour, (bits - below.bits) / (above->bits - below.bits));
}

}  // namespace fovea::ui
