// The keyboard in the transcript.
#include <QKeyEvent>
#include <QScrollBar>
#include <QTextBoundaryFinder>
#include <algorithm>

#include "ui/chat/find_bar.h"
#include "ui/chat/transcript_view.h"

namespace fovea::ui {
namespace {

int step(const QString& text, int offset, bool forward, bool word) {
  QTextBoundaryFinder finder(word ? QTextBoundaryFinder::Word : QTextBoundaryFinder::Grapheme, text);
  finder.setPosition(offset);
  qsizetype next = forward ? finder.toNextBoundary() : finder.toPreviousBoundary();
  while (word && next >= 0 && next < text.size() && text[next].isSpace() && next > 0) {
    next = forward ? finder.toNextBoundary() : finder.toPreviousBoundary();
  }
  return static_cast<int>(next);
}

}  // namespace

// The window may have shortcuts of its own for these keys; here they belong to the transcript.
bool TranscriptView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Copy) || key->matches(QKeySequence::SelectAll) ||
        key->matches(QKeySequence::Find) || key->matches(QKeySequence::FindNext) ||
        key->matches(QKeySequence::FindPrevious)) {
      event->accept();
      return true;
    }
  }
  return QAbstractScrollArea::event(event);
}

void TranscriptView::keyPressEvent(QKeyEvent* event) {
  const Qt::KeyboardModifiers control_shift = Qt::ControlModifier | Qt::ShiftModifier;
  if (event->matches(QKeySequence::Copy)) {
    copy_selection();
  } else if (event->key() == Qt::Key_C && event->modifiers() == control_shift) {
    copy_selection_as_markdown();
  } else if (event->matches(QKeySequence::SelectAll)) {
    select_all();
  } else if (event->matches(QKeySequence::Find)) {
    open_find();
  } else if (event->matches(QKeySequence::FindNext)) {
    find_bar_->isVisible() ? find_next() : open_find();
  } else if (event->matches(QKeySequence::FindPrevious)) {
    find_bar_->isVisible() ? find_previous() : open_find();
  } else if (!focus_by_key(*event) && !select_by_key(*event) && !scroll_by_key(*event)) {
    QAbstractScrollArea::keyPressEvent(event);
  }
}

bool TranscriptView::scroll_by_key(const QKeyEvent& event) {
  QScrollBar* bar = verticalScrollBar();
  const bool shift = event.modifiers() & Qt::ShiftModifier;
  switch (event.key()) {
    case Qt::Key_Home:
      bar->setValue(0);
      settle(Stick::top);
      return true;
    case Qt::Key_End:
      settle(Stick::bottom);
      return true;
    case Qt::Key_Up:
      bar->setValue(bar->value() - bar->singleStep());
      return true;
    case Qt::Key_Down:
      bar->setValue(bar->value() + bar->singleStep());
      return true;
    case Qt::Key_PageUp:
      bar->setValue(bar->value() - bar->pageStep() + bar->singleStep());
      return true;
    case Qt::Key_PageDown:
      bar->setValue(bar->value() + bar->pageStep() - bar->singleStep());
      return true;
    case Qt::Key_Space:
      bar->setValue(bar->value() + (shift ? -1 : 1) * (bar->pageStep() - bar->singleStep()));
      return true;
    default:
      return false;
  }
}

TextPosition TranscriptView::moved(TextPosition from, const QKeyEvent& event) {
  const bool word = event.modifiers() & Qt::ControlModifier;
  const QString& text = conversation_.at(from.message).text();
  const int length = static_cast<int>(text.size());
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const bool forward = event.key() == Qt::Key_Right;
      const int next = step(text, from.offset, forward, word);
      if (next >= 0) {
        const TextRange formula = conversation_.at(from.message).formula_around(next);
        return {from.message, forward ? formula.end : formula.begin};
      }
      if (forward && from.message + 1 < conversation_.count()) return {from.message + 1, 0};
      if (!forward && from.message > 0) {
        return {from.message - 1, static_cast<int>(conversation_.at(from.message - 1).text().size())};
      }
      return from;
    }
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const QRect rect = rect_of_text(from);
      if (wanted_x_ < 0) wanted_x_ = rect.left();
      const bool down = event.key() == Qt::Key_Down;
      // Over the gap between blocks: a little further each time until the place changes.
      for (int gap = rect.height() / 2; gap < 8 * rect.height(); gap += std::max(1, rect.height() / 3)) {
        const int y = down ? rect.bottom() + gap : rect.top() - gap;
        const TextPosition next = position_at({static_cast<int>(wanted_x_), y});
        if (next != from && (next > from) == down) return next;
      }
      return from;
    }
    case Qt::Key_Home:
      return {word ? 0 : from.message, 0};
    case Qt::Key_End:
      if (!word) return {from.message, length};
      return {conversation_.count() - 1,
              static_cast<int>(conversation_.at(conversation_.count() - 1).text().size())};
    default:
      return from;
  }
}

