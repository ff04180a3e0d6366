// How a block looks.
#include <QCoreApplication>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/chat/block_layout.h"
#include "ui/chat/block_sizes.h"
#include "ui/theme/theme.h"

namespace fovea::ui {

QString BlockLayout::copy_label() {
  return QCoreApplication::translate("fovea::ui::BlockLayout", "Copy");
}

// Lines at the left of thoughts and quotes.
void BlockLayout::paint_bars(QPainter& painter) const {
  qreal x = 0;
  const qreal thick = std::max(2.0, std::round(em() / 7));
  if (block_.reasoning) {
    painter.fillRect(QRectF(0.25 * em(), 0, std::max(1.0, thick / 2), height_), hairline(style_.palette));
    x += kReasoningIndent * em();
  }
  for (int i = 0; i < std::min(block_.quote_depth, kDeepestIndent); ++i) {
    painter.fillRect(QRectF(x, 0, thick, height_), hairline(style_.palette));
    x += kQuoteIndent * em();
  }
}

// Parts join: only the first has round corners above, only the last below.
void BlockLayout::paint_code_box(QPainter& painter) const {
  const qreal radius = 0.4 * em();
  const QRectF box =
      code_box_.adjusted(0, block_.part > 0 ? -2 * radius : 0, 0, block_.more ? 2 * radius : 0);
  painter.save();
  painter.setClipRect(code_box_, Qt::IntersectClip);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(code_background(style_.palette));
  painter.drawRoundedRect(box, radius, radius);
  painter.restore();
  if (block_.part > 0) return;
  painter.setFont(label_font());
  painter.setPen(subtle_text(style_.palette));
  const QRectF header(code_box_.left() + kCodePadding * em(), 0, code_box_.width() - copy_button_.width(),
                      copy_button_.height());
  painter.drawText(header, Qt::AlignVCenter | Qt::AlignLeft, language_label(block_.language));
  painter.drawText(copy_button_, Qt::AlignCenter, copy_label());
}

void BlockLayout::paint_summary(QPainter& painter) const {
  const qreal size = 0.22 * em();
  const QPointF middle(fold_button_.left() + 0.55 * em(), fold_button_.center().y());
  QPolygonF chevron;
  if (context_.folded) {
    chevron << middle + QPointF(-size / 2, -size) << middle + QPointF(size / 2, 0)
            << middle + QPointF(-size / 2, size);
  } else {
    chevron << middle + QPointF(-size, -size / 2) << middle + QPointF(0, size / 2)
            << middle + QPointF(size, -size / 2);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(subtle_text(style_.palette), std::max(1.0, em() / 11), Qt::SolidLine, Qt::RoundCap));
  painter.drawPolyline(chevron);
  painter.setFont(style_.body);
  painter.drawText(fold_button_.adjusted(1.3 * em(), 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   context_.summary);
}

void BlockLayout::paint_frame(QPainter& painter) const {
  paint_bars(painter);
  if (block_.kind == BlockKind::code) paint_code_box(painter);
  if (block_.kind == BlockKind::reasoning) paint_summary(painter);
  for (const QRectF& rule : rules_) painter.fillRect(rule, hairline(style_.palette));
  if (block_.marker.isEmpty()) return;
  painter.setFont(style_.body);
  painter.setPen(block_.marker[0].isDigit() ? subtle_text(style_.palette)
                                            : style_.palette.color(QPalette::Text));
  const Qt::Alignment beside = marker_at_right_ ? Qt::AlignLeft : Qt::AlignRight;
  painter.drawText(marker_box_, static_cast<int>(beside | Qt::AlignVCenter) | Qt::TextDontClip,
                   block_.marker);
}

void BlockLayout::paint_range(QPainter& painter, const Piece& piece, TextRange range,
                              const QColor& colour) const {
  for (int i = 0; i < piece.layout->lineCount(); ++i) {
    const QTextLine line = piece.layout->lineAt(i);
    const int begin = std::max(range.begin - piece.offset, line.textStart());
    const int end = std::min(range.end - piece.offset, line.textStart() + line.textLength());
    if (begin >= end) continue;
    const qreal from = line.cursorToX(begin);
    const qreal to = line.cursorToX(end);
    const qreal air = line.height() * 0.11;
    painter.fillRect(QRectF(piece.origin.x() + std::min(from, to), piece.origin.y() + line.y() - air,
                            std::abs(to - from), line.height() + 2 * air),
                     colour);
  }
}

void BlockLayout::paint_piece(QPainter& painter, const Piece& piece, const BlockMarks& marks) const {
  const QPalette& palette = style_.palette;
  const int length = static_cast<int>(piece.layout->text().size());
  QList<QTextLayout::FormatRange> overlays;
  const auto mark = [&](TextRange range, const QColor& background, const QColor& foreground) {
    const int begin = std::max(range.begin - piece.offset, 0);
    const int end = std::min(range.end - piece.offset, length);
    if (begin >= end) return;
    QTextLayout::FormatRange overlay;
    overlay.start = begin;
    overlay.length = end - begin;
    overlay.format.setForeground(foreground);
    if (piece.simple) {
      paint_range(painter, piece, range, background);
    } else {
      overlay.format.setBackground(background);
    }
    overlays.append(overlay);
  };
  for (std::size_t i = 0; i < marks.found.size(); ++i) {
    const bool current = static_cast<int>(i) == marks.current;
    mark(marks.found[i], found_background(palette, current), found_text(palette, current));
  }
  if (!marks.selected.empty()) {
    mark(marks.selected, palette.color(QPalette::Highlight), palette.color(QPalette::HighlightedText));
  }
  piece.layout->draw(&painter, piece.origin, overlays);
}

void BlockLayout::paint(QPainter& painter, QPointF origin, const BlockMarks& marks) const {
  painter.save();
  painter.translate(origin);
  paint_frame(painter);
  const bool quiet = block_.reasoning || block_.quote_depth > 0;
  painter.setPen(quiet ? quiet_text(style_.palette) : style_.palette.color(QPalette::Text));
  for (const Piece& piece : pieces_) paint_piece(painter, piece, marks);
  painter.restore();
}

}  // namespace fovea::ui
