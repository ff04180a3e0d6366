// Fractions, roots, delimiters, frames.
#include <algorithm>
#include <utility>

#include "ui/mathematics/layouter.h"

namespace fovea::ui {
namespace {

// Lengths of TeX's symbol font, in em.
constexpr qreal kNumeratorDisplay = 0.677;
constexpr qreal kNumerator = 0.394;
constexpr qreal kNumeratorWithoutRule = 0.444;
constexpr qreal kDenominatorDisplay = 0.686;
constexpr qreal kDenominator = 0.345;
constexpr qreal kNullDelimiter = 0.12;
constexpr qreal kFractionEnds = 0.05;  // how far the rule goes beyond what it divides
constexpr qreal kDelimiterShare = 0.901;
constexpr qreal kDelimiterShortfall = 0.5;  // em
constexpr qreal kGlyphReach = 1.12;         // up to this height, of its own, a delimiter is its glyph

}  // namespace

MathBox MathLayouter::fraction(const MathNode& node, Style style) {
  if (node.styled) style.style = node.style;
  const qreal em = size_of(style);
  const qreal thick = node.ruled ? rule(style) : 0;
  MathBox above = lay_out(node.children[0], style.numerator());
  MathBox below = lay_out(node.children[1], style.denominator());
  qreal up = (style.is_display() ? kNumeratorDisplay
              : node.ruled       ? kNumerator
                                 : kNumeratorWithoutRule) *
             shift_ * em;
  qreal down = (style.is_display() ? kDenominatorDisplay : kDenominator) * shift_ * em;
  const qreal middle = axis(style);
  if (node.ruled) {
    const qreal gap = (style.is_display() ? 3 : 1.5) * thick;
    up = std::max(up, middle + thick / 2 + gap + above.descent);
    down = std::max(down, below.ascent + gap + thick / 2 - middle);
  } else {
    const qreal gap = (style.is_display() ? 7 : 3) * rule(style);
    const qreal between = (up - above.descent) - (below.ascent - down);
    if (between < gap) {
      up += (gap - between) / 2;
      down += (gap - between) / 2;
    }
  }
  const qreal ends = kNullDelimiter * em;
  const qreal inner = std::max(above.width, below.width) + 2 * kFractionEnds * em;
  MathBox out;
  const qreal above_width = above.width, below_width = below.width;
  put_around(out, std::move(above), ends + (inner - above_width) / 2, -up);
  put_around(out, std::move(below), ends + (inner - below_width) / 2, down);
  out.width = inner + 2 * ends;
  if (node.ruled) {
    MathInk line;
    line.kind = MathInk::Kind::rule;
    line.area = QRectF(ends, -middle - thick / 2, inner, thick);
    out.inks.push_back(line);
  }
  return out;
}

MathBox MathLayouter::radical(const MathNode& node, Style style) {
  const qreal em = size_of(style);
  const qreal thick = rule(style);
  MathBox inside = lay_out(node.children[0], style.cramp());
  const qreal gap = thick + (style.is_display() ? x_height(style) : thick) / 4;
  const qreal ascent = std::max(inside.ascent, x_height(style)) + gap + thick;
  const qreal descent = std::max(inside.descent, 0.04 * em);
  const qreal height = ascent + descent;
  const qreal sign = std::clamp(0.42 * em + 0.09 * height, 0.5 * em, 0.85 * em);
  MathBox out;
  qreal left = 0;
  if (!node.children[1].children.empty()) {
    MathBox degree = lay_out(node.children[1], {MathStyle::second_script, false});
    // Above the sign's hook, and a little into it.
    const qreal up = -descent + 0.58 * height;
    const qreal into = 0.42 * sign;
    left = std::max<qreal>(0, degree.width - into);
    const qreal at = std::max<qreal>(0, into - degree.width);
    put_around(out, std::move(degree), at, -up);
  }
  MathInk ink;
  ink.kind = MathInk::Kind::radical;
  ink.area = QRectF(left, -ascent, sign + inside.width + 0.08 * em, height);
  ink.split = sign;
  ink.thickness = thick;
  out.inks.push_back(ink);
  const qreal width = ink.area.right() + 0.06 * em;
  put_around(out, std::move(inside), left + sign + 0.02 * em, 0);
  out.width = width;
  out.ascent = std::max(out.ascent, ascent + thick);
  out.descent = std::max(out.descent, descent);
  return out;
}

// Its middle on the axis. Small ones are the font's; those that must stretch are drawn.
MathBox MathLayouter::delimiter(const QString& text, qreal height, Style style) const {
  const qreal em = size_of(style);
  MathBox out;
  if (text.isEmpty()) {
    out.width = kNullDelimiter * em;
    return out;
  }
  MathBox glyph = text_box(text, MathFace::upright, em);
  const bool arrow = QStringLiteral("↑↓⇑⇓↕").contains(text);
  if (height <= kGlyphReach * glyph.height() || arrow) {
    const qreal down = (glyph.ascent - glyph.descent) / 2 - axis(style);
    out.width = glyph.width;
    put_around(out, std::move(glyph), 0, height > em ? down : 0);
    return out;
  }
  const bool line = text == QLatin1String("|");
  const bool wide = text == QStringLiteral("⟦") || text == QStringLiteral("⟧") || text == QStringLiteral("‖");
  out.width = (line ? 0.28 : wide ? 0.45 : 0.36) * em + (line || wide ? 0 : 0.035 * std::min(height, 8 * em));
  if (text == QLatin1String("/") || text == QLatin1String("\\")) out.width = 0.25 * em + 0.3 * height;
  out.ascent = axis(style) + height / 2;
  out.descent = height / 2 - axis(style);
  MathInk ink;
  ink.kind = MathInk::Kind::delimiter;
  ink.text = text;
  ink.area = QRectF(0, -out.ascent, out.width, height);
  ink.thickness = rule(style) * 1.25;
  out.inks.push_back(ink);
  return out;
}

MathBox MathLayouter::fenced(const MathNode& node, Style style) {
  const qreal em = size_of(style);
  std::vector<MathBox> parts;
  qreal reach = 0;  // of what is inside, from the axis
  for (std::size_t i = 1; i < node.children.size(); i += 2) {
    parts.push_back(lay_out(node.children[i], style));
    reach = std::max({reach, parts.back().ascent - axis(style), parts.back().descent + axis(style)});
  }
  const qreal height = std::max(kDelimiterShare * 2 * reach, 2 * reach - kDelimiterShortfall * em);
  MathBox out;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    MathBox part = i % 2 == 1 ? std::move(parts[i / 2]) : delimiter(node.children[i].text, height, style);
    put_around(out, std::move(part), out.width, 0);
  }
  return out;
}

