#include "ui/chat/transcript_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"

namespace fovea::ui {
namespace {

constexpr qreal kWidest = 780;  // a line longer than this is hard to read
constexpr qreal kMargin = 24;
constexpr qreal kMessageGap = 18;
constexpr qreal kNoteGap = 9;
constexpr qreal kBubblePadding = 12;
constexpr int kFlushMs = 50;  // 20 layouts a second

}  // namespace

TranscriptView::TranscriptView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Conversation"));
  viewport()->setMouseTracking(true);
  viewport()->setCursor(Qt::IBeamCursor);
  flush_timer_.setSingleShot(true);
  flush_timer_.setInterval(kFlushMs);
  connect(&flush_timer_, &QTimer::timeout, this, &TranscriptView::flush);
}

TranscriptView::~TranscriptView() = default;

void TranscriptView::clear() {
  messages_.clear();
  anchor_ = cursor_ = {};
  dirty_ = false;
  update_positions();
  viewport()->update();
}

void TranscriptView::add_message(Author author, const QString& text) {
  flush();
  messages_.emplace_back();
  messages_.back().author = author;
  messages_.back().text = text;
  lay_out_message(messages_.back(), true);
  update_positions();
  scroll_to_bottom();
}

void TranscriptView::append_to_last(const QString& text) {
  if (messages_.empty() || text.isEmpty()) return;
  messages_.back().text += text;
  dirty_ = true;
  if (!flush_timer_.isActive()) flush_timer_.start();
}

void TranscriptView::remove_last() {
  if (messages_.empty()) return;
  messages_.pop_back();
  anchor_ = cursor_ = {};
  update_positions();
  viewport()->update();
}

void TranscriptView::set_note_on_last(const QString& note) {
  if (messages_.empty()) return;
  const bool follow = at_bottom();
  messages_.back().note = note;
  lay_out_message(messages_.back(), false);
  update_positions();
  if (follow) scroll_to_bottom();
}

void TranscriptView::set_empty_text(const QString& text) {
  empty_text_ = text;
  viewport()->update();
}

QString TranscriptView::message_text(int index) const {
  return messages_.at(static_cast<std::size_t>(index)).text;
}

void TranscriptView::flush() {
  if (!dirty_) return;
  dirty_ = false;
  const bool follow = at_bottom();
  lay_out_message(messages_.back(), false);
  update_positions();
  if (follow) scroll_to_bottom();
}

// --- layout

LayoutStyle TranscriptView::style() const {
  QFont mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  mono.setPointSizeF(font().pointSizeF() * 0.95);
  return {font(), mono, palette()};
}

qreal TranscriptView::text_width() const {
  return std::max(std::min(viewport()->width() - 2 * kMargin, kWidest), 80.0);
}

qreal TranscriptView::text_left() const {
  return std::round((viewport()->width() - text_width()) / 2);
}

// Blocks that did not change keep their layouts: while an answer streams, only its last block is new.
void TranscriptView::lay_out_message(Message& message, bool from_scratch) {
  const bool user = message.author == Author::user;
  const qreal width = text_width() - (user ? 2 * kBubblePadding : 0);
  std::vector<Block> blocks = user ? plain_blocks(message.text) : parse_markdown(message.text);
  std::size_t keep = 0;
  if (!from_scratch) {
    while (keep < message.blocks.size() && keep < blocks.size() &&
           message.blocks[keep].block() == blocks[keep])
      ++keep;
  }
  message.blocks.erase(message.blocks.begin() + static_cast<std::ptrdiff_t>(keep), message.blocks.end());
  for (std::size_t i = keep; i < blocks.size(); ++i) {
    message.blocks.emplace_back(std::move(blocks[i]), width, style());
    ++layouts_made_;
  }
  message.tops.clear();
  qreal bottom = user ? kBubblePadding : 0;
  for (std::size_t i = 0; i < message.blocks.size(); ++i) {
    if (i > 0) bottom += message.blocks[i].gap_before(message.blocks[i - 1]);
    message.tops.push_back(bottom);
    bottom += message.blocks[i].height();
  }
  message.height = bottom + (user ? kBubblePadding : 0);
  if (message.blocks.empty()) message.height += fontMetrics().height();
  if (!message.note.isEmpty()) message.height += fontMetrics().height() + kNoteGap;
}

