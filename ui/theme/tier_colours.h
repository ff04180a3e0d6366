// Colours of precision: a number of bits for each weight has one colour, in every store, part and theme, from
// dark blue over grey to light yellow, which is an order for every kind of colour sight. How hot an expert is
// is the colour's strength: its opacity on what is behind it.
#pragma once

#include <QColor>
#include <QPalette>
#include <cstddef>
#include <span>
#include <vector>

namespace fovea::ui {

bool is_dark(const QPalette& palette);

QColor precision_colour(double bits_per_weight);

// Of a place among tiers with so many bits: behind them stand what is on disk alone, nearly as what is behind
// it, and what the processor computes in main memory, in a hue of its own.
QColor tier_solid(std::size_t place, std::span<const double> bits, const QPalette& palette);
// strength 0 (cold) … 1 (hot): an opacity from 30 to 100 %.
QColor tier_colour(std::size_t place, std::span<const double> bits, double strength, const QPalette& palette);
// The strengths from 0 to 1 in `steps` steps.
std::vector<QRgb> tier_ramp(std::size_t place, std::span<const double> bits, const QPalette& palette,
                            std::size_t steps);
// Of an outline that keeps a colour from vanishing in what is behind it; where that is not needed, the
// colour.
QRgb keeping_edge(QRgb colour, const QPalette& palette);

// Whether the tier's texture darkens this pixel: tier 0 is plain, the others have lines and dots of their
// own. Repeats every tier_texture_period pixels both ways.
inline constexpr int tier_texture_period = 4;
bool tier_texture(std::size_t tier, int x, int y);

QColor alarm_colour(const QPalette& palette);
QColor good_colour(const QPalette& palette);

}  // namespace fovea::ui
