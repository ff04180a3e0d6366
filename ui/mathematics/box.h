// A formula laid out: a box with a baseline, and the ink in it. Coordinates begin at the left end of the
// baseline, y goes down.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QString>
#include <cstddef>
#include <vector>

#include "ui/mathematics/tree.h"

namespace fovea::ui {

struct MathInk {
  enum class Kind : std::uint8_t {
    text,       // `text` in `face` and `size`, its baseline at `area`'s top left
    rule,       // `area` filled
    delimiter,  // `text`, stretched over `area`
    radical,    // √ over `area`; its line begins at `split` from the left
    mark,       // hat, arrow, brace …: `mark` over `area`
    arrow,      // `text`, an arrow as long as `area`
    frame,
    strike,  // a line through `area`
  };
  Kind kind = Kind::text;
  QString text;
  MathFace face = MathFace::upright;
  MathMark mark = MathMark::hat;
  qreal size = 0;
  QRectF area;
  qreal split = 0;
  qreal thickness = 0;
  bool muted = false;
};

// Where a line of text may end within a formula: behind a relation or an operator of its outermost row.
struct MathBreak {
  qreal before = 0;      // where the first part ends …
  qreal after = 0;       // … and the second begins
  std::size_t inks = 0;  // of the parts before
};

struct MathBox {
  qreal width = 0;
  qreal ascent = 0;
  qreal descent = 0;
  std::vector<MathInk> inks;
  std::vector<MathBreak> breaks;

  qreal height() const { return ascent + descent; }
};

}  // namespace fovea::ui
