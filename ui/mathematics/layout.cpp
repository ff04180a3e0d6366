#include "ui/mathematics/layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/mathematics/layouter.h"

namespace fovea::ui {
namespace {

constexpr qreal kScript = 0.72;  // TeX's 0.7 and 0.5 are for fonts with sizes of their own
constexpr qreal kSecondScript = 0.58;
constexpr qreal kRule = 0.048;
constexpr qreal kLargeInDisplay = 1.45;
constexpr qreal kIntegralInDisplay = 1.75;
constexpr qreal kPrimeHeight = 0.6;  // of a script's size
constexpr qreal kTexCapitals = 0.683;

// Between two atoms, in 1/18 em; negative: not in scripts. Rows and columns as MathClass has them: ordinary,
// large, binary, relation, opening, closing, punctuation, inner.
constexpr int kSpaces[8][8] = {
    {0, 3, -4, -5, 0, 0, 0, -3},     {3, 3, 0, -5, 0, 0, 0, -3},     {-4, -4, 0, 0, -4, 0, 0, -4},
    {-5, -5, 0, 0, -5, 0, 0, -5},    {0, 0, 0, 0, 0, 0, 0, 0},       {0, 3, -4, -5, 0, 0, 0, -3},
    {-3, -3, 0, -3, -3, -3, -3, -3}, {-3, 3, -4, -5, -3, 0, -3, -3},
};

qreal space_between(MathClass before, MathClass after, bool script) {
  const int space = kSpaces[static_cast<int>(before)][static_cast<int>(after)];
  return space < 0 && script ? 0 : std::abs(space) / 18.0;
}

// Binary operators without something on both sides are signs.
std::vector<MathClass> roles_of(const std::vector<MathNode>& nodes) {
  std::vector<MathClass> roles;
  MathClass before = MathClass::opening;
  std::ptrdiff_t last = -1;
  for (const MathNode& node : nodes) {
    MathClass role = node.role;
    if (role == MathClass::none) {
      roles.push_back(role);
      continue;
    }
    const bool nothing_before = before == MathClass::opening || before == MathClass::binary ||
                                before == MathClass::relation || before == MathClass::punctuation ||
                                before == MathClass::large;
    if (role == MathClass::binary && nothing_before) role = MathClass::ordinary;
    const bool ends =
        role == MathClass::relation || role == MathClass::closing || role == MathClass::punctuation;
    if (ends && before == MathClass::binary) roles[static_cast<std::size_t>(last)] = MathClass::ordinary;
    before = role;
    last = static_cast<std::ptrdiff_t>(roles.size());
    roles.push_back(role);
  }
  if (before == MathClass::binary) roles[static_cast<std::size_t>(last)] = MathClass::ordinary;
  return roles;
}

}  // namespace

MathBox lay_out_math(const MathNode& formula, const MathMetrics& metrics, qreal size, bool display) {
  return MathLayouter(metrics, size).formula(formula, display);
}

void put(MathBox& into, MathBox part, qreal x, qreal y) {
  for (MathInk& ink : part.inks) {
    ink.area.translate(x, y);
    into.inks.push_back(std::move(ink));
  }
}

void put_around(MathBox& into, MathBox part, qreal x, qreal y) {
  into.width = std::max(into.width, x + part.width);
  into.ascent = std::max(into.ascent, part.ascent - y);
  into.descent = std::max(into.descent, part.descent + y);
  put(into, std::move(part), x, y);
}

MathLayouter::MathLayouter(const MathMetrics& metrics, qreal size) : metrics_(metrics), size_(size) {
  const MathExtents minus = metrics.measure(QStringLiteral("−"), MathFace::upright, size);
  const MathExtents x = metrics.measure(QStringLiteral("x"), MathFace::upright, size);
  const MathExtents capital = metrics.measure(QStringLiteral("H"), MathFace::upright, size);
  if (size <= 0) return;
  axis_ = std::clamp((minus.ascent - minus.descent) / 2 / size, 0.15, 0.45);
  x_height_ = std::clamp(x.ascent / size, 0.3, 0.7);
  shift_ = std::clamp(capital.ascent / size / kTexCapitals, 0.8, 1.3);
}

MathLayouter::Style MathLayouter::Style::numerator() const {
  switch (style) {
    case MathStyle::display:
      return {MathStyle::text, cramped};
    case MathStyle::text:
      return {MathStyle::script, cramped};
    default:
      return {MathStyle::second_script, cramped};
  }
}

MathLayouter::Style MathLayouter::Style::superscript() const {
  return {is_script() ? MathStyle::second_script : MathStyle::script, cramped};
}

qreal MathLayouter::size_of(Style style) const {
  return style.style == MathStyle::second_script ? size_ * kSecondScript
         : style.style == MathStyle::script      ? size_ * kScript
                                                 : size_;
}

// Never thinner than what scripts still show.
qreal MathLayouter::rule(Style style) const {
  return kRule * size_ * (style.is_script() ? 0.85 : 1.0);
}

MathBox MathLayouter::formula(const MathNode& node, bool display) {
  const Style style{display ? MathStyle::display : MathStyle::text, false};
  if (node.kind == MathKind::row) return row(node.children, style, true);
  return lay_out(node, style);
}

MathBox MathLayouter::text_box(const QString& text, MathFace face, qreal size) const {
  MathBox out;
  if (text.isEmpty()) return out;
  const MathExtents extents = metrics_.measure(text, face, size);
  out.width = extents.width;
  out.ascent = extents.ascent;
  out.descent = extents.descent;
  MathInk ink;
  ink.text = text;
  ink.face = face;
  ink.size = size;
  out.inks.push_back(std::move(ink));
  return out;
}

// Some fonts have them high and small already, others as letters: here they are as high as a script's
// letters.
MathBox MathLayouter::primes(const QString& text, qreal size) const {
  MathBox out = text_box(text, MathFace::upright, size);
  const qreal height = out.height();
  if (height <= 0) return out;
  out = text_box(text, MathFace::upright, size * std::clamp(kPrimeHeight * size / height, 0.7, 2.0));
  const qreal down = -out.descent;
  out.inks[0].area.translate(0, down);
  out.ascent -= down;
  out.descent += down;
  return out;
}

MathBox MathLayouter::symbol(const MathNode& node, Style style) const {
  const qreal size = size_of(style);
  if (node.text.startsWith(QChar(0x2032))) return primes(node.text, size);
  const bool sign = node.role == MathClass::large && node.text.size() == 1 && !node.text[0].isLetter();
  if (!sign) return text_box(node.text, node.face, size);
  const bool integral = QStringLiteral("∫∬∭∮∯").contains(node.text);
  const qreal grown = !style.is_display() ? 1 : integral ? kIntegralInDisplay : kLargeInDisplay;
  MathBox out = text_box(node.text, node.face, size * grown);
  // Its middle stands on the axis.
  const qreal down = (out.ascent - out.descent) / 2 - axis(style);
  out.inks[0].area.translate(0, down);
  out.ascent -= down;
  out.descent += down;
  return out;
}

MathBox MathLayouter::lay_out(const MathNode& node, Style style) {
  switch (node.kind) {
    case MathKind::symbol:
      return symbol(node, style);
    case MathKind::row:
      return row(node.children, style, false);
    case MathKind::scripts:
      return scripts(node, style);
    case MathKind::fraction:
      return fraction(node, style);
    case MathKind::radical:
      return radical(node, style);
    case MathKind::fenced:
      return fenced(node, style);
    case MathKind::sized:
      return delimiter(node.children[0].text, node.amount * size_of(style), style);
    case MathKind::accent:
      return accent(node, style);
    case MathKind::stack:
      return stack(node, style);
    case MathKind::arrow:
      return arrow(node, style);
    case MathKind::table:
      return table(node, style);
    case MathKind::phantom:
      return phantom(node, style);
    case MathKind::framed:
      return framed(node, style);
    case MathKind::struck:
      return struck(node, style);
    case MathKind::source: {
      MathBox out = text_box(node.text, node.face, size_of(style) * 0.9);
      for (MathInk& ink : out.inks) ink.muted = true;
      return out;
    }
    case MathKind::space: {
      MathBox out;
      out.width = node.amount * size_of(style);
      return out;
    }
    case MathKind::style:
      break;
  }
  return {};
}

MathBox MathLayouter::row(const std::vector<MathNode>& nodes, Style style, bool breakable) {
  const std::vector<MathClass> roles = roles_of(nodes);
  MathBox out;
  MathClass before = MathClass::none;
  bool may_break = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == MathKind::style) {
      style.style = nodes[i].style;
      continue;
    }
    const MathClass role = roles[i];
    qreal space = 0;
    if (role != MathClass::none) {
      if (before != MathClass::none) space = space_between(before, role, style.is_script()) * size_of(style);
      before = role;
    }
    if (may_break) out.breaks.push_back({out.width, out.width + space, out.inks.size()});
    MathBox box = lay_out(nodes[i], style);
    const qreal at = out.width + space;
    const qreal width = box.width;
    put_around(out, std::move(box), at, 0);
    out.width = std::max<qreal>(0, at + width);  // negative spaces move back
    // A sign in front of everything holds to what follows.
    may_break = breakable && i > 0 && i + 1 < nodes.size() &&
                (role == MathClass::relation || role == MathClass::binary);
  }
  return out;
}

}  // namespace fovea::ui