bool TranscriptView::select_by_key(const QKeyEvent& event) {
  static constexpr int kKeys[] = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,
                                  Qt::Key_Down, Qt::Key_Home,  Qt::Key_End};
  if (!(event.modifiers() & Qt::ShiftModifier) || std::ranges::find(kKeys, event.key()) == std::end(kKeys)) {
    return false;
  }
  if (conversation_.count() == 0) return true;
  if (cursor_.message < 0) {
    anchor_ = cursor_ = focused_ >= 0 ? TextPosition{focused_, 0} : position_at({0, 0});
  }
  const bool vertical = event.key() == Qt::Key_Up || event.key() == Qt::Key_Down;
  if (!vertical) wanted_x_ = -1;
  select(anchor_, moved(cursor_, event));
  scroll_into_view(rect_of_text(cursor_));
  return true;
}

bool TranscriptView::focus_by_key(const QKeyEvent& event) {
  const bool plain_key = (event.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
  const bool control_key =
      event.modifiers() & Qt::ControlModifier && !(event.modifiers() & Qt::ShiftModifier);
  if (control_key && (event.key() == Qt::Key_Up || event.key() == Qt::Key_Down)) {
    move_message_focus(event.key() == Qt::Key_Down ? 1 : -1);
    return true;
  }
  if (event.key() == Qt::Key_Escape && plain_key) {
    if (focused_control_) {
      focused_control_.reset();
    } else if (has_selection()) {
      clear_selection();
    } else if (focused_ >= 0) {
      focused_ = -1;
    } else {
      return false;
    }
    viewport()->update();
    return true;
  }
  if (focused_ < 0 || !plain_key) return false;
  const bool press =
      event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter || event.key() == Qt::Key_Space;
  if (press && focused_control_) {
    const Control control = *focused_control_;
    activate(focused_, control);
    return true;
  }
  const bool sideways = event.key() == Qt::Key_Left || event.key() == Qt::Key_Right;
  const MessageView& view = conversation_.at(focused_).view();
  if (sideways && view.sibling_count > 1) {
    ask_for_branch(view, event.key() == Qt::Key_Right ? 1 : -1);
    return true;
  }
  return false;
}

void TranscriptView::focus_message(int index) {
  if (index < 0 || index >= conversation_.count()) return;
  focused_ = index;
  focused_control_.reset();
  scroll_into_view(rect_of_message(index));
  viewport()->update();
  Q_EMIT messageFocused(index);
}

void TranscriptView::move_message_focus(int delta) {
  if (conversation_.count() == 0) return;
  const int from = focused_ >= 0 ? focused_ + delta : conversation_.message_at(verticalScrollBar()->value());
  focus_message(std::clamp(from, 0, conversation_.count() - 1));
}

bool TranscriptView::move_control_focus(int delta) {
  std::vector<Control> controls = controls_of(focused_);
  std::erase_if(controls, [](const Control& control) { return control.again; });
  if (controls.empty()) return false;
  int index = -1;
  if (focused_control_) {
    const auto here =
        std::ranges::find_if(controls, [this](const Control& c) { return c.same_as(*focused_control_); });
    index = here == controls.end() ? -1 : static_cast<int>(here - controls.begin());
  }
  const int next = index < 0 ? (delta > 0 ? 0 : static_cast<int>(controls.size()) - 1) : index + delta;
  if (index < 0 && delta < 0 && !focused_control_) return false;  // backwards from the message: out
  if (next < 0 || next >= static_cast<int>(controls.size())) {
    focused_control_.reset();
    return next < 0;  // back to the message itself
  }
  focused_control_ = controls[static_cast<std::size_t>(next)];
  scroll_into_view(focused_control_->area.translated(origin_of(focused_)));
  return true;
}

bool TranscriptView::focusNextPrevChild(bool next) {
  if (hasFocus() && focused_ >= 0 && move_control_focus(next ? 1 : -1)) {
    viewport()->update();
    return true;
  }
  return QAbstractScrollArea::focusNextPrevChild(next);
}

void TranscriptView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  const bool by_key = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
  if (by_key && focused_ < 0 && conversation_.count() > 0) {
    // The last message that is seen: usually the answer.
    focused_ = conversation_.message_at(verticalScrollBar()->value() + viewport()->height() - 1);
    focused_control_.reset();
  }
  viewport()->update();
}

void TranscriptView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

// The whole area if there is room for it, else its top.
void TranscriptView::scroll_into_view(const QRectF& area) {
  QScrollBar* bar = verticalScrollBar();
  const qreal air = conversation_.frame().em;
  const qreal room = viewport()->height();
  if (area.top() < air || area.height() + 2 * air > room) {
    if (area.top() < air || area.top() > room / 2)
      bar->setValue(bar->value() + static_cast<int>(area.top() - air));
  } else if (area.bottom() > room - air) {
    bar->setValue(bar->value() + static_cast<int>(area.bottom() - room + air));
  }
}

}  // namespace fovea::ui
