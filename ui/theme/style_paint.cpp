#include "ui/theme/style_paint.h"

#include <QPainterPath>
#include <algorithm>

namespace fovea::ui::style_paint {

void rounded(QPainter& painter, const QRectF& area, qreal corner, const QBrush& fill, const QColor& line,
             qreal width) {
  const Smooth smooth(painter);
  painter.setBrush(fill);
  painter.setPen(width > 0 ? QPen(line, width) : QPen(Qt::NoPen));
  const qreal half = width / 2;
  corner = std::min({corner, area.width() / 2, area.height() / 2});
  painter.drawRoundedRect(area.adjusted(half, half, -half, -half), corner - half, corner - half);
}

void chevron(QPainter& painter, const QRectF& area, Direction direction, const QColor& colour) {
  const Smooth smooth(painter);
  const qreal side = std::min({area.width(), area.height(), 16.0});
  painter.translate(area.center());
  painter.scale(side / 16, side / 16);
  constexpr int turns[] = {180, 0, 90, -90};
  painter.rotate(turns[static_cast<int>(direction)]);
  painter.setPen(QPen(colour, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  const QPointF points[] = {{-3.5, -1.75}, {0, 1.75}, {3.5, -1.75}};
  painter.drawPolyline(points, 3);
}

bool is_enabled(const QStyleOption& option) {
  return option.state & QStyle::State_Enabled;
}

bool is_hovered(const QStyleOption& option) {
  return is_enabled(option) && (option.state & QStyle::State_MouseOver);
}

bool is_pressed(const QStyleOption& option) {
  return is_enabled(option) && (option.state & QStyle::State_Sunken);
}

bool has_focus(const QStyleOption& option) {
  return option.state & QStyle::State_HasFocus;
}

void field(QPainter& painter, const QStyleOption& option, const QRectF& area) {
  const Tones& t = tones(option.palette);
  const bool focused = has_focus(option) && is_enabled(option);
  rounded(painter, area, radius::button, is_enabled(option) ? t.card : t.window, focused ? t.accent : t.line,
          focused ? focus_width : 1);
}

void button(QPainter& painter, const QStyleOption& option, bool is_main) {
  const Tones& t = tones(option.palette);
  const bool on = option.state & QStyle::State_On;
  QRectF area(option.rect);
  const bool focused = has_focus(option) && (option.state & QStyle::State_KeyboardFocusChange);
  if (!is_main || !is_enabled(option)) {
    const QColor ground = on || is_pressed(option) || is_hovered(option) ? t.hover : t.card;
    rounded(painter, area, radius::button, ground, focused || on ? t.accent : t.line,
            focused ? focus_width : 1);
    return;
  }
  if (focused) {
    rounded(painter, area, radius::button, Qt::NoBrush, t.accent, focus_width);
    area.adjust(4, 4, -4, -4);
  }
  QColor ground = t.brand;
  if (is_pressed(option)) {
    ground = ground.darker(112);
  } else if (is_hovered(option)) {
    ground = ground.lighter(106);
  }
  rounded(painter, area, radius::button - (focused ? 3 : 0), ground, ground, 0);
}

void flat_button(QPainter& painter, const QStyleOption& option) {
  const Tones& t = tones(option.palette);
  const bool on = option.state & QStyle::State_On;
  const bool focused = has_focus(option) && (option.state & QStyle::State_KeyboardFocusChange);
  if (on || is_hovered(option) || is_pressed(option))
    rounded(painter, option.rect, radius::row, t.hover, t.hover, 0);
  if (focused) rounded(painter, option.rect, radius::row, Qt::NoBrush, t.accent, focus_width);
}

namespace {

bool is_on(const QStyleOption& option) {
  return option.state & (QStyle::State_On | QStyle::State_NoChange);
}

// What a mark stands on, in the middle of the option's place.
QRectF mark_ground(QPainter& painter, const QStyleOption& option, bool is_round) {
  const Tones& t = tones(option.palette);
  const qreal side = std::min(option.rect.width(), option.rect.height());
  QRectF area(0, 0, side, side);
  area.moveCenter(QRectF(option.rect).center());
  const QColor on = is_enabled(option) ? t.accent : t.line;
  const QColor edge = is_on(option) ? on : is_enabled(option) ? t.second : t.line;
  const QColor ground = is_on(option) ? on : is_hovered(option) ? t.hover : t.card;
  rounded(painter, area, is_round ? side / 2 : 4, ground, edge, 1.2);
  return area;
}

QColor mark_colour(const QStyleOption& option) {
  return is_enabled(option) ? tones(option.palette).on_accent : tones(option.palette).third;
}

}  // namespace

void check_box(QPainter& painter, const QStyleOption& option) {
  const QRectF area = mark_ground(painter, option, false);
  if (!is_on(option)) return;
  const Smooth smooth(painter);
  painter.translate(area.topLeft());
  painter.scale(area.width() / 16, area.height() / 16);
  painter.setPen(QPen(mark_colour(option), 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  if (option.state & QStyle::State_NoChange) return painter.drawLine(QPointF(4.5, 8), QPointF(11.5, 8));
  const QPointF points[] = {{4.2, 8.2}, {6.9, 10.9}, {11.8, 5.4}};
  painter.drawPolyline(points, 3);
}

void radio_button(QPainter& painter, const QStyleOption& option) {
  const QRectF area = mark_ground(painter, option, true);
  if (!is_on(option)) return;
  const qreal inset = area.width() * 0.31;
  rounded(painter, area.adjusted(inset, inset, -inset, -inset), area.width(), mark_colour(option), {}, 0);
}

void scroll_thumb(QPainter& painter, const QStyleOption& option, const QRect& area, bool is_upright,
                  bool is_active) {
  const Tones& t = tones(option.palette);
  const qreal margin = is_active ? 2 : 3;
  const QRectF thumb = is_upright ? QRectF(area).adjusted(margin, 1, -margin, -1)
                                  : QRectF(area).adjusted(1, margin, -1, -margin);
  QColor colour = is_active ? t.second : t.third;
  colour.setAlphaF(is_active ? 0.8F : 0.45F);
  rounded(painter, thumb, radius::row, colour, {}, 0);
}

void progress(QPainter& painter, const QStyleOptionProgressBar& option) {
  const Tones& t = tones(option.palette);
  const bool is_upright = !(option.state & QStyle::State_Horizontal);
  QRectF track(option.rect);
  const qreal thick = std::min(is_upright ? track.width() : track.height(), 6.0);
  const QPointF middle = track.center();
  is_upright ? track.setWidth(thick) : track.setHeight(thick);
  track.moveCenter(middle);
  rounded(painter, track, thick / 2, t.line, {}, 0);
  QRectF done = track;
  if (option.maximum <= option.minimum) {  // how long it takes is not known
    done.setLeft(track.left() + track.width() * 0.35);
    done.setWidth(track.width() * 0.3);
  } else {
    const double share = std::clamp(static_cast<double>(option.progress - option.minimum) /
                                        (static_cast<double>(option.maximum) - option.minimum),
                                    0.0, 1.0);
    if (share <= 0) return;
    if (is_upright) {
      done.setTop(track.bottom() - track.height() * share);
    } else if (option.direction == Qt::RightToLeft) {
      done.setLeft(track.right() - std::max(thick, track.width() * share));
    } else {
      done.setWidth(std::max(thick, track.width() * share));
    }
  }
  rounded(painter, done, thick / 2, is_enabled(option) ? t.accent : t.third, {}, 0);
}

// Its words above a line, which is the accent's where it is chosen.
void tab(QPainter& painter, const QStyleOptionTab& option) {
  const Tones& t = tones(option.palette);
  const QRect area = option.rect;
  const bool chosen = option.state & QStyle::State_Selected;
  if (!chosen && is_hovered(option))
    rounded(painter, area.adjusted(2, 2, -2, -4), radius::row, t.hover, {}, 0);
  painter.fillRect(QRect(area.left(), area.bottom(), area.width(), 1), t.line);
  if (chosen) painter.fillRect(QRect(area.left(), area.bottom() - 1, area.width(), 2), t.accent);
  if (has_focus(option) && (option.state & QStyle::State_KeyboardFocusChange))
    rounded(painter, area.adjusted(1, 1, -1, -3), radius::row, Qt::NoBrush, t.accent, focus_width);
}

}  // namespace fovea::ui::style_paint
