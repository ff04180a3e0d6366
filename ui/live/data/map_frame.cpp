#include "ui/live/data/map_frame.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fovea::ui {
namespace {

constexpr double octaves_per_step = 24.0 / 254;
constexpr double lowest_octave = -20;

std::vector<std::uint8_t> make_codes() {
  std::vector<std::uint8_t> codes(0x7F80);  // up to infinity
  for (std::uint32_t i = 0; i < codes.size(); ++i) {
    const double hotness = static_cast<double>(std::bit_cast<float>(i << 16));
    const double step = hotness > 0 ? (std::log2(hotness) - lowest_octave) / octaves_per_step : 0;
    codes[i] = static_cast<std::uint8_t>(std::clamp(std::lround(step), 0L, 254L) + 1);
  }
  return codes;
}

}  // namespace

HotnessCodes::HotnessCodes() {
  static const std::vector<std::uint8_t> codes = make_codes();
  codes_ = codes;
}

std::uint8_t hotness_code(float hotness) {
  return HotnessCodes()(hotness);
}

float hotness_of(std::uint8_t code) {
  return code == 0 ? 0.0F : static_cast<float>(std::exp2(lowest_octave + (code - 1) * octaves_per_step));
}

}  // namespace fovea::ui
