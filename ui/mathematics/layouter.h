// The state of a layout that its parts share: layout.cpp has rows and symbols, scripts.cpp what stands above
// and below, constructions.cpp fractions, roots, delimiters and frames, tables.cpp matrices and alignments.
#pragma once

#include "ui/mathematics/layout.h"

namespace fovea::ui {

class MathLayouter {
 public:
  MathLayouter(const MathMetrics& metrics, qreal size);
  MathBox formula(const MathNode& node, bool display);

 private:
  struct Style {
    MathStyle style = MathStyle::text;
    bool cramped = false;
    bool is_display() const { return style == MathStyle::display; }
    bool is_script() const { return style >= MathStyle::script; }
    Style cramp() const { return {style, true}; }
    Style numerator() const;
    Style denominator() const { return numerator().cramp(); }
    Style superscript() const;
    Style subscript() const { return superscript().cramp(); }
  };

  // layout.cpp
  MathBox lay_out(const MathNode& node, Style style);
  MathBox row(const std::vector<MathNode>& nodes, Style style, bool breakable);
  MathBox primes(const QString& text, qreal size) const;
  MathBox symbol(const MathNode& node, Style style) const;
  MathBox text_box(const QString& text, MathFace face, qreal size) const;
  qreal size_of(Style style) const;
  qreal axis(Style style) const { return axis_ * size_of(style); }
  qreal x_height(Style style) const { return x_height_ * size_of(style); }
  qreal rule(Style style) const;

  // scripts.cpp
  MathBox scripts(const MathNode& node, Style style);
  MathBox limits(MathBox base, const MathBox* above, const MathBox* below, Style style) const;
  MathBox stack(const MathNode& node, Style style);
  MathBox arrow(const MathNode& node, Style style);
  MathBox accent(const MathNode& node, Style style);

  // constructions.cpp
  MathBox fraction(const MathNode& node, Style style);
  MathBox radical(const MathNode& node, Style style);
  MathBox fenced(const MathNode& node, Style style);
  MathBox delimiter(const QString& text, qreal height, Style style) const;
  MathBox phantom(const MathNode& node, Style style);
  MathBox framed(const MathNode& node, Style style);
  MathBox struck(const MathNode& node, Style style);

  // tables.cpp
  MathBox table(const MathNode& node, Style style);

  const MathMetrics& metrics_;
  qreal size_;
  qreal axis_ = 0.25;  // of a size, as the others
  qreal x_height_ = 0.43;
  qreal shift_ = 1;  // how far scripts move, against TeX's own font
};

// Puts a box into another one; `y` is how far its baseline goes down.
void put(MathBox& into, MathBox part, qreal x, qreal y);
// The same, with the outer box grown around it.
void put_around(MathBox& into, MathBox part, qreal x, qreal y);

}  // namespace fovea::ui