void TranscriptView::lay_out_all() {
  laid_out_width_ = text_width();
  for (Message& message : messages_) lay_out_message(message, true);
  update_positions();
}

void TranscriptView::update_positions() {
  qreal y = kMargin;
  for (Message& message : messages_) {
    message.y = y;
    y += message.height + kMessageGap;
  }
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(fontMetrics().height() * 2);
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(y)) - viewport()->height()));
  viewport()->update();
}

bool TranscriptView::at_bottom() const {
  return verticalScrollBar()->value() >= verticalScrollBar()->maximum() - fontMetrics().height();
}

void TranscriptView::scroll_to_bottom() {
  verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

QPointF TranscriptView::block_origin(const Message& message, int block) const {
  const qreal left = text_left() + (message.author == Author::user ? kBubblePadding : 0);
  const qreal top = message.tops.empty() ? 0 : message.tops[static_cast<std::size_t>(block)];
  return {left, message.y + top - verticalScrollBar()->value()};
}

// --- painting

void TranscriptView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (messages_.empty()) {
    painter.setPen(subtle_text(palette()));
    painter.drawText(QRectF(text_left(), 0, text_width(), viewport()->height()),
                     Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  const qreal top = verticalScrollBar()->value();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& message = messages_[i];
    if (message.y + message.height < top || message.y > top + viewport()->height()) continue;
    paint_message(painter, message, static_cast<int>(i));
  }
}

void TranscriptView::paint_message(QPainter& painter, const Message& message, int index) const {
  const qreal scroll = verticalScrollBar()->value();
  if (message.author == Author::user) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(user_bubble(palette()));
    const qreal note = message.note.isEmpty() ? 0 : fontMetrics().height() + kNoteGap;
    painter.drawRoundedRect(QRectF(text_left(), message.y - scroll, text_width(), message.height - note), 10,
                            10);
  }
  for (std::size_t b = 0; b < message.blocks.size(); ++b) {
    const QPointF origin = block_origin(message, static_cast<int>(b));
    if (origin.y() + message.blocks[b].height() >= 0 && origin.y() <= viewport()->height()) {
      message.blocks[b].paint(painter, origin, selection_in(index, static_cast<int>(b)));
    }
  }
  if (message.blocks.empty()) {
    painter.setPen(subtle_text(palette()));
    painter.drawText(block_origin(message, 0) + QPointF(0, fontMetrics().ascent()), QStringLiteral("…"));
  }
  if (!message.note.isEmpty()) {
    painter.setPen(subtle_text(palette()));
    const qreal bottom = message.y + message.height - scroll;
    painter.drawText(
        QRectF(text_left(), bottom - fontMetrics().height(), text_width(), fontMetrics().height()),
        Qt::AlignLeft | Qt::AlignVCenter, message.note);
  }
}

void TranscriptView::resizeEvent(QResizeEvent*) {
  const bool follow = at_bottom();
  if (text_width() != laid_out_width_) {
    lay_out_all();
  } else {
    update_positions();
  }
  if (follow) scroll_to_bottom();
}

void TranscriptView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) lay_out_all();
}

void TranscriptView::scrollContentsBy(int, int) {
  viewport()->update();
}

// --- selection

TranscriptView::Position TranscriptView::position_at(QPoint point) const {
  const qreal y = point.y() + verticalScrollBar()->value();
  Position position;
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    const Message& message = messages_[m];
    if (message.blocks.empty()) continue;
    if (position.message >= 0 && y < message.y) break;
    for (std::size_t b = 0; b < message.blocks.size(); ++b) {
      const QPointF origin = block_origin(message, static_cast<int>(b));
      if (position.message >= 0 && point.y() < origin.y()) return position;
      position = {static_cast<int>(m), static_cast<int>(b),
                  message.blocks[b].position_at(QPointF(point) - origin)};
    }
  }
  return position;
}

const BlockLayout* TranscriptView::block_at(QPoint point, QPointF* local) const {
  const Position position = position_at(point);
  if (position.message < 0) return nullptr;
  const Message& message = messages_[static_cast<std::size_t>(position.message)];
  *local = QPointF(point) - block_origin(message, position.block);
  return &message.blocks[static_cast<std::size_t>(position.block)];
}

