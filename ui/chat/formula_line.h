// Formulas within a text layout. Qt's layouts hold letters alone, so a formula's own text makes room for it:
// as many invisible letters, spaced so that they are as wide. Every position in the text keeps its meaning.
#pragma once

#include <QFont>
#include <QTextLayout>
#include <memory>
#include <vector>

#include "ui/formulas/math_fonts.h"
#include "ui/markdown/document.h"
#include "ui/mathematics/box.h"

class QPainter;

namespace fovea::ui {

struct MathColours;

// What stands on one line: a formula, or what lies between two places where it may be broken.
struct FormulaPart {
  int start = 0;  // in the text
  int length = 0;
  int room = 0;                     // of these letters, those that are its width; a space may follow
  qreal left = 0;                   // in the formula's box
  qreal width = 0;                  // as shown
  qreal space = 0;                  // as shown, behind it, where the line goes on
  std::size_t first = 0, last = 0;  // inks of the box
};

struct LineFormula {
  int start = 0;
  int length = 0;
  QString link;
  MathBox box;
  qreal scale = 1;  // below 1 where it would not fit
  std::vector<FormulaPart> parts;

  qreal ascent() const { return box.ascent * scale; }
  qreal descent() const { return box.descent * scale; }
};

// Those that can be laid out; the others stay text.
std::vector<LineFormula> line_formulas(const StyledText& text, const QFont& font, qreal width);

// Makes room for them in the text, with the formats that go with it.
void make_room(QString& text, QList<QTextLayout::FormatRange>& formats,
               const std::vector<LineFormula>& formulas, const QFont& font);

// How far the formulas on a line reach above and below its baseline; 0 without one.
struct LineReach {
  qreal above = 0;
  qreal below = 0;
};
LineReach reach_of(const QTextLine& line, const std::vector<LineFormula>& formulas);

// Where a part stands, above and below its line's baseline too.
QRectF area_of(const QTextLayout& layout, const LineFormula& formula, const FormulaPart& part);

void paint_formula(QPainter& painter, QPointF origin, const QTextLayout& layout, const LineFormula& formula,
                   const MathFonts& fonts, const MathColours& colours);

}  // namespace fovea::ui
