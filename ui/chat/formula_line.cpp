#include "ui/chat/formula_line.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

#include "ui/formulas/math_paint.h"
#include "ui/mathematics/layout.h"

namespace fovea::ui {
namespace {

// Letters that nobody sees: no line breaks between them, but it does beside them where it does beside a word.
constexpr QChar kRoom = u'n';
constexpr qreal kUnbroken = 1.0 / 3;    // of a line: a shorter formula stays whole
constexpr qreal kReadableShrink = 0.8;  // a displayed formula is rather broken than made smaller than this
constexpr qreal kSpareWidth = 1;

// The parts between breaks, each with its share of the formula's letters: one at least, and a space for the
// line to break at.
void share_out(LineFormula& formula, std::vector<MathBreak> breaks) {
  const int total = formula.length;
  const std::size_t most = static_cast<std::size_t>(std::max(1, (total + 1) / 2));
  // Where the text has too few letters, only some of the breaks are kept.
  while (breaks.size() + 1 > most)
    breaks.erase(breaks.begin() + static_cast<std::ptrdiff_t>(breaks.size() / 2));
  formula.parts.clear();
  qreal left = 0;
  std::size_t ink = 0;
  for (std::size_t i = 0; i <= breaks.size(); ++i) {
    const bool ends = i == breaks.size();
    FormulaPart part;
    part.left = left;
    part.width = (ends ? formula.box.width : breaks[i].before) - left;
    part.space = ends ? 0 : breaks[i].after - breaks[i].before;
    part.first = ink;
    part.last = ends ? formula.box.inks.size() : breaks[i].inks;
    left = ends ? left : breaks[i].after;
    ink = part.last;
    formula.parts.push_back(part);
  }
  int at = formula.start, rest = total;
  for (std::size_t i = 0; i < formula.parts.size(); ++i) {
    FormulaPart& part = formula.parts[i];
    const int parts_behind = static_cast<int>(formula.parts.size() - i) - 1;
    const int least_behind = parts_behind == 0 ? 0 : 2 * parts_behind - 1;
    const bool ends = parts_behind == 0;
    const qreal share = formula.box.width > 0 ? part.width / formula.box.width : 1;
    const int wanted = static_cast<int>(share * total);
    part.start = at;
    part.length = ends ? rest : std::clamp(wanted, 2, std::max(2, rest - least_behind));
    part.room = ends ? part.length : part.length - 1;
    at += part.length;
    rest -= part.length;
  }
}

qreal widest_part(const LineFormula& formula) {
  qreal widest = 0;
  for (const FormulaPart& part : formula.parts) widest = std::max(widest, part.width);
  return widest;
}

void fit(LineFormula& formula, qreal width, bool display) {
  const qreal room = std::max<qreal>(1, width - kSpareWidth);
  const qreal natural = formula.box.width;
  const bool whole = display ? natural * kReadableShrink <= room : natural <= kUnbroken * room;
  share_out(formula, whole ? std::vector<MathBreak>{} : formula.box.breaks);
  formula.scale = std::min<qreal>(1, room / std::max<qreal>(1, widest_part(formula)));
  for (FormulaPart& part : formula.parts) {
    part.width *= formula.scale;
    part.space *= formula.scale;
  }
}

}  // namespace

std::vector<LineFormula> line_formulas(const StyledText& text, const QFont& font, qreal width) {
  std::vector<LineFormula> out;
  std::shared_ptr<const MathFonts> fonts;
  for (const Run& run : text.runs) {
    if (run.tex.isEmpty() || run.length == 0) continue;
    const std::optional<MathNode> tree = parse_math(run.tex);
    if (!tree) continue;
    if (!fonts) fonts = math_fonts(font);
    LineFormula formula;
    formula.start = run.start;
    formula.length = run.length;
    formula.link = run.link;
    formula.box = lay_out_math(*tree, *fonts, fonts->size(), run.display);
    if (formula.box.inks.empty() || formula.box.width <= 0) continue;
    fit(formula, width, run.display);
    out.push_back(std::move(formula));
  }
  return out;
}

void make_room(QString& text, QList<QTextLayout::FormatRange>& formats,
               const std::vector<LineFormula>& formulas, const QFont& font) {
  if (formulas.empty()) return;
  const QFontMetricsF metrics(font);
  const qreal letter = metrics.horizontalAdvance(kRoom), blank = metrics.horizontalAdvance(QLatin1Char(' '));
  const auto add = [&formats](int start, int length, qreal spacing) {
    QTextLayout::FormatRange range;
    range.start = start;
    range.length = length;
    range.format.setForeground(Qt::transparent);
    range.format.setFontLetterSpacingType(QFont::AbsoluteSpacing);
    range.format.setFontLetterSpacing(spacing);
    range.format.setFontKerning(false);
    formats.append(range);
  };
  for (const LineFormula& formula : formulas) {
    for (const FormulaPart& part : formula.parts) {
      for (int i = 0; i < part.length; ++i) text[part.start + i] = i < part.room ? kRoom : QChar(u' ');
      add(part.start, part.room, part.width / part.room - letter);
      if (part.room < part.length) add(part.start + part.room, 1, part.space - blank);
    }
  }
}

LineReach reach_of(const QTextLine& line, const std::vector<LineFormula>& formulas) {
  LineReach out;
  const int begin = line.textStart(), end = begin + line.textLength();
  for (const LineFormula& formula : formulas) {
    if (formula.start >= end || formula.start + formula.length <= begin) continue;
    out.above = std::max(out.above, formula.ascent());
    out.below = std::max(out.below, formula.descent());
  }
  return out;
}

QRectF area_of(const QTextLayout& layout, const LineFormula& formula, const FormulaPart& part) {
  const QTextLine line = layout.lineForTextPosition(part.start);
  if (!line.isValid()) return {};
  // In a line that runs to the left the end is at the left.
  const qreal from = line.cursorToX(part.start), to = line.cursorToX(part.start + part.room);
  return {std::min(from, to), line.y() + line.ascent() - formula.ascent(), part.width,
          formula.ascent() + formula.descent()};
}

void paint_formula(QPainter& painter, QPointF origin, const QTextLayout& layout, const LineFormula& formula,
                   const MathFonts& fonts, const MathColours& colours) {
  for (const FormulaPart& part : formula.parts) {
    const QRectF area = area_of(layout, formula, part);
    const QPointF baseline(area.left() - part.left * formula.scale, area.top() + formula.ascent());
    paint_math(painter, formula.box, part.first, part.last, fonts, origin + baseline, formula.scale, colours);
  }
}

}  // namespace fovea::ui