MathBox MathLayouter::phantom(const MathNode& node, Style style) {
  MathBox out = lay_out(node.children[0], style);
  out.inks.clear();
  if (!node.keeps_width) out.width = 0;
  if (!node.keeps_height) out.ascent = out.descent = 0;
  return out;
}

MathBox MathLayouter::framed(const MathNode& node, Style style) {
  const qreal air = 0.3 * size_of(style);
  MathBox inside = lay_out(node.children[0], style.is_display() ? style : Style{MathStyle::text, false});
  MathBox out;
  MathInk ink;
  ink.kind = MathInk::Kind::frame;
  ink.area = QRectF(0, -inside.ascent - air, inside.width + 2 * air, inside.height() + 2 * air);
  ink.thickness = rule(style);
  out.inks.push_back(ink);
  put_around(out, std::move(inside), air, 0);
  out.width += air;
  out.ascent += air;
  out.descent += air;
  return out;
}

MathBox MathLayouter::struck(const MathNode& node, Style style) {
  MathBox out = lay_out(node.children[0], style);
  MathInk ink;
  ink.kind = MathInk::Kind::strike;
  const qreal air = 0.1 * size_of(style);
  const bool relation = node.role == MathClass::relation;  // \not: a short stroke
  const qreal reach = relation ? 0.38 * size_of(style) : 0;
  ink.area = relation ? QRectF(out.width * 0.25, -axis(style) - reach, out.width * 0.5, 2 * reach)
                      : QRectF(0, -out.ascent - air, out.width, out.height() + 2 * air);
  ink.thickness = rule(style);
  out.ascent = relation ? std::max(out.ascent, axis(style) + reach) : out.ascent + air;
  out.descent = relation ? std::max(out.descent, reach - axis(style)) : out.descent + air;
  out.inks.push_back(ink);
  return out;
}

}  // namespace fovea::ui
