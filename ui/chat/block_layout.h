// One Markdown block laid out for a width: cached text layouts that know how to paint, be hit and be
// selected.
#pragma once

#include <QFont>
#include <QPalette>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <memory>
#include <vector>

#include "ui/markdown/document.h"

class QPainter;
class QTextLayout;

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
};

class BlockLayout {
 public:
  BlockLayout(Block block, qreal width, const LayoutStyle& style);
  ~BlockLayout();
  BlockLayout(BlockLayout&&) noexcept;
  BlockLayout& operator=(BlockLayout&&) noexcept;

  const Block& block() const { return block_; }
  qreal height() const { return height_; }
  qreal gap_before(const BlockLayout& previous) const;  // when this block follows it
  // Table cells are separated by tabs, rows by line feeds.
  const QString& plain_text() const { return plain_text_; }

  void paint(QPainter& painter, QPointF origin, TextRange selected) const;
  int position_at(QPointF point) const;      // nearest character of plain_text()
  QString link_at(QPointF point) const;      // empty: none
  bool is_copy_button(QPointF point) const;  // of a code block

 private:
  struct Piece {
    std::unique_ptr<QTextLayout> layout;
    QPointF origin;
    int offset = 0;  // of its text in plain_text()
    const StyledText* source = nullptr;
  };

  void lay_out(qreal width);
  void lay_out_code(qreal left, qreal width);
  void lay_out_table(qreal left, qreal width);
  qreal add_piece(const StyledText& text, QPointF origin, qreal width, const QFont& font,
                  Qt::Alignment alignment);
  std::unique_ptr<QTextLayout> make_layout(const StyledText& text, const QFont& font,
                                           Qt::Alignment alignment) const;
  qreal natural_width(const StyledText& text, const QFont& font) const;
  QFont heading_font() const;

  Block block_;
  LayoutStyle style_;
  QString plain_text_;
  std::vector<Piece> pieces_;
  std::vector<QRectF> rules_;  // table lines, horizontal rules
  QRectF code_box_;
  QRectF copy_button_;
  qreal marker_x_ = 0;
  qreal width_ = 0;
  qreal height_ = 0;
};

}  // namespace fovea::ui
