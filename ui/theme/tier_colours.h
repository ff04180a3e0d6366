// Colours of tiers: the hue says which tier, the strength how hot. Even steps to the eye (OKLCH), in hues
// that stay apart with the common kinds of colour blindness.
#pragma once

#include <QColor>
#include <QPalette>
#include <cstddef>
#include <vector>

namespace fovea::ui {

bool is_dark(const QPalette& palette);

// Tier 0 of `tiers` is the highest. strength 0 (cold) … 1 (hot): brighter on a dark background, deeper on a
// light one. Beyond them, `tiers` itself is on disk: grey; tiers + 1 is computed by the processor in main
// memory: a hue of its own.
QColor tier_colour(std::size_t tier, std::size_t tiers, double strength, bool dark);
// For bars, lines and legends.
QColor tier_solid(std::size_t tier, std::size_t tiers, bool dark);
// The strengths from 0 to 1 in `steps` steps.
std::vector<QRgb> tier_ramp(std::size_t tier, std::size_t tiers, bool dark, std::size_t steps);

// Whether the tier's texture darkens this pixel: tier 0 is plain, the others have lines and dots of their
// own. Repeats every tier_texture_period pixels both ways.
inline constexpr int tier_texture_period = 4;
bool tier_texture(std::size_t tier, int x, int y);

QColor alarm_colour(const QPalette& palette);
QColor good_colour(const QPalette& palette);

}  // namespace fovea::ui
