// Small charts that the panel's sections are made of.
#pragma once

#include <QColor>
#include <QPainter>
#include <QPalette>
#include <QRectF>
#include <QString>
#include <span>

namespace fovea::ui {

struct StripStyle {
  QColor up;
  QColor down;       // of values drawn below the line
  double limit = 0;  // a dashed line; 0: none
  double full = 0;   // value of the whole height; 0: the largest, or the limit when it is near
};

// What bars and lines stand on.
QColor chart_ground(const QPalette& palette);

// Values over time as steps, `down` mirrored below the base line when there are any.
void paint_strip(QPainter& painter, const QRectF& rect, std::span<const double> up,
                 std::span<const double> down, const StripStyle& style, const QPalette& palette);

// "Title" on the left in a subtle colour, "value" on the right; the title gives way.
void paint_caption(QPainter& painter, const QRectF& rect, const QString& title, const QString& value,
                   const QPalette& palette);

}  // namespace fovea::ui
