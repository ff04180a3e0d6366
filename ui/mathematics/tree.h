// A formula as a tree: what TeX's macros and braces say, before anything has a size.
#pragma once

#include <QString>
#include <QStringView>
#include <cstdint>
#include <optional>
#include <vector>

namespace fovea::ui {

// TeX's kinds of atoms; what stands between two of them follows from their kinds.
enum class MathClass : std::uint8_t {
  ordinary,
  large,  // ∑, ∫, sin: TeX's "op"
  binary,
  relation,
  opening,
  closing,
  punctuation,
  inner,  // \left…\right
  none,   // spaces: no atom at all
};

// The letters' shapes. Letters are italic unless a macro says otherwise.
enum class MathFace : std::uint8_t {
  italic,
  upright,
  bold,
  bold_italic,
  blackboard,
  calligraphic,
  fraktur,
  sans,
  mono,
  text,  // words of \text: in the font of the text around
};

enum class MathStyle : std::uint8_t { display, text, script, second_script };

enum class MathKind : std::uint8_t {
  symbol,    // `text` in `face`
  row,       // children one after the other
  scripts,   // base, subscript, superscript; a missing one is an empty row
  fraction,  // above, below
  radical,   // inside, degree
  fenced,    // \left…\right: rows, with a symbol of a delimiter before, between and behind them
  sized,     // \big…: a delimiter of a fixed height
  accent,    // a mark over (or a line under) one child
  stack,     // \overset, \underset: base, what is set; `raised` says where
  arrow,     // \xrightarrow: above, below
  table,     // cells, row by row
  space,     // `amount` em
  style,     // \displaystyle: holds for the rest of its row
  phantom,   // room without ink
  framed,    // \boxed
  struck,    // \cancel, \not
  source,    // what is not known, as it was written
};

enum class MathMark : std::uint8_t {
  hat,
  tilde,
  bar,
  vector,
  back_arrow,
  both_arrow,
  check,
  glyph,  // `text` is the mark
  under_line,
  over_brace,
  under_brace,
};

struct MathColumn {
  enum class Align : std::uint8_t { left, centre, right };
  Align align = Align::centre;
  double gap = 0;     // em, before it
  bool line = false;  // | before it
};

struct MathNode {
  MathKind kind = MathKind::row;
  MathClass role = MathClass::ordinary;
  MathFace face = MathFace::italic;
  MathMark mark = MathMark::hat;
  MathStyle style = MathStyle::text;  // of `style`, and of fractions and tables that say one
  bool styled = false;                // `style` counts
  bool limits = false;                // scripts go above and below: always, or …
  bool limits_in_display = false;     // … in display style
  bool ruled = true;                  // of a fraction: \binom has no rule
  bool wide = false;                  // of an accent: as wide as what it is over
  bool raised = false;                // of a stack: set above
  bool keeps_width = true;            // of a phantom: \vphantom has none …
  bool keeps_height = true;           // … and \hphantom no height
  double amount = 0;                  // of a space, a sized delimiter, a table's row gap
  QString text;
  std::vector<MathNode> children;
  // Of a table.
  std::size_t columns = 0;
  std::vector<MathColumn> layout;
  std::vector<std::size_t> lines;  // rows that have a line above
};

// The deepest nesting that is laid out. What goes deeper is not a formula that anybody could read.
constexpr int kDeepestMath = 32;

// Nothing where it is no formula: braces or environments that do not pair, nesting without end. A macro that
// is not known is a node of its own, and no failure.
std::optional<MathNode> parse_math(QStringView tex);

}  // namespace fovea::ui
