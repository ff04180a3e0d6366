#include "ui/formulas/math_paint.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/formulas/math_shapes.h"

namespace fovea::ui {
namespace {

// On whole pixels of the device, so that thin lines are sharp.
QRectF on_pixels(const QPainter& painter, const QRectF& area) {
  const QTransform device = painter.deviceTransform();
  if (device.type() > QTransform::TxScale) return area;
  const QRectF there = device.mapRect(area);
  QRectF sharp = there;
  if (there.height() <= there.width()) {
    const qreal thick = std::max(1.0, std::round(there.height()));
    sharp.setTop(std::round(there.center().y() - thick / 2));
    sharp.setHeight(thick);
  } else {
    const qreal thick = std::max(1.0, std::round(there.width()));
    sharp.setLeft(std::round(there.center().x() - thick / 2));
    sharp.setWidth(thick);
  }
  return device.inverted().mapRect(sharp);
}

void paint_ink(QPainter& painter, const MathInk& ink, const MathFonts& fonts, const QColor& colour) {
  switch (ink.kind) {
    case MathInk::Kind::text:
      painter.setPen(colour);
      for (const QGlyphRun& run : fonts.glyphs(ink.text, ink.face, ink.size)) {
        painter.drawGlyphRun(ink.area.topLeft(), run);
      }
      break;
    case MathInk::Kind::rule:
      painter.fillRect(on_pixels(painter, ink.area), colour);
      break;
    case MathInk::Kind::frame:
      painter.setPen(QPen(colour, ink.thickness));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(ink.area);
      break;
    case MathInk::Kind::delimiter:
      for (const QRectF& rule : delimiter_rules(ink.text, ink.area, ink.thickness)) {
        painter.fillRect(on_pixels(painter, rule), colour);
      }
      painter.fillPath(delimiter_shape(ink.text, ink.area, ink.thickness), colour);
      break;
    case MathInk::Kind::radical:
      painter.fillPath(radical_shape(ink.area, ink.split, ink.thickness), colour);
      painter.fillRect(
          on_pixels(painter, QRectF(ink.area.left() + ink.split - ink.thickness / 2, ink.area.top(),
                                    ink.area.width() - ink.split, ink.thickness)),
          colour);
      break;
    case MathInk::Kind::mark:
      if (ink.mark == MathMark::bar || ink.mark == MathMark::under_line) {
        painter.fillRect(on_pixels(painter, ink.area), colour);
      } else {
        painter.fillPath(mark_shape(ink.mark, ink.area, ink.thickness), colour);
      }
      break;
    case MathInk::Kind::arrow:
      painter.fillPath(arrow_shape(ink.text, ink.area, ink.thickness), colour);
      break;
    case MathInk::Kind::strike:
      painter.fillPath(strike_shape(ink.area, ink.thickness), colour);
      break;
  }
}

}  // namespace

void paint_math(QPainter& painter, const MathBox& box, std::size_t first, std::size_t last,
                const MathFonts& fonts, QPointF origin, qreal scale, const MathColours& colours) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(origin);
  painter.scale(scale, scale);
  for (std::size_t i = first; i < std::min(last, box.inks.size()); ++i) {
    paint_ink(painter, box.inks[i], fonts, box.inks[i].muted ? colours.muted : colours.ink);
  }
  painter.restore();
}

}  // namespace fovea::ui
