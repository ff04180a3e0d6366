#include "ui/chat/transcript_view.h"

#include <QAccessible>
#include <QEvent>
#include <QFontDatabase>
#include <QPainter>
#include <QScrollBar>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <ranges>

#include "ui/chat/find_bar.h"
#include "ui/chat/screen_reader.h"
#include "ui/chat/token_lens.h"
#include "ui/chat/transcript_accessible.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int kFlushMs = 50;    // 20 layouts a second
constexpr int kSearchMs = 120;  // after the last key

}  // namespace

TranscriptView::TranscriptView(QWidget* parent)
    : QAbstractScrollArea(parent),
      lens_(new TokenLens(*this)),
      jump_(new QToolButton(this)),
      find_bar_(new FindBar(this)) {
  install_transcript_accessibility();
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Conversation"));
  viewport()->setMouseTracking(true);
  viewport()->setCursor(Qt::IBeamCursor);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  flush_timer_.setSingleShot(true);
  flush_timer_.setInterval(kFlushMs);
  connect(&flush_timer_, &QTimer::timeout, this, &TranscriptView::flush);
  search_timer_.setSingleShot(true);
  search_timer_.setInterval(kSearchMs);
  connect(&search_timer_, &QTimer::timeout, this, &TranscriptView::search);
  connect(find_bar_, &FindBar::textChanged, this, [this] { search_timer_.start(); });
  connect(find_bar_, &FindBar::nextRequested, this, &TranscriptView::find_next);
  connect(find_bar_, &FindBar::previousRequested, this, &TranscriptView::find_previous);
  connect(find_bar_, &FindBar::closed, this, [this] {
    found_.clear();
    found_current_ = -1;
    setFocus();
    viewport()->update();
  });
  connect(this, &TranscriptView::messagesChanged, this, [this] {
    if (!screen_reader_listens()) return;
    QAccessibleEvent event(this, QAccessible::ObjectReorder);
    tell_screen_reader(event);
  });
  connect(this, &TranscriptView::messageFocused, this, [this](int message) {
    if (!screen_reader_listens()) return;
    QAccessibleEvent event(this, QAccessible::Focus);
    event.setChild(message);
    tell_screen_reader(event);
  });
  make_jump_button();
  update_frame();
}

TranscriptView::~TranscriptView() = default;

// --- messages

// Whether positions in the text mean the same in these messages.
bool TranscriptView::goes_on_as(const std::vector<MessageView>& messages) const {
  return std::ranges::equal(messages, std::views::iota(0, conversation_.count()),
                            [this](const MessageView& after, int index) {
                              const MessageView& before = conversation_.at(index).view();
                              return after.id == before.id && after.text.startsWith(before.text);
                            });
}

// What stands now in the place of the message whose other branch was asked for; 0: there was none, or it did
// not come.
MessageId TranscriptView::other_branch_in(const std::vector<MessageView>& messages) const {
  const int index = conversation_.index_of(left_branch_);
  if (index < 0 || index >= std::ssize(messages)) return 0;
  const MessageView& before = conversation_.at(index).view();
  const MessageView& after = messages[static_cast<std::size_t>(index)];
  const bool same_path =
      index == 0 || conversation_.at(index - 1).view().id == messages[static_cast<std::size_t>(index) - 1].id;
  return same_path && after.id != before.id && after.sibling_count == before.sibling_count ? after.id : 0;
}

void TranscriptView::ask_for_branch(const MessageView& view, int delta) {
  const int wanted = view.sibling_index + delta;
  if (wanted < 0 || wanted >= view.sibling_count) return;
  left_branch_ = view.id;
  Q_EMIT siblingRequested(view.id, delta);
}

void TranscriptView::set_messages(std::vector<MessageView> messages) {
  const qreal scroll = verticalScrollBar()->value();
  // What is read: another branch from its beginning, where that of the one before was if it was in sight …
  MessageId kept = other_branch_in(messages);
  bool found = kept != 0;
  const int branch = found ? conversation_.index_of(left_branch_) : -1;
  const bool branch_has_focus = found && focused_ == branch;
  qreal offset = found ? std::max(0.0, conversation_.top_of(branch) - scroll) : 0;
  const bool follow = !found && at_bottom();
  // … else the first visible message that is still there afterwards.
  for (int i = conversation_.message_at(scroll); !found && i >= 0 && i < conversation_.count() &&
                                                 conversation_.top_of(i) < scroll + viewport()->height();
       ++i) {
    const MessageId id = conversation_.at(i).view().id;
    if (std::ranges::find(messages, id, &MessageView::id) == messages.end()) continue;
    kept = id;
    offset = conversation_.top_of(i) - scroll;
    found = true;
  }
  if (!goes_on_as(messages)) drop_positions();
  const int last = conversation_.count() - 1;
  const MessageId written =
      last >= 0 && conversation_.at(last).view().streaming ? conversation_.at(last).view().id : 0;
  pending_.clear();
  unsettled_ = false;
  conversation_.set_messages(std::move(messages));
  if (conversation_.index_of(left_branch_) < 0) left_branch_ = 0;
  if (branch_has_focus) focused_ = branch;
  if (found && !follow) {
    const qreal top = conversation_.top_of(conversation_.index_of(kept));
    settling_ = true;
    verticalScrollBar()->setRange(0, static_cast<int>(conversation_.height()));
    verticalScrollBar()->setValue(static_cast<int>(top - offset));
    settling_ = false;
  }
  settle_following(follow || !found);
  if (find_bar_->isVisible()) search_timer_.start();
  if (const int index = conversation_.index_of(written); index >= 0) announce(index);
  Q_EMIT messagesChanged();
}

