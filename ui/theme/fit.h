// How well a model fits, and how that looks: a mark that needs no colour vision, and a colour.
#pragma once

#include <QColor>
#include <QPalette>
#include <optional>

#include "ui/theme/icons.h"

namespace fovea::ui {

// From the best to the worst.
enum class FitView { unknown, fits, lower_precision, experts_elsewhere, does_not_fit };

std::optional<Glyph> fit_glyph(FitView fit);  // none: not known
QColor fit_colour(FitView fit, const QPalette& palette);

}  // namespace fovea::ui
