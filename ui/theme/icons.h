// Our line drawings (resources/icons/line): on a grid of 16, with strokes of 1.6 and round ends, sharp at
// every scale, in the colour of what they stand for.
#pragma once

#include <QColor>
#include <QIcon>
#include <QRectF>
#include <cstdint>
#include <functional>

class QPainter;
class QPalette;

namespace fovea::ui {

enum class Glyph : std::uint8_t {
  add,
  search,
  models,
  settings,
  panel,
  more,
  copy,
  regenerate,
  edit,
  go_on,
  remove,
  previous,
  next,
  open,
  attach,
  tune,
  send,
  stop,
  sidebar,
  close,
  check,
  server,
  help,
  download,
  folder,
  info,
  play,
  pause,
  up,
  down,
  latest,
  whole,  // how much of something there is, as a disc
  most,
  half,
  none
};
inline constexpr Glyph last_glyph = Glyph::none;

void paint_icon(QPainter& painter, Glyph glyph, const QRectF& area, const QColor& colour);

// In the second text colour, the text's under the pointer, and the accent's while it is on; as the theme has
// them when it is drawn. `is_main`: on the brand's colour.
QIcon icon_of(Glyph glyph, bool is_main = false);
// In a colour of its own.
using IconColour = std::function<QColor(const QPalette&)>;
QIcon icon_in(Glyph glyph, IconColour colour);

// The mark: a sharp dot in two soft rings.
void paint_mark(QPainter& painter, const QRectF& area, const QColor& brand);

}  // namespace fovea::ui
