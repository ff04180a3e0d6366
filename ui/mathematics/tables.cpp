// Matrices, alignments, cases.
#include <algorithm>
#include <utility>

#include "ui/mathematics/layouter.h"

namespace fovea::ui {
namespace {

// A row is at least as high as a line of text.
constexpr qreal kRowAscent = 0.84;  // em
constexpr qreal kRowDescent = 0.36;
constexpr qreal kSmallRow = 0.75;  // of these, in scripts
constexpr qreal kRowGap = 0.18;    // between what is higher than that
constexpr qreal kRuleAir = 0.18;

}  // namespace

MathBox MathLayouter::table(const MathNode& node, Style style) {
  const std::size_t columns = node.columns, rows = columns == 0 ? 0 : node.children.size() / columns;
  Style inner{node.styled ? node.style : MathStyle::text, false};
  if (style.is_script() && inner.style < style.style) inner = style;
  const qreal em = size_of(inner);
  const qreal thick = rule(inner);
  std::vector<MathBox> cells;
  std::vector<qreal> widths(columns, 0), ascents(rows, 0), descents(rows, 0);
  const qreal least = inner.is_script() ? kSmallRow : 1;
  for (std::size_t i = 0; i < rows * columns; ++i) {
    cells.push_back(lay_out(node.children[i], inner));
    widths[i % columns] = std::max(widths[i % columns], cells[i].width);
    ascents[i / columns] = std::max({ascents[i / columns], cells[i].ascent, kRowAscent * least * em});
    descents[i / columns] = std::max({descents[i / columns], cells[i].descent, kRowDescent * least * em});
  }
  std::vector<qreal> lefts(columns, 0);
  qreal width = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    width += node.layout[c].gap * em;
    lefts[c] = width;
    width += widths[c];
  }
  // From the top down; the whole is then moved to the axis.
  MathBox out;
  qreal y = 0;
  std::vector<qreal> tops(rows + 1, 0);
  const bool line_above = std::ranges::count(node.lines, std::size_t(0)) > 0;
  if (line_above) y = thick / 2;
  for (std::size_t r = 0; r < rows; ++r) {
    const bool line = std::ranges::count(node.lines, r) > 0;
    if (r > 0) y += (kRowGap + node.amount) * em + (line ? kRuleAir * em : 0);
    tops[r] = y;
    if (line) y += kRuleAir * em + thick / 2;
    y += ascents[r];
    for (std::size_t c = 0; c < columns; ++c) {
      MathBox& cell = cells[r * columns + c];
      const qreal rest = widths[c] - cell.width;
      const qreal at = lefts[c] + (node.layout[c].align == MathColumn::Align::left     ? 0
                                   : node.layout[c].align == MathColumn::Align::centre ? rest / 2
                                                                                       : rest);
      put(out, std::move(cell), at, y);
    }
    y += descents[r];
  }
  if (std::ranges::count(node.lines, rows) > 0) y += kRuleAir * em;
  tops[rows] = y;
  y += thick / 2;
  const auto rule_at = [&out](const QRectF& area) {
    MathInk ink;
    ink.kind = MathInk::Kind::rule;
    ink.area = area;
    out.inks.push_back(ink);
  };
  // From the outermost | to the other one, where there are some.
  std::vector<qreal> bars;
  for (std::size_t c = 0; c < columns; ++c) {
    if (node.layout[c].line) bars.push_back(lefts[c] - node.layout[c].gap * em / 2);
  }
  const bool closed = !bars.empty() && node.layout.back().line;
  const qreal begin = !bars.empty() && node.layout.front().line ? bars.front() - thick / 2 : 0;
  const qreal end = closed ? bars.back() + thick / 2 : width;
  for (const std::size_t line : node.lines) {
    rule_at({begin, tops[std::min(line, rows)] - thick / 2, end - begin, thick});
  }
  for (const qreal bar : bars) rule_at({bar - thick / 2, 0, thick, y});
  const qreal up = y / 2 + axis(style);
  for (MathInk& ink : out.inks) ink.area.translate(0, -up);
  out.width = width;
  out.ascent = up;
  out.descent = y - up;
  return out;
}

}  // namespace fovea::ui
