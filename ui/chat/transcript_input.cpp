// The mouse in the transcript, and what its controls do.
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QScrollBar>
#include <QTextBoundaryFinder>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/chat/find_bar.h"
#include "ui/chat/transcript_view.h"

namespace fovea::ui {
namespace {

constexpr int kAutoscrollMs = 30;

// The word, or the space, around an offset.
TextRange word_around(const QString& text, int offset) {
  QTextBoundaryFinder finder(QTextBoundaryFinder::Word, text);
  finder.setPosition(std::min(offset + 1, static_cast<int>(text.size())));
  const int begin = static_cast<int>(std::max<qsizetype>(0, finder.toPreviousBoundary()));
  finder.setPosition(begin);
  const int end = static_cast<int>(finder.toNextBoundary());
  return {begin, end < 0 ? static_cast<int>(text.size()) : end};
}

}  // namespace

// --- controls

std::vector<Control> TranscriptView::controls_of(int index) {
  return conversation_.at(index).controls(conversation_.frame());
}

std::optional<Control> TranscriptView::control_at(QPoint point, int* message) {
  *message = -1;
  const int index = conversation_.message_at(point.y() + verticalScrollBar()->value());
  if (index < 0) return std::nullopt;
  if (rect_of_message(index).top() <= point.y() && point.y() <= rect_of_message(index).bottom())
    *message = index;
  const QPointF local = QPointF(point) - origin_of(index);
  for (const Control& control : controls_of(index)) {
    if (control.area.contains(local)) return control;
  }
  return std::nullopt;
}

void TranscriptView::activate(int index, const Control& control) {
  MessageLayout& message = conversation_.at(index);
  const MessageId id = message.view().id;
  switch (control.kind) {
    case Control::Kind::fold: {
      clear_selection();
      message.toggle_fold(control.block);
      conversation_.changed();
      settle(Stick::reading);
      if (find_bar_->isVisible()) search_timer_.start();
      break;
    }
    case Control::Kind::copy_code:
      QApplication::clipboard()->setText(message.code_of(control.block));
      QToolTip::showText(QCursor::pos(), tr("Copied"), viewport());
      break;
    case Control::Kind::link:
      Q_EMIT linkActivated(control.address);
      break;
    case Control::Kind::previous:
      ask_for_branch(message.view(), -1);
      break;
    case Control::Kind::next:
      ask_for_branch(message.view(), +1);
      break;
    case Control::Kind::action:
      if (control.action == MessageAction::copy) {
        QApplication::clipboard()->setText(message_text(index));
        QToolTip::showText(QCursor::pos(), tr("Copied"), viewport());
      } else if (control.action == MessageAction::facts) {
        message.toggle_facts();
        conversation_.changed();
        settle(Stick::reading);
      } else {
        Q_EMIT messageActionRequested(id, control.action);
      }
      break;
  }
}

void TranscriptView::update_hover(QPoint point) {
  int message = -1;
  std::optional<Control> control = control_at(point, &message);
  const bool same_control = control.has_value() == hovered_control_.has_value() &&
                            (!control || control->same_as(*hovered_control_));
  if (message == hovered_ && same_control) return;
  hovered_ = message;
  hovered_control_ = std::move(control);
  viewport()->setCursor(hovered_control_ ? Qt::PointingHandCursor : Qt::IBeamCursor);
  viewport()->update();
}

bool TranscriptView::show_tooltip(const QPoint& point, const QPoint& global) {
  int index = -1;
  const std::optional<Control> control = control_at(point, &index);
  if (index < 0) return false;
  const MessageView& view = conversation_.at(index).view();
  if (control) {
    QToolTip::showText(global, MessageLayout::name_of(*control, view).toHtmlEscaped(), viewport(),
                       control->area.translated(origin_of(index)).toRect());
    return true;
  }
  const QRectF text =
      conversation_.at(index).area_of_text(conversation_.frame()).translated(origin_of(index));
  const bool outside = point.y() > text.bottom() || point.y() < text.top();
  QStringList lines;
  if (!view.note.isEmpty()) lines += view.note;
  for (const MessageFact& fact : view.facts) lines += tr("%1: %2").arg(fact.name, fact.value);
  if (view.facts.empty() && !view.details.isEmpty()) lines += view.details;
  if (!outside || lines.isEmpty()) return false;
  QToolTip::showText(global, lines.join(QLatin1Char('\n')), viewport());
  return true;
}

bool TranscriptView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (!show_tooltip(help->pos(), help->globalPos())) QToolTip::hideText();
    return true;
  }
  if (event->type() == QEvent::Leave) {
    hovered_ = -1;
    hovered_control_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

// --- mouse

TextPosition TranscriptView::position_at(QPoint point) {
  const int index = conversation_.message_at(point.y() + verticalScrollBar()->value());
  if (index < 0) return {};
  return {index,
          conversation_.at(index).position_at(conversation_.frame(), QPointF(point) - origin_of(index))};
}

void TranscriptView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_control_ = control_at(event->pos(), &pressed_);
  focused_control_.reset();
  focused_ = -1;
  wanted_x_ = -1;
  const bool extends = event->modifiers() & Qt::ShiftModifier && anchor_.message >= 0;
  const TextPosition position = position_at(event->pos());
  if (!extends) anchor_ = position;
  cursor_ = position;
  selecting_ = true;
  last_mouse_ = event->pos();
  viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent* event) {
  last_mouse_ = event->pos();
  if (!selecting_) {
    update_hover(event->pos());
    return;
  }
  const bool outside = event->pos().y() < 0 || event->pos().y() > viewport()->height();
  if (outside && !autoscroll_.isActive()) autoscroll_.start(kAutoscrollMs, this);
  if (!outside) autoscroll_.stop();
  cursor_ = position_at(event->pos());
  viewport()->update();
}

