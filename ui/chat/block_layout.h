// One Markdown block laid out for a width: cached text layouts that know how to paint, be hit and be
// selected.
#pragma once

#include <QFont>
#include <QPalette>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QTextLayout>
#include <memory>
#include <vector>

#include "ui/chat/formula_line.h"
#include "ui/markdown/document.h"
#include "ui/markdown/highlight.h"

class QPainter;

namespace fovea::ui {

struct LayoutStyle {
  QFont body;
  QFont mono;
  QPalette palette;

  bool operator==(const LayoutStyle&) const = default;
};

// A half-open range of a block's plain text.
struct TextRange {
  int begin = 0;
  int end = 0;
  bool empty() const { return begin >= end; }
};

// What is marked in a block when it is painted.
struct BlockMarks {
  TextRange selected;
  std::vector<TextRange> found;
  int current = -1;  // of `found`: where the search stands
};

// What a block cannot know from itself.
struct BlockContext {
  LexerState code_state;  // at the beginning of this part of a code block
  QString summary;        // of a reasoning section: its line
  bool folded = true;     // of a reasoning section

  bool operator==(const BlockContext&) const = default;
};

struct LinkArea {
  QRectF area;
  QString address;
  TextRange text;
};

class BlockLayout {
 public:
  BlockLayout(Block block, qreal width, const LayoutStyle& style, BlockContext context = {});
  ~BlockLayout();
  BlockLayout(const BlockLayout&) = delete;
  BlockLayout& operator=(const BlockLayout&) = delete;

  const Block& block() const { return block_; }
  const BlockContext& context() const { return context_; }
  qreal height() const { return height_; }
  qreal used_width() const { return used_width_; }  // of the widest line, with its indent
  const LexerState& code_state_after() const { return code_state_after_; }

  void paint(QPainter& painter, QPointF origin, const BlockMarks& marks) const;
  int position_at(QPointF point) const;                 // nearest character of block_text()
  QRectF cursor_at(int position) const;                 // a thin rectangle before that character
  std::vector<QRectF> areas_of(TextRange range) const;  // one for each line that it is on
  std::vector<LinkArea> links() const;                  // one for each line that a link is on
  QRectF copy_button() const { return copy_button_; }   // of a code block; else null
  QRectF fold_button() const { return fold_button_; }   // of a reasoning section; else null

 private:
  struct Piece {
    std::unique_ptr<QTextLayout> layout;
    QPointF origin;
    int offset = 0;  // of its text in block_text()
    std::vector<Run> runs;
    std::vector<LineFormula> formulas;
    std::shared_ptr<const MathFonts> fonts;  // of the formulas
    bool simple = true;                      // only left to right: a selection on a line is one rectangle
  };
  struct Setting {
    QFont font;
    Qt::Alignment alignment = Qt::AlignLeft;
    qreal line_factor = 1;
    bool code = false;
  };

  void lay_out();
  void lay_out_code(qreal left, qreal width);
  void lay_out_table(qreal left, qreal width);
  void lay_out_summary(qreal left);
  std::vector<qreal> column_widths(qreal available, const QFont& header_font) const;
  qreal add_piece(const StyledText& text, int offset, QPointF origin, qreal width, const Setting& setting);
  std::unique_ptr<QTextLayout> make_layout(const StyledText& text, const Setting& setting,
                                           const std::vector<LineFormula>& formulas) const;
  QList<QTextLayout::FormatRange> formats_of(const StyledText& text,
                                             const std::vector<LineFormula>& formulas) const;
  QList<QTextLayout::FormatRange> code_formats(const QString& code);
  qreal natural_width(const StyledText& text, const QFont& font) const;
  qreal em() const;
  QFont label_font() const;
  QFont heading_font() const;

  void paint_bars(QPainter& painter) const;
  void paint_code_box(QPainter& painter) const;
  void paint_summary(QPainter& painter) const;
  void paint_frame(QPainter& painter) const;
  void paint_piece(QPainter& painter, const Piece& piece, const BlockMarks& marks) const;
  // Behind formulas, and, if asked for, behind letters.
  void paint_range(QPainter& painter, const Piece& piece, TextRange range, const QColor& colour,
                   bool letters) const;
  void paint_formulas(QPainter& painter, const Piece& piece, const BlockMarks& marks) const;
  const Piece* piece_of(int position) const;

  Block block_;
  LayoutStyle style_;
  BlockContext context_;
  LexerState code_state_after_;
  std::vector<Piece> pieces_;
  std::vector<QRectF> rules_;  // table lines, horizontal rules
  QRectF code_box_;
  QRectF copy_button_;
  QRectF fold_button_;
  QRectF marker_box_;
  bool marker_at_right_ = false;  // of a right-to-left text
  qreal width_ = 0;
  qreal height_ = 0;
  qreal used_width_ = 0;
};

// The room between two blocks that follow each other.
qreal gap_between(const Block& before, const Block& after, qreal em);

// Sizes of the fonts, asked for once.
struct FontSizes {
  qreal em = 0;  // height of a line of the body font
  qreal letter = 0;
  qreal mono_line = 0;
  qreal mono_letter = 0;
};
FontSizes sizes_of(const LayoutStyle& style);

// About how high the block will be, without laying it out.
qreal estimated_height(const Block& block, qreal width, const FontSizes& sizes);

}  // namespace fovea::ui