void TranscriptView::clear() {
  set_messages({});
}

void TranscriptView::append_to(MessageId id, const QString& text) {
  const int index = conversation_.index_of(id);
  if (index < 0 || text.isEmpty()) return;
  pending_[id] += text;
  unsettled_ = true;
  if (!flush_timer_.isActive()) flush_timer_.start();
}

const MessageView* TranscriptView::message(MessageId id) const {
  const_cast<TranscriptView*>(this)->take_pending();
  const int index = conversation_.index_of(id);
  return index < 0 ? nullptr : &conversation_.at(index).view();
}

void TranscriptView::set_empty_text(const QString& text) {
  empty_text_ = text;
  viewport()->update();
}

QString TranscriptView::message_text(int index) const {
  const_cast<TranscriptView*>(this)->take_pending();
  return index >= 0 && index < conversation_.count() ? conversation_.at(index).view().text : QString();
}

QString TranscriptView::plain_text(int index) {
  take_pending();
  return conversation_.at(index).text();
}

// Puts what arrived into its messages; it is parsed here, but not laid out.
void TranscriptView::take_pending() {
  for (auto arrived = pending_.cbegin(); arrived != pending_.cend(); ++arrived) {
    const int index = conversation_.index_of(arrived.key());
    if (index >= 0) conversation_.append_to(index, arrived.value());
  }
  pending_.clear();
}

void TranscriptView::flush() {
  if (!unsettled_) return;
  unsettled_ = false;
  const bool follow = at_bottom();
  take_pending();
  settle_following(follow);
  if (find_bar_->isVisible() && !search_timer_.isActive()) search_timer_.start();
  if (conversation_.count() > 0) announce(conversation_.count() - 1);
}

// --- geometry

void TranscriptView::update_frame() {
  LayoutStyle style;
  style.body = type_of(font(), Type::text);
  style.mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  style.mono.setPointSizeF(style.body.pointSizeF() * 0.92);
  style.palette = palette();
  const QFontMetricsF metrics(style.body);
  const qreal room = width() - 2 * conversation_margin;
  conversation_.set_frame(style,
                          std::max(std::floor(std::min<qreal>(room, widest_column())), 6 * metrics.height()));
}

// With larger text as many letters in a line.
int TranscriptView::widest_column() const {
  const QFontInfo body(type_of(font(), Type::text));
  return static_cast<int>(std::lround(conversation_width * std::max(1.0, body.pixelSize() / 15.0)));
}

// Below what is written, whether or not there is something to scroll: the bar stands in the margin.
qreal TranscriptView::column_left() const {
  const Frame& frame = conversation_.frame();
  return std::max(std::round((width() - frame.column) / 2), std::round(0.5 * frame.em)) - viewport()->x();
}

QPointF TranscriptView::origin_of(int index) {
  return {column_left(), conversation_.top_of(index) - verticalScrollBar()->value()};
}

QRect TranscriptView::rect_of_message(int index) {
  return QRectF(origin_of(index),
                QSizeF(conversation_.frame().column, conversation_.at(index).height(conversation_.frame())))
      .toRect();
}

QRect TranscriptView::rect_of_text(TextPosition position) {
  return conversation_.at(position.message)
      .cursor_at(conversation_.frame(), position.offset)
      .translated(origin_of(position.message))
      .toRect();
}

bool TranscriptView::at_bottom() const {
  return verticalScrollBar()->value() >= verticalScrollBar()->maximum() - fontMetrics().height();
}

// Lays out what is visible and sets the scroll bar to what came out of it. The bar may come or go by that,
// which changes the width: then once more.
void TranscriptView::settle(Stick stick) {
  if (settling_) return;
  settling_ = true;
  QScrollBar* bar = verticalScrollBar();
  for (int round = 0; round < 3; ++round) {
    const int generation = conversation_.frame().generation;
    const int visible = viewport()->height();
    const qreal scroll = conversation_.settle(bar->value(), visible, stick);
    const int most = std::max(0, static_cast<int>(std::ceil(conversation_.height())) - visible);
    bar->setPageStep(visible);
    bar->setSingleStep(std::max(1, fontMetrics().height() * 2));
    bar->setRange(0, most);
    bar->setValue(stick == Stick::bottom ? most : static_cast<int>(scroll));
    if (conversation_.frame().generation == generation) break;
  }
  settling_ = false;
  update_jump_button();
  viewport()->update();
}

