// What stands above and below: scripts, limits, accents, arrows.
#include <algorithm>
#include <utility>

#include "ui/mathematics/layouter.h"

namespace fovea::ui {
namespace {

// Lengths of TeX's symbol font, in em.
constexpr qreal kSuperscriptDisplay = 0.413;
constexpr qreal kSuperscript = 0.363;
constexpr qreal kSuperscriptCramped = 0.289;
constexpr qreal kSubscript = 0.15;
constexpr qreal kSubscriptBelow = 0.247;  // where there is a superscript
constexpr qreal kSuperscriptDrop = 0.386;
constexpr qreal kSubscriptDrop = 0.05;
constexpr qreal kLimitGap = 0.14;
constexpr qreal kAfterScripts = 0.05;
constexpr qreal kIntegralSlant = 0.3;  // of its width: how far its foot stands at the left of its head
constexpr qreal kArrowHead = 0.19;     // em, to each side

bool is_character(const MathNode& node) {
  if (node.kind == MathKind::row && node.children.size() == 1) return is_character(node.children[0]);
  if (node.kind == MathKind::accent) return is_character(node.children[0]);
  return node.kind == MathKind::symbol;
}

// ∬ is two of them; 0: it is none.
int integrals_of(const MathNode& node) {
  if (node.kind != MathKind::symbol || node.text.size() != 1) return 0;
  if (QStringLiteral("∫∮").contains(node.text)) return 1;
  if (QStringLiteral("∬∯").contains(node.text)) return 2;
  return node.text == QStringLiteral("∭") ? 3 : 0;
}

bool is_slanted(const MathNode& node) {
  return node.kind == MathKind::symbol && node.text.size() <= 2 &&
         (node.face == MathFace::italic || node.face == MathFace::bold_italic);
}

MathInk mark_ink(MathMark mark, const QRectF& area, qreal thickness) {
  MathInk ink;
  ink.kind = MathInk::Kind::mark;
  ink.mark = mark;
  ink.area = area;
  ink.thickness = thickness;
  return ink;
}

}  // namespace

MathBox MathLayouter::scripts(const MathNode& node, Style style) {
  const MathNode& base_node = node.children[0];
  MathBox base = lay_out(base_node, style);
  MathBox below = lay_out(node.children[1], style.subscript());
  MathBox above = lay_out(node.children[2], style.superscript());
  const bool has_below = !node.children[1].children.empty(), has_above = !node.children[2].children.empty();
  if (base_node.limits || (base_node.limits_in_display && style.is_display())) {
    return limits(std::move(base), has_above ? &above : nullptr, has_below ? &below : nullptr, style);
  }
  const qreal em = size_of(style), small = size_of(style.superscript());
  const qreal overhang =
      is_slanted(base_node) ? metrics_.measure(base_node.text, base_node.face, em).overhang : 0;
  // Letters carry their scripts where letters do; larger things at their corners.
  const bool character = is_character(base_node) && base_node.role != MathClass::large;
  qreal up = character ? 0 : base.ascent - kSuperscriptDrop * shift_ * small;
  qreal down = character ? 0 : base.descent + kSubscriptDrop * shift_ * small;
  const qreal least_up = style.cramped        ? kSuperscriptCramped
                         : style.is_display() ? kSuperscriptDisplay
                                              : kSuperscript;
  const qreal gap = 4 * rule(style);
  up = std::max({up, least_up * shift_ * em, above.descent + x_height(style) / 4});
  down = std::max(down, kSubscript * shift_ * em);
  if (!has_above) {
    down = std::max(down, below.ascent - 0.8 * x_height(style));
  } else if (has_below) {
    down = std::max(down, kSubscriptBelow * shift_ * em);
    const qreal between = (up - above.descent) - (below.ascent - down);
    if (between < gap) down += gap - between;
    // A high foot of the superscript lets both move up.
    const qreal room = 0.8 * x_height(style) - (up - above.descent);
    if (room > 0 && between < gap) {
      up += room;
      down -= room;
    }
  }
  const qreal right = base.width;
  const int integrals = integrals_of(base_node);
  const qreal foot = integrals > 0 ? -kIntegralSlant * base.width / integrals : 0;
  MathBox out = std::move(base);
  if (has_above) put_around(out, std::move(above), right + overhang + 0.03 * em, -up);
  if (has_below) put_around(out, std::move(below), right + foot + 0.01 * em, down);
  out.width += kAfterScripts * em;
  return out;
}

// Above and below the base, in its middle.
MathBox MathLayouter::limits(MathBox base, const MathBox* above, const MathBox* below, Style style) const {
  const qreal gap = kLimitGap * size_of(style);
  qreal width = base.width;
  for (const MathBox* part : {above, below}) {
    if (part) width = std::max(width, part->width);
  }
  MathBox out;
  const qreal ascent = base.ascent, descent = base.descent;
  const qreal middle = width / 2;
  const qreal at = middle - base.width / 2;
  put_around(out, std::move(base), at, 0);
  if (above) put_around(out, *above, middle - above->width / 2, -(ascent + gap + above->descent));
  if (below) put_around(out, *below, middle - below->width / 2, descent + gap + below->ascent);
  out.width = width;
  return out;
}

MathBox MathLayouter::stack(const MathNode& node, Style style) {
  MathBox base = lay_out(node.children[0], style);
  const MathBox set = lay_out(node.children[1], style.superscript());
  return limits(std::move(base), node.raised ? &set : nullptr, node.raised ? nullptr : &set, style);
}

MathBox MathLayouter::arrow(const MathNode& node, Style style) {
  const qreal em = size_of(style);
  const MathBox above = lay_out(node.children[0], style.superscript());
  const MathBox below = lay_out(node.children[1], style.subscript());
  MathBox base;
  base.width = std::max({above.width, below.width, em}) + 0.7 * em;
  const qreal half = kArrowHead * em;
  base.ascent = axis(style) + half;
  base.descent = half - axis(style);
  MathInk ink;
  ink.kind = MathInk::Kind::arrow;
  ink.text = node.text;
  ink.area = QRectF(0, -axis(style) - half, base.width, 2 * half);
  ink.thickness = rule(style);
  base.inks.push_back(ink);
  const bool has_below = !node.children[1].children.empty();
  return limits(std::move(base), &above, has_below ? &below : nullptr, style);
}

MathBox MathLayouter::accent(const MathNode& node, Style style) {
  const qreal em = size_of(style);
  const qreal thick = rule(style);
  MathBox out = lay_out(node.children[0], style.cramp());
  const qreal width = out.width;
  // Over a slanted letter its mark stands a little to the right.
  const qreal skew =
      is_slanted(node.children[0]) && !node.wide ? 0.16 * std::max(out.ascent, x_height(style)) : 0;
  if (node.mark == MathMark::glyph) {
    MathBox mark = text_box(node.text, MathFace::upright, em);
    const qreal gap = 0.09 * em;
    const qreal y = -(std::max(out.ascent, x_height(style)) + gap + mark.descent);
    put_around(out, mark, (width - mark.width) / 2 + skew, y);
    out.width = width;
    return out;
  }
  if (node.mark == MathMark::under_line || node.mark == MathMark::under_brace) {
    const bool brace = node.mark == MathMark::under_brace;
    const qreal gap = brace ? 0.1 * em : 3 * thick;
    const qreal height = brace ? 0.34 * em : thick;
    out.inks.push_back(mark_ink(node.mark, QRectF(0, out.descent + gap, width, height), thick));
    out.descent += gap + height + (brace ? 0 : thick);
    return out;
  }
  qreal height = 0.2 * em;
  qreal length = node.wide ? width : 0.5 * em;
  switch (node.mark) {
    case MathMark::over_brace:
      height = 0.34 * em;
      break;
    case MathMark::bar:
      height = thick;
      if (!node.wide) length = std::max(0.45 * em, 0.75 * width);
      break;
    case MathMark::vector:
    case MathMark::back_arrow:
    case MathMark::both_arrow:
      height = 0.24 * em;
      if (!node.wide) length = std::clamp(width, 0.5 * em, 0.8 * em);
      break;
    default:
      if (node.wide) height = std::min(0.17 + 0.05 * width / em, 0.34) * em;
      break;
  }
  const qreal gap = node.mark == MathMark::bar ? (node.wide ? 3 : 2) * thick : 0.08 * em;
  const qreal base = std::max(out.ascent, node.wide ? 0 : x_height(style));
  const QRectF area((width - length) / 2 + skew, -base - gap - height, length, height);
  out.inks.push_back(mark_ink(node.mark, area, thick));
  out.ascent = base + gap + height + (node.mark == MathMark::bar ? thick : 0);
  return out;
}

}  // namespace fovea::ui
