// Formulas on paper.
#pragma once

#include <QColor>
#include <QPointF>
#include <cstddef>

#include "ui/formulas/math_fonts.h"
#include "ui/mathematics/box.h"

class QPainter;

namespace fovea::ui {

struct MathColours {
  QColor ink;
  QColor muted;  // of what is shown as its source
};

// Of a box only the inks [first, last), with the left end of its baseline at `origin`.
void paint_math(QPainter& painter, const MathBox& box, std::size_t first, std::size_t last,
                const MathFonts& fonts, QPointF origin, qreal scale, const MathColours& colours);

}  // namespace fovea::ui
