// The shapes that controls are made of.
#pragma once

#include <QPainter>
#include <QStyleOption>

#include "ui/theme/tokens.h"

namespace fovea::ui::style_paint {

// Restores the painter, which draws smooth lines meanwhile.
class Smooth {
 public:
  explicit Smooth(QPainter& painter) : painter_(painter) {
    painter_.save();
    painter_.setRenderHint(QPainter::Antialiasing);
  }
  ~Smooth() { painter_.restore(); }
  Smooth(const Smooth&) = delete;
  Smooth& operator=(const Smooth&) = delete;

 private:
  QPainter& painter_;
};

// Its line lies within `area`.
void rounded(QPainter& painter, const QRectF& area, qreal corner, const QBrush& fill, const QColor& line,
             qreal width = 1);

enum class Direction { up, down, left, right };
void chevron(QPainter& painter, const QRectF& area, Direction direction, const QColor& colour);

bool is_enabled(const QStyleOption& option);
bool is_hovered(const QStyleOption& option);  // and enabled
bool is_pressed(const QStyleOption& option);
bool has_focus(const QStyleOption& option);  // and shows it

// Something to type in, or to choose from.
void field(QPainter& painter, const QStyleOption& option, const QRectF& area);
// A push button; or a tool button with an outline.
void button(QPainter& painter, const QStyleOption& option, bool is_main);
// A tool button without: a ground under the pointer, or while it is on.
void flat_button(QPainter& painter, const QStyleOption& option);
void check_box(QPainter& painter, const QStyleOption& option);
void radio_button(QPainter& painter, const QStyleOption& option);
void scroll_thumb(QPainter& painter, const QStyleOption& option, const QRect& area, bool is_upright,
                  bool is_active);
void progress(QPainter& painter, const QStyleOptionProgressBar& option);
void tab(QPainter& painter, const QStyleOptionTab& option);

}  // namespace fovea::ui::style_paint
