// The colours of precision as numbers, for the window (ui/theme/tier_colours.h) and the terminal: a number of
// bits for each weight has one colour everywhere.
#pragma once

#include <cstdint>

namespace fovea::ui {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
};

// What one calls so many bits for each weight, scales included: 8.5 are 8, 2.06 are 2.
int whole_bits(double bits_per_weight);
Rgb precision_rgb(double bits_per_weight);
inline constexpr Rgb host_rgb{0xB0, 0x56, 0x8F};  // what the processor computes in main memory
inline constexpr double disk_share = 0.14;        // of the text's colour: what is on disk alone
inline constexpr double cold_opacity = 0.3;       // of an expert that nobody uses; the hottest has 1

Rgb mixed(Rgb a, Rgb b, double share_of_b);

}  // namespace fovea::ui
