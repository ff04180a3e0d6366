#include "ui/chat/block_layout.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QTextLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/theme.h"

namespace fovea::ui {
namespace {

constexpr qreal kIndent = 24;       // of a list level
constexpr qreal kQuoteIndent = 16;  // of a quote level
constexpr int kDeepestIndent = 8;   // deeper nesting stays readable at this indent
constexpr qreal kCodePadding = 10;
constexpr qreal kCellPadding = 8;

// Inside a list, paragraphs stand closer together.
constexpr qreal kBlockGap = 9;
constexpr qreal kListGap = 4;

QString copy_label() {
  return QCoreApplication::translate("fovea::ui::BlockLayout", "Copy");
}

}  // namespace

BlockLayout::BlockLayout(Block block, qreal width, const LayoutStyle& style)
    : block_(std::move(block)), style_(style), width_(width) {
  lay_out(width);
}

BlockLayout::~BlockLayout() = default;

// Pieces point into block_, whose vectors keep their storage in a move; the block's own text does not, so the
// pointers are set again.
BlockLayout::BlockLayout(BlockLayout&& other) noexcept {
  *this = std::move(other);
}

BlockLayout& BlockLayout::operator=(BlockLayout&& other) noexcept {
  const StyledText* old_content = &other.block_.content;
  block_ = std::move(other.block_);
  style_ = std::move(other.style_);
  plain_text_ = std::move(other.plain_text_);
  pieces_ = std::move(other.pieces_);
  for (Piece& piece : pieces_) {
    if (piece.source == old_content) piece.source = &block_.content;
  }
  rules_ = std::move(other.rules_);
  code_box_ = other.code_box_;
  copy_button_ = other.copy_button_;
  marker_x_ = other.marker_x_;
  width_ = other.width_;
  height_ = other.height_;
  return *this;
}

void BlockLayout::lay_out(qreal width) {
  const int quotes = std::min(block_.quote_depth, kDeepestIndent);
  const int lists = std::min(block_.list_depth, kDeepestIndent);
  const qreal left = quotes * kQuoteIndent + lists * kIndent;
  const qreal available = std::max<qreal>(width - left, 40);
  marker_x_ = left - kIndent;
  switch (block_.kind) {
    case BlockKind::rule:
      height_ = QFontMetricsF(style_.body).height();
      rules_.emplace_back(left, height_ / 2, available, 1);
      break;
    case BlockKind::code:
      lay_out_code(left, available);
      break;
    case BlockKind::table:
      lay_out_table(left, available);
      break;
    case BlockKind::heading:
      height_ = add_piece(block_.content, {left, 0}, available, heading_font(), Qt::AlignLeft);
      break;
    case BlockKind::paragraph:
      height_ = add_piece(block_.content, {left, 0}, available, style_.body, Qt::AlignLeft);
      break;
  }
}

QFont BlockLayout::heading_font() const {
  static constexpr qreal kScale[] = {1.5, 1.3, 1.15, 1.05, 1.0, 1.0};
  QFont font = style_.body;
  font.setBold(true);
  font.setPointSizeF(font.pointSizeF() * kScale[std::clamp(block_.level, 1, 6) - 1]);
  return font;
}

void BlockLayout::lay_out_code(qreal left, qreal width) {
  QFont small = style_.body;
  small.setPointSizeF(small.pointSizeF() * 0.85);
  const QFontMetricsF metrics(small);
  const qreal header = metrics.height() + 8;
  const qreal button = metrics.horizontalAdvance(copy_label()) + 16;
  copy_button_ = QRectF(left + width - button, 0, button, header);
  const qreal text = add_piece(block_.content, {left + kCodePadding, header}, width - 2 * kCodePadding,
                               style_.mono, Qt::AlignLeft);
  height_ = header + text + kCodePadding;
  code_box_ = QRectF(left, 0, width, height_);
}

void BlockLayout::lay_out_table(qreal left, qreal width) {
  std::size_t columns = 1;
  for (const TableRow& row : block_.rows) columns = std::max(columns, row.cells.size());
  QFont header_font = style_.body;
  header_font.setBold(true);

  // Columns get their natural widths; when these do not fit, all shrink in proportion.
  std::vector<qreal> widths(columns, 2 * kCellPadding + 16);
  for (const TableRow& row : block_.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(
          widths[i], natural_width(row.cells[i], row.header ? header_font : style_.body) + 2 * kCellPadding);
    }
  }
  qreal total = 0;
  for (const qreal w : widths) total += w;
  const qreal scale = total > width ? width / total : 1;
  for (qreal& w : widths) w *= scale;