void TranscriptView::timerEvent(QTimerEvent* event) {
  if (event->timerId() != autoscroll_.timerId()) {
    QAbstractScrollArea::timerEvent(event);
    return;
  }
  const int beyond =
      last_mouse_.y() < 0 ? last_mouse_.y() : std::max(0, last_mouse_.y() - viewport()->height());
  verticalScrollBar()->setValue(verticalScrollBar()->value() + std::clamp(beyond, -80, 80));
  cursor_ = position_at(last_mouse_);
  viewport()->update();
}

void TranscriptView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  autoscroll_.stop();
  selecting_ = false;
  const std::optional<Control> pressed = std::exchange(pressed_control_, std::nullopt);
  if (has_selection()) {
    select(anchor_, cursor_);
    if (!pressed) return;
  }
  int message = -1;
  const std::optional<Control> control = control_at(event->pos(), &message);
  if (control && pressed && message == pressed_ && control->same_as(*pressed)) {
    // A drag that began and ended in a link selects a part of it.
    if (control->kind == Control::Kind::link && has_selection()) return;
    clear_selection();
    activate(message, *control);
  }
  update_hover(event->pos());
}

void TranscriptView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  int message = -1;
  if (control_at(event->pos(), &message)) {
    mousePressEvent(event);
    return;
  }
  const TextPosition position = position_at(event->pos());
  if (position.message < 0) return;
  MessageLayout& layout = conversation_.at(position.message);
  TextRange word = word_around(layout.text(), position.offset);
  // The right half of a formula is nearest to its end.
  const TextRange formula = layout.formula_around(position.offset - 1);
  const bool on_formula = formula.end == position.offset && event->pos().x() < rect_of_text(position).left();
  if (!formula.empty() && on_formula) {
    word = formula;
  } else {
    word = {layout.formula_around(word.begin).begin, layout.formula_around(word.end).end};
  }
  select({position.message, word.begin}, {position.message, word.end});
}

void TranscriptView::contextMenuEvent(QContextMenuEvent* event) {
  int message = -1;
  if (event->reason() == QContextMenuEvent::Keyboard) {
    if (focused_ < 0) focus_message(conversation_.message_at(verticalScrollBar()->value()));
    const QRect rect = focused_ < 0 ? viewport()->rect() : rect_of_message(focused_) & viewport()->rect();
    show_menu(viewport()->mapToGlobal(rect.center()), focused_, focused_control_);
    return;
  }
  const std::optional<Control> control = control_at(viewport()->mapFromGlobal(event->globalPos()), &message);
  show_menu(event->globalPos(), message, control);
}

void TranscriptView::show_menu(QPoint global, int message, const std::optional<Control>& control) {
  QMenu menu(this);
  const auto add = [&menu](const QString& text, const QKeySequence& key, auto&& run) {
    QAction* action = menu.addAction(text, run);
    action->setShortcut(key);
    return action;
  };
  add(tr("Copy"), QKeySequence::Copy, [this] { copy_selection(); })->setEnabled(has_selection());
  add(tr("Copy as Markdown"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), [this] {
    copy_selection_as_markdown();
  })->setEnabled(has_selection());
  if (control && control->kind == Control::Kind::link) {
    add(tr("Copy the link's address"), {},
        [address = control->address] { QApplication::clipboard()->setText(address); });
  }
  if (message >= 0) {
    menu.addSeparator();
    const MessageId id = conversation_.at(message).view().id;
    for (const Control& each : controls_of(message)) {
      if (each.kind != Control::Kind::action && each.kind != Control::Kind::previous &&
          each.kind != Control::Kind::next) {
        continue;
      }
      add(MessageLayout::name_of(each, conversation_.at(message).view()), {}, [this, id, each] {
        if (const int index = conversation_.index_of(id); index >= 0) activate(index, each);
      });
    }
  }
  menu.addSeparator();
  add(tr("Select all"), QKeySequence::SelectAll, [this] { select_all(); });
  add(tr("Find…"), QKeySequence::Find, [this] { open_find(); });
  menu.exec(global);
}

}  // namespace fovea::ui