// It takes no part in the Tab order: End does the same.
void TranscriptView::make_jump_button() {
  jump_->setObjectName(QStringLiteral("jumpToLatest"));
  jump_->setText(tr("Newest"));
  jump_->setIcon(icon_of(Glyph::latest));
  jump_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  jump_->setToolTip(tr("Go to the newest text and follow it (End)"));
  jump_->setFocusPolicy(Qt::NoFocus);
  jump_->setAutoRaise(false);
  jump_->hide();
  connect(jump_, &QToolButton::clicked, this, &TranscriptView::jump_to_latest);
}

void TranscriptView::jump_to_latest() {
  settle(Stick::bottom);
}

void TranscriptView::update_jump_button() {
  jump_->setVisible(conversation_.count() > 0 && !at_bottom());
  if (jump_->isHidden()) return;
  jump_->adjustSize();
  const QRect area = viewport()->geometry();
  const int gap = fontMetrics().height() / 2;
  jump_->move(area.center().x() - jump_->width() / 2, area.bottom() - jump_->height() - gap);
}

void TranscriptView::scrollContentsBy(int, int) {
  if (settling_) return;
  const QScrollBar* bar = verticalScrollBar();
  settle(bar->value() <= 0 ? Stick::top : bar->value() >= bar->maximum() ? Stick::bottom : Stick::reading);
}

void TranscriptView::scroll_to_message(MessageId id) {
  const int index = conversation_.index_of(id);
  if (index >= 0) verticalScrollBar()->setValue(static_cast<int>(conversation_.top_of(index)));
}

void TranscriptView::resizeEvent(QResizeEvent*) {
  const bool follow = at_bottom();
  update_frame();
  settle_following(follow);
  place_find_bar();
}

void TranscriptView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange ||
      event->type() == QEvent::StyleChange) {
    const bool follow = at_bottom();
    update_frame();
    settle_following(follow);
  }
}

// --- painting

MessageMarks TranscriptView::marks_for(int index) const {
  MessageMarks marks;
  marks.selected = selection_in(index);
  const auto [first, last] = std::ranges::equal_range(found_, index, {}, &Found::message);
  for (auto found = first; found != last; ++found) {
    if (found - found_.begin() == found_current_) marks.current = static_cast<int>(marks.found.size());
    marks.found.push_back(found->range);
  }
  marks.focused = hasFocus() && index == focused_;
  marks.show_actions = index == hovered_ || marks.focused;
  if (index == hovered_ && hovered_control_) marks.hovered = &*hovered_control_;
  if (marks.focused && focused_control_) marks.focused_control = &*focused_control_;
  return marks;
}

void TranscriptView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (conversation_.count() == 0) {
    painter.setPen(subtle_text(palette()));
    painter.setFont(conversation_.frame().style.body);
    painter.drawText(QRectF(column_left(), 0, conversation_.frame().column, viewport()->height()),
                     Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  paint_messages(painter);
}

void TranscriptView::paint_messages(QPainter& painter) {
  const qreal scroll = verticalScrollBar()->value();
  const qreal bottom = scroll + viewport()->height();
  for (int i = conversation_.message_at(scroll);
       i < conversation_.count() && conversation_.top_of(i) < bottom; ++i) {
    const QPointF origin = origin_of(i);
    const MessageMarks marks = marks_for(i);
    if (marks.focused && !marks.focused_control) paint_focus(painter, i);
    conversation_.at(i).paint(painter, conversation_.frame(), origin, -origin.y(),
                              viewport()->height() - origin.y(), marks);
    lens_->paint(painter, i);
  }
}

void TranscriptView::paint_focus(QPainter& painter, int index) {
  const qreal em = conversation_.frame().em;
  const QRectF row = QRectF(rect_of_message(index)).adjusted(-0.6 * em, -0.25 * em, 0.6 * em, -0.15 * em);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(palette().color(QPalette::Highlight), std::max(1.5, em / 10)));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(row, 0.5 * em, 0.5 * em);
  painter.restore();
}

// --- screen readers

// New text is told sentence by sentence, so that it does not interrupt itself.
void TranscriptView::announce(int index) {
  const MessageView& view = conversation_.at(index).view();
  if (!screen_reader_listens() || view.author != Author::assistant) return;
  const QString& text = conversation_.at(index).text();
  if (announced_id_ != view.id) {
    announced_id_ = view.id;
    announced_ = 0;
  }
  int end = static_cast<int>(text.size());
  while (view.streaming && end > announced_ && !QStringLiteral(".!?\n。！？").contains(text[end - 1])) --end;
  if (end <= announced_) return;
  announce_text(*this, index, announced_, text.mid(announced_, end - announced_));
  announced_ = end;
}

}  // namespace fovea::ui