  qreal y = 0;
  for (const TableRow& row : block_.rows) {
    if (!plain_text_.isEmpty()) plain_text_ += QLatin1Char('\n');
    qreal x = left;
    qreal tallest = QFontMetricsF(style_.body).height();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i > 0) plain_text_ += QLatin1Char('\t');
      const qreal inner = std::max<qreal>(widths[i] - 2 * kCellPadding, 8);
      tallest = std::max(tallest, add_piece(row.cells[i], {x + kCellPadding, y + 4}, inner,
                                            row.header ? header_font : style_.body, row.alignment[i]));
      x += widths[i];
    }
    y += tallest + 8;
    rules_.emplace_back(left, y - 1, total * scale, row.header ? 2 : 1);
  }
  height_ = y;
}

std::unique_ptr<QTextLayout> BlockLayout::make_layout(const StyledText& text, const QFont& font,
                                                      Qt::Alignment alignment) const {
  QString shown = text.text;
  shown.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
  auto layout = std::make_unique<QTextLayout>(shown, font);
  // A paragraph that begins in a right-to-left script stands at the right.
  QTextOption option(alignment == Qt::AlignLeft && shown.isRightToLeft() ? Qt::Alignment(Qt::AlignRight)
                                                                         : alignment);
  option.setTextDirection(Qt::LayoutDirectionAuto);
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  option.setTabStopDistance(QFontMetricsF(font).horizontalAdvance(QLatin1Char(' ')) * 4);
  layout->setTextOption(option);

  QList<QTextLayout::FormatRange> formats;
  for (const Run& run : text.runs) {
    QTextLayout::FormatRange range;
    range.start = run.start;
    range.length = run.length;
    if (run.style & inline_code) {
      range.format.setFont(style_.mono, QTextCharFormat::FontPropertiesSpecifiedOnly);
      range.format.setBackground(code_background(style_.palette));
    }
    if (run.style & bold) range.format.setFontWeight(QFont::Bold);
    if (run.style & italic) range.format.setFontItalic(true);
    if (run.style & strike) range.format.setFontStrikeOut(true);
    if (!run.link.isEmpty()) {
      range.format.setForeground(style_.palette.color(QPalette::Link));
      range.format.setFontUnderline(true);
    }
    formats.append(range);
  }
  layout->setFormats(formats);
  return layout;
}

qreal BlockLayout::natural_width(const StyledText& text, const QFont& font) const {
  const std::unique_ptr<QTextLayout> layout = make_layout(text, font, Qt::AlignLeft);
  layout->beginLayout();
  for (QTextLine line = layout->createLine(); line.isValid(); line = layout->createLine())
    line.setLineWidth(1e6);
  layout->endLayout();
  return std::ceil(layout->maximumWidth()) + 1;
}

qreal BlockLayout::add_piece(const StyledText& text, QPointF origin, qreal width, const QFont& font,
                             Qt::Alignment alignment) {
  std::unique_ptr<QTextLayout> layout = make_layout(text, font, alignment);
  qreal height = 0;
  layout->beginLayout();
  for (QTextLine line = layout->createLine(); line.isValid(); line = layout->createLine()) {
    line.setLineWidth(width);
    line.setPosition({0, height});
    height += line.height() * 1.12;  // a little air between lines
  }
  layout->endLayout();

  pieces_.push_back({std::move(layout), origin, static_cast<int>(plain_text_.size()), &text});
  QString copied = text.text;
  copied.replace(QChar(QChar::LineSeparator), QLatin1Char('\n'));
  plain_text_ += copied;
  return height;
}