TextRange TranscriptView::selection_in(int message, int block) const {
  const Position begin = std::min(anchor_, cursor_);
  const Position end = std::max(anchor_, cursor_);
  if (begin.message < 0 || begin == end) return {};
  const Position here{message, block, 0};
  const Position same_begin{begin.message, begin.block, 0};
  const Position same_end{end.message, end.block, 0};
  if (here < same_begin || here > same_end) return {};
  const int length = static_cast<int>(messages_[static_cast<std::size_t>(message)]
                                          .blocks[static_cast<std::size_t>(block)]
                                          .plain_text()
                                          .size());
  return {here == same_begin ? begin.offset : 0, here == same_end ? end.offset : length};
}

QString TranscriptView::selected_text() const {
  QStringList parts;
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    for (std::size_t b = 0; b < messages_[m].blocks.size(); ++b) {
      const TextRange range = selection_in(static_cast<int>(m), static_cast<int>(b));
      if (range.begin < range.end) {
        parts += messages_[m].blocks[b].plain_text().mid(range.begin, range.end - range.begin);
      }
    }
  }
  return parts.join(QStringLiteral("\n\n"));
}

void TranscriptView::copy_selection() {
  const QString text = selected_text();
  if (!text.isEmpty()) QApplication::clipboard()->setText(text);
}

void TranscriptView::select_all() {
  if (messages_.empty() || messages_.back().blocks.empty()) return;
  const Message& last = messages_.back();
  anchor_ = {0, 0, 0};
  cursor_ = {static_cast<int>(messages_.size()) - 1, static_cast<int>(last.blocks.size()) - 1,
             static_cast<int>(last.blocks.back().plain_text().size())};
  viewport()->update();
}

void TranscriptView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  anchor_ = cursor_ = position_at(event->pos());
  selecting_ = true;
  viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent* event) {
  if (selecting_) {
    const int step = verticalScrollBar()->singleStep();
    if (event->pos().y() < 0) verticalScrollBar()->setValue(verticalScrollBar()->value() - step);
    if (event->pos().y() > viewport()->height())
      verticalScrollBar()->setValue(verticalScrollBar()->value() + step);
    cursor_ = position_at(event->pos());
    viewport()->update();
    return;
  }
  QPointF local;
  const BlockLayout* block = block_at(event->pos(), &local);
  const bool pointing = block && (block->is_copy_button(local) || !block->link_at(local).isEmpty());
  viewport()->setCursor(pointing ? Qt::PointingHandCursor : Qt::IBeamCursor);
}

void TranscriptView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  selecting_ = false;
  if (anchor_ != cursor_) return;
  QPointF local;
  const BlockLayout* block = block_at(event->pos(), &local);
  if (!block) return;
  if (block->is_copy_button(local)) {
    QApplication::clipboard()->setText(block->plain_text());
  } else if (const QString link = block->link_at(local); !link.isEmpty()) {
    Q_EMIT linkActivated(link);
  }
}

void TranscriptView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  QAction* copy = menu.addAction(tr("Copy"), this, &TranscriptView::copy_selection);
  copy->setShortcut(QKeySequence::Copy);
  copy->setEnabled(!selected_text().isEmpty());
  const Position position = position_at(event->pos());
  if (position.message >= 0) {
    menu.addAction(tr("Copy message"), this, [this, position] {
      QApplication::clipboard()->setText(messages_[static_cast<std::size_t>(position.message)].text);
    });
  }
  menu.addAction(tr("Select all"), this, &TranscriptView::select_all)->setShortcut(QKeySequence::SelectAll);
  menu.exec(event->globalPos());
}

void TranscriptView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy_selection();
  } else if (event->matches(QKeySequence::SelectAll)) {
    select_all();
  } else if (event->key() == Qt::Key_Home || event->key() == Qt::Key_End) {
    verticalScrollBar()->setValue(event->key() == Qt::Key_Home ? 0 : verticalScrollBar()->maximum());
  } else {
    QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace fovea::ui
