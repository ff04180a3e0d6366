// How a block looks.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/chat/block_layout.h"
#include "ui/chat/block_sizes.h"
#include "ui/formulas/math_paint.h"
#include "ui/theme/icons.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/theme.h"

namespace fovea::ui {
namespace {

constexpr qreal kCopyIcon = 0.7;

}  // namespace

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
  const Tones& t = tones(style_.palette);
  painter.save();
  painter.setClipRect(code_box_, Qt::IntersectClip);
  style_paint::rounded(
      painter,
      code_box_.adjusted(0, block_.part > 0 ? -2 * radius::card : 0, 0, block_.more ? 2 * radius::card : 0),
      radius::card, t.code, t.line);
  painter.restore();
  if (block_.part > 0) return;
  painter.setFont(label_font());
  painter.setPen(subtle_text(style_.palette));
  const QRectF header(code_box_.left() + kCodePadding * em(), 0, code_box_.width() - copy_button_.width(),
                      copy_button_.height());
  painter.drawText(header, Qt::AlignVCenter | Qt::AlignLeft, language_label(block_.language));
  QRectF icon(0, 0, kCopyIcon * em(), kCopyIcon * em());
  icon.moveCenter(copy_button_.center());
  paint_icon(painter, Glyph::copy, icon, t.second);
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

void BlockLayout::paint_range(QPainter& painter, const Piece& piece, TextRange range, const QColor& colour,
                              bool letters) const {
  for (int i = 0; letters && i < piece.layout->lineCount(); ++i) {
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
  for (const LineFormula& formula : piece.formulas) {
    const int begin = piece.offset + formula.start;
    if (begin >= range.end || begin + formula.length <= range.begin) continue;
    for (const FormulaPart& part : formula.parts) {
      painter.fillRect(area_of(*piece.layout, formula, part).translated(piece.origin).adjusted(-1, -1, 1, 1),
                       colour);
    }
  }
}

void BlockLayout::paint_formulas(QPainter& painter, const Piece& piece, const BlockMarks& marks) const {
  const QPalette& palette = style_.palette;
  const QColor usual = painter.pen().color();
  for (const LineFormula& formula : piece.formulas) {
    const int begin = piece.offset + formula.start, end = begin + formula.length;
    const auto touches = [begin, end](TextRange range) { return range.begin < end && range.end > begin; };
    MathColours colours{formula.link.isEmpty() ? usual : palette.color(QPalette::Link), subtle_text(palette)};
    for (std::size_t i = 0; i < marks.found.size(); ++i) {
      if (!touches(marks.found[i])) continue;
      colours.ink = colours.muted = found_text(palette, static_cast<int>(i) == marks.current);
    }
    if (!marks.selected.empty() && touches(marks.selected)) {
      colours.ink = colours.muted = palette.color(QPalette::HighlightedText);
    }
    paint_formula(painter, piece.origin, *piece.layout, formula, *piece.fonts, colours);
  }
}

void BlockLayout::paint_piece(QPainter& painter, const Piece& piece, const BlockMarks& marks) const {
  const QPalette& palette = style_.palette;
  const int length = static_cast<int>(piece.layout->text().size());
  QList<QTextLayout::FormatRange> overlays;
  const auto letters = [&](int begin, int end, const QColor& background, const QColor& foreground) {
    if (begin >= end) return;
    QTextLayout::FormatRange overlay;
    overlay.start = begin;
    overlay.length = end - begin;
    overlay.format.setForeground(foreground);
    if (!piece.simple) overlay.format.setBackground(background);
    overlays.append(overlay);
  };
  const auto mark = [&](TextRange range, const QColor& background, const QColor& foreground) {
    int begin = std::max(range.begin - piece.offset, 0);
    int end = std::min(range.end - piece.offset, length);
    if (begin >= end) return;
    // A formula is marked as a whole; the letters that make its room stay unseen.
    for (const LineFormula& formula : piece.formulas) {
      if (formula.start >= end || formula.start + formula.length <= begin) continue;
      begin = std::min(begin, formula.start);
      end = std::max(end, formula.start + formula.length);
    }
    paint_range(painter, piece, {piece.offset + begin, piece.offset + end}, background, piece.simple);
    for (const LineFormula& formula : piece.formulas) {
      if (formula.start >= end || formula.start < begin) continue;
      letters(begin, formula.start, background, foreground);
      begin = formula.start + formula.length;
    }
    letters(begin, end, background, foreground);
  };
  for (std::size_t i = 0; i < marks.found.size(); ++i) {
    const bool current = static_cast<int>(i) == marks.current;
    mark(marks.found[i], found_background(palette, current), found_text(palette, current));
  }
  if (!marks.selected.empty()) {
    mark(marks.selected, palette.color(QPalette::Highlight), palette.color(QPalette::HighlightedText));
  }
  piece.layout->draw(&painter, piece.origin, overlays);
  if (!piece.formulas.empty()) paint_formulas(painter, piece, marks);
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