void BlockLayout::paint(QPainter& painter, QPointF origin, TextRange selected) const {
  painter.save();
  painter.translate(origin);
  const QPalette& palette = style_.palette;
  for (int i = 0; i < std::min(block_.quote_depth, kDeepestIndent); ++i) {
    painter.fillRect(QRectF(i * kQuoteIndent + 2, 0, 3, height_), hairline(palette));
  }
  if (block_.kind == BlockKind::code) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(code_background(palette));
    painter.drawRoundedRect(code_box_, 6, 6);
    QFont small = style_.body;
    small.setPointSizeF(small.pointSizeF() * 0.85);
    painter.setFont(small);
    painter.setPen(subtle_text(palette));
    const QRectF header(code_box_.left() + kCodePadding, 0, code_box_.width() - 2 * kCodePadding,
                        copy_button_.height());
    painter.drawText(header, Qt::AlignVCenter | Qt::AlignLeft, block_.language);
    painter.drawText(copy_button_, Qt::AlignCenter, copy_label());
  }
  for (const QRectF& rule : rules_) painter.fillRect(rule, hairline(palette));
  if (!block_.marker.isEmpty()) {
    painter.setFont(style_.body);
    painter.setPen(palette.color(QPalette::Text));
    const QFontMetricsF metrics(style_.body);
    painter.drawText(QRectF(marker_x_, 0, kIndent - 6, metrics.height()), Qt::AlignRight | Qt::TextDontClip,
                     block_.marker);
  }
  painter.setPen(palette.color(QPalette::Text));
  for (const Piece& piece : pieces_) {
    QList<QTextLayout::FormatRange> selections;
    const int length = static_cast<int>(piece.layout->text().size());
    const int begin = std::max(selected.begin - piece.offset, 0);
    const int end = std::min(selected.end - piece.offset, length);
    if (begin < end) {
      QTextLayout::FormatRange range;
      range.start = begin;
      range.length = end - begin;
      range.format.setBackground(palette.color(QPalette::Highlight));
      range.format.setForeground(palette.color(QPalette::HighlightedText));
      selections.append(range);
    }
    piece.layout->draw(&painter, piece.origin, selections);
  }
  painter.restore();
}

int BlockLayout::position_at(QPointF point) const {
  // The piece that contains the point, else the nearest one.
  const Piece* best = nullptr;
  qreal best_distance = std::numeric_limits<qreal>::max();
  for (const Piece& piece : pieces_) {
    const QRectF box = piece.layout->boundingRect().translated(piece.origin);
    const qreal dx = std::max({box.left() - point.x(), point.x() - box.right(), 0.0});
    const qreal dy = std::max({box.top() - point.y(), point.y() - box.bottom(), 0.0});
    if (dx + dy < best_distance) {
      best_distance = dx + dy;
      best = &piece;
    }
  }
  if (!best) return 0;
  const QPointF local = point - best->origin;
  for (int i = 0; i < best->layout->lineCount(); ++i) {
    const QTextLine line = best->layout->lineAt(i);
    if (local.y() < line.y() + line.height() * 1.12 || i + 1 == best->layout->lineCount()) {
      return best->offset + line.xToCursor(local.x());
    }
  }
  return best->offset;
}

QString BlockLayout::link_at(QPointF point) const {
  for (const Piece& piece : pieces_) {
    const QPointF local = point - piece.origin;
    for (int i = 0; i < piece.layout->lineCount(); ++i) {
      const QTextLine line = piece.layout->lineAt(i);
      if (!line.naturalTextRect().contains(local)) continue;
      const int position = line.xToCursor(local.x(), QTextLine::CursorOnCharacter);
      for (const Run& run : piece.source->runs) {
        if (!run.link.isEmpty() && position >= run.start && position < run.start + run.length)
          return run.link;
      }
    }
  }
  return {};
}

qreal BlockLayout::gap_before(const BlockLayout& previous) const {
  return block_.list_depth > 0 && previous.block_.list_depth > 0 ? kListGap : kBlockGap;
}

bool BlockLayout::is_copy_button(QPointF point) const {
  return block_.kind == BlockKind::code && copy_button_.contains(point);
}

}  // namespace fovea::ui
