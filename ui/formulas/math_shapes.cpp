#include "ui/formulas/math_shapes.h"

#include <QTransform>
#include <algorithm>

namespace fovea::ui {
namespace {

QPainterPath stroked(const QPainterPath& path, qreal thickness, Qt::PenJoinStyle join = Qt::RoundJoin) {
  QPainterPathStroker stroker;
  stroker.setWidth(thickness);
  stroker.setCapStyle(Qt::RoundCap);
  stroker.setJoinStyle(join);
  return stroker.createStroke(path);
}

QPainterPath lines(std::initializer_list<QPointF> points) {
  QPainterPath path(*points.begin());
  for (const QPointF* point = points.begin() + 1; point != points.end(); ++point) path.lineTo(*point);
  return path;
}

QPainterPath mirrored(const QPainterPath& path, const QRectF& area) {
  return QTransform(-1, 0, 0, 1, area.left() + area.right(), 0).map(path);
}

// A crescent: thin at its ends, thick in the middle.
QPainterPath round_shape(const QRectF& area, qreal thickness) {
  const qreal end = area.left() + 0.86 * area.width(), bulge = area.left() - 0.05 * area.width();
  const qreal thick = 2.2 * thickness, thin = 0.5 * thickness;
  const auto y = [&area](qreal share) { return area.top() + share * area.height(); };
  QPainterPath path(QPointF(end - thin, y(0)));
  path.cubicTo({bulge, y(0.27)}, {bulge, y(0.73)}, {end - thin, y(1)});
  path.lineTo(end + thin, y(1));
  path.cubicTo({bulge + thick, y(0.73)}, {bulge + thick, y(0.27)}, {end + thin, y(0)});
  path.closeSubpath();
  return path;
}

// { with its point at the left middle.
QPainterPath brace_shape(const QRectF& area, qreal thickness) {
  const qreal middle = area.center().x(), half = area.height() / 2;
  const qreal turn = std::min(half * 0.45, area.width() * 0.8);
  QPainterPath path(QPointF(area.right() - thickness, area.top()));
  path.cubicTo({middle, area.top()}, {middle, area.top() + 0.25 * turn}, {middle, area.top() + turn});
  path.lineTo(middle, area.center().y() - turn);
  path.cubicTo({middle, area.center().y() - 0.25 * turn}, {middle, area.center().y()},
               {area.left() + thickness, area.center().y()});
  path.cubicTo({middle, area.center().y()}, {middle, area.center().y() + 0.25 * turn},
               {middle, area.center().y() + turn});
  path.lineTo(middle, area.bottom() - turn);
  path.cubicTo({middle, area.bottom() - 0.25 * turn}, {middle, area.bottom()},
               {area.right() - thickness, area.bottom()});
  return stroked(path, thickness * 1.2);
}

// [ with its feet where they are asked for.
QList<QRectF> square_rules(const QRectF& area, qreal thickness, bool above, bool below) {
  const qreal left = area.left() + 0.3 * area.width(), right = area.right() - 0.08 * area.width();
  QList<QRectF> out{{left, area.top(), thickness, area.height()}};
  if (above) out.append({left, area.top(), right - left, thickness});
  if (below) out.append({left, area.bottom() - thickness, right - left, thickness});
  return out;
}

QList<QRectF> double_square_rules(const QRectF& area, qreal thickness) {
  QList<QRectF> out = square_rules(area, thickness, true, true);
  out.append({area.left() + 0.3 * area.width() + 2.6 * thickness, area.top(), thickness, area.height()});
  return out;
}

QList<QRectF> bars(const QRectF& area, qreal thickness, int count) {
  QList<QRectF> out;
  for (int i = 0; i < count; ++i) {
    const qreal x = area.left() + area.width() * (i + 1) / (count + 1);
    out.append({x - thickness / 2, area.top(), thickness, area.height()});
  }
  return out;
}

QList<QRectF> mirrored(QList<QRectF> rules, const QRectF& area) {
  for (QRectF& rule : rules) rule.moveLeft(area.left() + area.right() - rule.right());
  return rules;
}

QPainterPath head(QPointF tip, qreal reach, int direction) {
  const qreal back = tip.x() - direction * reach * 0.9;
  QPainterPath path(QPointF(back, tip.y() - reach));
  path.quadTo({tip.x() - direction * reach * 0.25, tip.y() - reach * 0.12}, tip);
  path.quadTo({tip.x() - direction * reach * 0.25, tip.y() + reach * 0.12}, {back, tip.y() + reach});
  return path;
}

QPainterPath shaft(const QRectF& area, qreal thickness, bool left, bool right, bool twice) {
  const qreal inset = thickness / 2, y = area.center().y(), reach = area.height() / 2 - inset;
  const qreal gap = twice ? 1.6 * thickness : 0;
  QPainterPath path;
  for (const qreal side : {-1.0, 1.0}) {
    const qreal end = twice ? 2.2 * thickness : inset;
    path.addPath(lines({{area.left() + (left ? end : inset), y + side * gap},
                        {area.right() - (right ? end : inset), y + side * gap}}));
    if (!twice) break;
  }
  if (right) path.addPath(head({area.right() - inset, y}, reach, 1));
  if (left) path.addPath(head({area.left() + inset, y}, reach, -1));
  return stroked(path, thickness);
}

// ⏟ and ⏞: a brace on its side.
QPainterPath lying_brace(const QRectF& area, qreal thickness, bool over) {
  const QRectF standing(0, 0, area.height(), area.width());
  const QPainterPath brace = brace_shape(standing, thickness);
  // Its point, at the left, goes up over what it is over, and down under it.
  const QTransform turn = over ? QTransform(0, 1, 1, 0, area.left(), area.top())
                               : QTransform(0, -1, 1, 0, area.left(), area.bottom());
  return turn.map(brace);
}

QPainterPath tilde_shape(const QRectF& area, qreal thickness) {
  const auto at = [&area](qreal x, qreal y) {
    return QPointF(area.left() + x * area.width(), area.top() + y * area.height());
  };
  QPainterPath path(at(0, 0.85));
  path.cubicTo(at(0.2, -0.25), at(0.42, 0.1), at(0.5, 0.45));
  path.cubicTo(at(0.6, 0.95), at(0.82, 1.1), at(1, 0.1));
  return stroked(path, thickness * 1.2);
}

}  // namespace

QList<QRectF> delimiter_rules(const QString& text, const QRectF& area, qreal thickness) {
  const char16_t c = text.isEmpty() ? u'\0' : text[0].unicode();
  switch (c) {
    case u'[':
    case u'⌊':
    case u'⌈':
      return square_rules(area, thickness, c != u'⌊', c != u'⌈');
    case u']':
    case u'⌋':
    case u'⌉':
      return mirrored(square_rules(area, thickness, c != u'⌋', c != u'⌉'), area);
    case u'⟦':
      return double_square_rules(area, thickness);
    case u'⟧':
      return mirrored(double_square_rules(area, thickness), area);
    case u'|':
      return bars(area, thickness, 1);
    case u'‖':
      return bars(area, thickness, 2);
    default:
      return {};
  }
}

QPainterPath delimiter_shape(const QString& text, const QRectF& area, qreal thickness) {
  const char16_t c = text.isEmpty() ? u'\0' : text[0].unicode();
  switch (c) {
    case u'(':
      return round_shape(area, thickness);
    case u')':
      return mirrored(round_shape(area, thickness), area);
    case u'{':
      return brace_shape(area, thickness);
    case u'}':
      return mirrored(brace_shape(area, thickness), area);
    case u'⟨':
    case u'⟩': {
      const qreal far = area.right() - 0.15 * area.width(), near = area.left() + 0.15 * area.width();
      const QPainterPath angle =
          stroked(lines({{far, area.top()}, {near, area.center().y()}, {far, area.bottom()}}), thickness);
      return c == u'⟨' ? angle : mirrored(angle, area);
    }
    case u'/':
      return stroked(lines({area.bottomLeft(), area.topRight()}), thickness);
    case u'\\':
      return stroked(lines({area.topLeft(), area.bottomRight()}), thickness);
    default:
      return {};
  }
}

QPainterPath radical_shape(const QRectF& area, qreal split, qreal thickness) {
  // The hook keeps its height where the sign is high.
  const qreal hook = std::min(0.58 * area.height(), 1.15 * split);
  const qreal top = area.top() + thickness / 2, bottom = area.bottom() - 0.6 * thickness;
  const QPointF begin(area.left() + 0.06 * split, area.bottom() - hook + 0.1 * split);
  const QPointF shoulder(area.left() + 0.27 * split, area.bottom() - hook);
  const QPointF foot(area.left() + 0.56 * split, bottom);
  const QPointF corner(area.left() + split, top);
  QPainterPath path;
  path.setFillRule(Qt::WindingFill);
  path.addPath(stroked(lines({begin, shoulder}), thickness, Qt::MiterJoin));
  path.addPath(stroked(lines({shoulder, foot}), 2 * thickness, Qt::MiterJoin));
  path.addPath(stroked(lines({foot, corner}), thickness, Qt::MiterJoin));
  return path;
}

QPainterPath mark_shape(MathMark mark, const QRectF& area, qreal thickness) {
  const qreal middle = area.center().x();
  switch (mark) {
    case MathMark::hat:
      return stroked(lines({area.bottomLeft() + QPointF(0.1 * area.width(), 0),
                            {middle, area.top()},
                            area.bottomRight() - QPointF(0.1 * area.width(), 0)}),
                     thickness);
    case MathMark::check:
      return stroked(lines({area.topLeft() + QPointF(0.1 * area.width(), 0),
                            {middle, area.bottom()},
                            area.topRight() - QPointF(0.1 * area.width(), 0)}),
                     thickness);
    case MathMark::tilde:
      return tilde_shape(area, thickness);
    case MathMark::vector:
      return shaft(area, thickness, false, true, false);
    case MathMark::back_arrow:
      return shaft(area, thickness, true, false, false);
    case MathMark::both_arrow:
      return shaft(area, thickness, true, true, false);
    case MathMark::over_brace:
    case MathMark::under_brace:
      return lying_brace(area, thickness, mark == MathMark::over_brace);
    default: {
      QPainterPath path;
      path.addRect(area);
      return path;
    }
  }
}

QPainterPath arrow_shape(const QString& text, const QRectF& area, qreal thickness) {
  const bool twice = text == QStringLiteral("⇒") || text == QStringLiteral("⇐") || text == QLatin1String("=");
  const bool left = text == QStringLiteral("←") || text == QStringLiteral("⇐") || text == QStringLiteral("↔");
  const bool right =
      text == QStringLiteral("→") || text == QStringLiteral("⇒") || text == QStringLiteral("↔");
  return shaft(area, thickness, left, right, twice);
}

QPainterPath strike_shape(const QRectF& area, qreal thickness) {
  return stroked(lines({area.bottomLeft(), area.topRight()}), thickness);
}

}  // namespace fovea::ui
