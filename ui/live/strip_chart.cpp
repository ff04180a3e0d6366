#include "ui/live/strip_chart.h"

#include <algorithm>

#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

// The top of an axis: the largest value, rounded up to 1, 2 or 5 of a power of ten.
double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}

// Rectangles along whole pixels: as a path that is antialiased they would take ten times as long.
void paint_steps(QPainter& painter, const QRectF& rect, std::span<const double> values, double full,
                 double base, double height, const QColor& colour) {
  const double width = rect.width() / static_cast<double>(values.size());
  QColor fill = colour;
  fill.setAlphaF(0.55F);
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[i]) ++end;
    const double x = rect.left() + static_cast<double>(i) * width;
    const double tall = height * std::min(1.0, values[i] / full);
    if (tall != 0) {
      const QRectF step =
          QRectF(QPointF(x, base), QSizeF(static_cast<double>(end - i) * width, -tall)).normalized();
      painter.fillRect(step, fill);
      painter.fillRect(QRectF(x, tall > 0 ? step.top() : step.bottom() - 1, step.width(), 1), colour);
    }
    i = end;
  }
}

}  // namespace

QColor chart_ground(const QPalette& palette) {
  QColor ground = palette.color(QPalette::WindowText);
  ground.setAlphaF(is_dark(palette) ? 0.10F : 0.08F);
  return ground;
}

void paint_strip(QPainter& painter, const QRectF& rect, std::span<const double> up,
                 std::span<const double> down, const StripStyle& style, const QPalette& palette) {
  if (up.empty()) return;
  double largest = *std::ranges::max_element(up);
  if (!down.empty()) largest = std::max(largest, *std::ranges::max_element(down));
  double full = style.full > 0 ? style.full : round_up(largest);
  // The limit is shown when the values come near it, or it would flatten them.
  const bool limit_shown = style.limit > 0 && (largest >= 0.2 * style.limit || style.full > 0);
  if (limit_shown && style.full == 0) full = std::max(full, 1.1 * style.limit);
  const bool both = !down.empty();
  const double base = both ? rect.center().y() : rect.bottom() - 0.5;
  const double height = both ? rect.height() / 2 : rect.height();
  painter.save();
  painter.setPen(QPen(hairline(palette), 1));
  for (int quarter = 1; quarter < 4; ++quarter) {
    const double x = rect.left() + rect.width() * quarter / 4;
    painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()));
  }
  if (largest > 0) {
    paint_steps(painter, rect, up, full, base, height, style.up);
    if (both) paint_steps(painter, rect, down, full, base, -height, style.down);
  }
  painter.setPen(QPen(hairline(palette), 1));
  painter.drawLine(QPointF(rect.left(), base), QPointF(rect.right(), base));
  if (limit_shown) {
    painter.setPen(QPen(alarm_colour(palette), 1, Qt::DashLine));
    const double y = base - height * std::min(1.0, style.limit / full);
    painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y));
  }
  painter.restore();
}

void paint_caption(QPainter& painter, const QRectF& rect, const QString& title, const QString& value,
                   const QPalette& palette) {
  const QFontMetricsF metrics(painter.font());
  const double taken = metrics.horizontalAdvance(value) + metrics.averageCharWidth() * 1.5;
  painter.setPen(palette.color(QPalette::WindowText));
  painter.drawText(rect, Qt::AlignRight | Qt::AlignVCenter, value);
  painter.setPen(subtle_text(palette));
  const double room = std::max(0.0, rect.width() - taken);
  painter.drawText(QRectF(rect.left(), rect.top(), room, rect.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(title, Qt::ElideRight, room));
}

}  // namespace fovea::ui
