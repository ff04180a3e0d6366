#include "ui/chat/transcript_accessible.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QHash>
#include <algorithm>
#include <cstdlib>

#include "ui/chat/find_bar.h"
#include "ui/chat/screen_reader.h"
#include "ui/chat/transcript_view.h"

namespace fovea::ui {
namespace {

QRect to_global(const TranscriptView& view, const QRect& rect) {
  return {view.viewport()->mapToGlobal(rect.topLeft()), rect.size()};
}

// A button or a link in a message.
class ControlAccessible : public QAccessibleInterface, public QAccessibleActionInterface {
 public:
  ControlAccessible(TranscriptView& view, MessageId message, Control control)
      : view_(view), message_(message), control_(std::move(control)) {}

  const Control& control() const { return control_; }
  void move_to(const QRectF& area) { control_.area = area; }

  bool isValid() const override { return index() >= 0; }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* parent() const override {
    QAccessibleInterface* view = QAccessible::queryAccessibleInterface(&view_);
    return view ? view->child(index()) : nullptr;
  }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QAccessible::Role role() const override {
    return control_.kind == Control::Kind::link ? QAccessible::Link : QAccessible::Button;
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.focusable = true;
    state.linked = control_.kind == Control::Kind::link;
    if (control_.kind == Control::Kind::fold && isValid()) {
      state.expandable = true;
      const bool folded = view_.conversation().at(index()).is_folded(control_.block);
      state.collapsed = folded;
      state.expanded = !folded;
    }
    return state;
  }
  QRect rect() const override {
    if (!isValid()) return {};
    return to_global(view_, control_.area.translated(view_.rect_of_message(index()).topLeft()).toRect());
  }
  QString text(QAccessible::Text kind) const override {
    if (!isValid()) return {};
    MessageLayout& message = view_.conversation().at(index());
    if (kind == QAccessible::Name && control_.kind == Control::Kind::link) {
      const QString shown = link_text(message);
      return shown.isEmpty() ? control_.address : shown;
    }
    if (kind == QAccessible::Name && control_.kind == Control::Kind::fold)
      return message.fold_label(control_.block);
    if (kind == QAccessible::Name) return MessageLayout::name_of(control_, message.view());
    if (kind == QAccessible::Description && control_.kind == Control::Kind::link) return control_.address;
    return {};
  }
  void setText(QAccessible::Text, const QString&) override {}

  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this) : nullptr;
  }
  QStringList actionNames() const override { return {pressAction()}; }
  void doAction(const QString& action) override {
    if (action == pressAction() && isValid()) view_.activate(index(), control_);
  }
  QStringList keyBindingsForAction(const QString&) const override { return {}; }

 private:
  int index() const { return view_.conversation().index_of(message_); }
  QString link_text(MessageLayout& message) const {
    const std::vector<Block>& blocks = message.blocks();
    if (control_.block >= blocks.size()) return {};
    return blocks[control_.block].content.text.mid(control_.text.begin,
                                                   control_.text.end - control_.text.begin);
  }

  TranscriptView& view_;
  MessageId message_;
  Control control_;
};

class MessageAccessible : public QAccessibleInterface, public QAccessibleTextInterface {
 public:
  MessageAccessible(TranscriptView& view, MessageId id) : view_(view), id_(id) {}
  ~MessageAccessible() override { forget_children(); }

  int index() const { return view_.conversation().index_of(id_); }

  bool isValid() const override { return index() >= 0; }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(&view_); }
  int childCount() const override { return static_cast<int>(controls().size()); }
  QAccessibleInterface* child(int which) const override {
    refresh_children();
    if (which < 0 || which >= static_cast<int>(children_.size())) return nullptr;
    return QAccessible::accessibleInterface(children_[static_cast<std::size_t>(which)]);
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (this->child(i) == child) return i;
    }
    return -1;
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (child(i)->rect().contains(x, y)) return child(i);
    }
    return nullptr;
  }
  QAccessible::Role role() const override { return QAccessible::Section; }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.focusable = state.readOnly = state.multiLine = state.selectableText = true;
    if (!isValid()) return state;
    state.focused = view_.hasFocus() && view_.focused_message() == index();
    state.busy = layout().view().streaming;
    state.offscreen = !view_.rect_of_message(index()).intersects(view_.viewport()->rect());
    return state;
  }
  QRect rect() const override {
    return isValid() ? to_global(view_, view_.rect_of_message(index())) : QRect();
  }
  QString text(QAccessible::Text kind) const override {
    if (!isValid()) return {};
    const MessageView& message = layout().view();
    switch (kind) {
      case QAccessible::Name:
        if (message.sibling_count < 2) return layout().author_label();
        return TranscriptView::tr("%1, version %2 of %3")
            .arg(layout().author_label())
            .arg(message.sibling_index + 1)
            .arg(message.sibling_count);
      case QAccessible::Description: {
        QStringList parts;
        if (!message.note.isEmpty()) parts += message.note;
        if (!message.details.isEmpty()) parts += message.details;
        if (layout().shows_facts())
          for (const MessageFact& fact : message.facts)
            parts += TranscriptView::tr("%1: %2").arg(fact.name, fact.value);
        return parts.join(QStringLiteral(". "));
      }
      case QAccessible::Value:
        return layout().text();
      default:
        return {};
    }
  }
  void setText(QAccessible::Text, const QString&) override {}
  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::TextInterface ? static_cast<QAccessibleTextInterface*>(this) : nullptr;
  }

  void selection(int, int* start, int* end) const override {
    *start = *end = 0;
    if (selectionCount() == 0) return;
    const int here = index();
    const TextPosition first = view_.selection_begin();
    const TextPosition last = view_.selection_end();
    *start = first.message == here ? first.offset : 0;
    *end = last.message == here ? last.offset : characterCount();
  }
  int selectionCount() const override {
    const int here = index();
    return view_.has_selection() && view_.selection_begin().message <= here &&
                   here <= view_.selection_end().message
               ? 1
               : 0;
  }
  void addSelection(int start, int end) override { setSelection(0, start, end); }
  void removeSelection(int) override { view_.select({}, {}); }
  void setSelection(int, int start, int end) override {
    if (isValid()) view_.select({index(), bound(start)}, {index(), bound(end)});
  }
  int cursorPosition() const override {
    return view_.cursor().message == index() ? view_.cursor().offset : 0;
  }
  void setCursorPosition(int position) override { setSelection(0, position, position); }
  QString text(int start, int end) const override {
    return isValid() ? layout().text().mid(start, end < 0 ? -1 : end - start) : QString();
  }
  int characterCount() const override { return isValid() ? layout().text_length() : 0; }
  QRect characterRect(int offset) const override {
    if (!isValid()) return {};
    const QRect here = view_.rect_of_text({index(), bound(offset)});
    const QRect next = view_.rect_of_text({index(), bound(offset + 1)});
    const int width = next.top() == here.top() ? std::abs(next.left() - here.left()) : here.height() / 2;
    return to_global(view_, {std::min(here.left(), next.top() == here.top() ? next.left() : here.left()),
                             here.top(), std::max(1, width), here.height()});
  }
  int offsetAtPoint(const QPoint& point) const override {
    const TextPosition position = view_.position_at(view_.viewport()->mapFromGlobal(point));
    return position.message == index() ? position.offset : -1;
  }
  void scrollToSubstring(int start, int) override {
    if (isValid()) view_.show_text({index(), bound(start)});
  }
  QString attributes(int, int* start, int* end) const override {
    *start = 0;
    *end = characterCount();
    return {};
  }

 private:
  MessageLayout& layout() const { return view_.conversation().at(index()); }
  int bound(int offset) const { return std::clamp(offset, 0, characterCount()); }
  std::vector<Control> controls() const {
    if (!isValid()) return {};
    std::vector<Control> all = view_.controls_of(index());
    std::erase_if(all, [](const Control& control) { return control.again; });
    return all;
  }

  static ControlAccessible* control_of(QAccessible::Id id) {
    return static_cast<ControlAccessible*>(QAccessible::accessibleInterface(id));
  }
  void forget_children() const {
    for (const QAccessible::Id id : children_) QAccessible::deleteAccessibleInterface(id);
    children_.clear();
  }
  // Children stay the same objects while the message keeps its controls.
  void refresh_children() const {
    const std::vector<Control> now = controls();
    bool same = now.size() == children_.size();
    for (std::size_t i = 0; same && i < now.size(); ++i) {
      same = now[i].same_as(control_of(children_[i])->control());
    }
    if (!same) forget_children();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (same) {
        control_of(children_[i])->move_to(now[i].area);
      } else {
        children_.push_back(
            QAccessible::registerAccessibleInterface(new ControlAccessible(view_, id_, now[i])));
      }
    }
  }

  TranscriptView& view_;
  MessageId id_;
  mutable std::vector<QAccessible::Id> children_;
};

// The view: the texts of all messages as one, separated by line feeds.
class TranscriptAccessible : public QAccessibleWidget, public QAccessibleTextInterface {
 public:
  explicit TranscriptAccessible(TranscriptView& view)
      : QAccessibleWidget(&view, QAccessible::Document), view_(view) {}
  ~TranscriptAccessible() override {
    for (const QAccessible::Id id : std::as_const(messages_)) QAccessible::deleteAccessibleInterface(id);
  }

  int childCount() const override { return view_.message_count() + (find_bar() ? 1 : 0); }
  QAccessibleInterface* child(int which) const override {
    if (which < 0 || which >= childCount()) return nullptr;
    if (which == view_.message_count()) return QAccessible::queryAccessibleInterface(find_bar());
    forget_gone();
    const MessageId id = view_.conversation().at(which).view().id;
    if (!messages_.contains(id)) {
      messages_.insert(id, QAccessible::registerAccessibleInterface(new MessageAccessible(view_, id)));
    }
    return QAccessible::accessibleInterface(messages_.value(id));
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    if (!child) return -1;
    if (find_bar() && child->object() == find_bar()) return view_.message_count();
    const QAccessible::Id id = QAccessible::uniqueId(const_cast<QAccessibleInterface*>(child));
    return view_.conversation().index_of(messages_.key(id, -1));
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = 0; i < childCount(); ++i) {
      const bool message = i < view_.message_count();
      const QRect rect = message ? to_global(view_, view_.rect_of_message(i)) : child(i)->rect();
      if (rect.contains(x, y)) return child(i);
    }
    return nullptr;
  }
  QAccessibleInterface* focusChild() const override {
    if (view_.hasFocus() && view_.focused_message() >= 0) return child(view_.focused_message());
    return QAccessibleWidget::focusChild();
  }
  QAccessible::State state() const override {
    QAccessible::State state = QAccessibleWidget::state();
    state.readOnly = state.multiLine = state.selectableText = true;
    return state;
  }
  QString text(QAccessible::Text kind) const override { return QAccessibleWidget::text(kind); }
  void* interface_cast(QAccessible::InterfaceType type) override {
    if (type == QAccessible::TextInterface) return static_cast<QAccessibleTextInterface*>(this);
    return QAccessibleWidget::interface_cast(type);
  }

  void selection(int, int* start, int* end) const override {
    *start = view_.has_selection() ? offset_of(view_.selection_begin()) : 0;
    *end = view_.has_selection() ? offset_of(view_.selection_end()) : 0;
  }
  int selectionCount() const override { return view_.has_selection() ? 1 : 0; }
  void addSelection(int start, int end) override { setSelection(0, start, end); }
  void removeSelection(int) override { view_.select({}, {}); }
  void setSelection(int, int start, int end) override { view_.select(position_of(start), position_of(end)); }
  int cursorPosition() const override { return view_.cursor().message < 0 ? 0 : offset_of(view_.cursor()); }
  void setCursorPosition(int position) override { setSelection(0, position, position); }
  QString text(int start, int end) const override {
    QString out;
    int begin = 0;
    if (end < 0) end = characterCount();
    for (int i = 0; i < view_.message_count() && begin < end; ++i) {
      const int length = view_.conversation().at(i).text_length();
      if (begin + length + 1 > start) {
        const int from = std::max(0, start - begin);
        const QString whole = view_.plain_text(i) + QLatin1Char('\n');
        out += whole.mid(from, std::min(length + 1, end - begin) - from);
      }
      begin += length + 1;
    }
    return out;
  }
  int characterCount() const override { return begin_of(view_.message_count()); }
  QRect characterRect(int offset) const override {
    const TextPosition position = position_of(offset);
    if (position.message < 0) return {};
    const QRect rect = view_.rect_of_text(position);
    return to_global(view_, {rect.left(), rect.top(), std::max(1, rect.height() / 2), rect.height()});
  }
  int offsetAtPoint(const QPoint& point) const override {
    const TextPosition position = view_.position_at(view_.viewport()->mapFromGlobal(point));
    return position.message < 0 ? -1 : offset_of(position);
  }
  void scrollToSubstring(int start, int) override {
    const TextPosition position = position_of(start);
    if (position.message >= 0) view_.show_text(position);
  }
  QString attributes(int, int* start, int* end) const override {
    *start = 0;
    *end = characterCount();
    return {};
  }

  int begin_of(int message) const {
    int begin = 0;
    for (int i = 0; i < message; ++i) begin += view_.conversation().at(i).text_length() + 1;
    return begin;
  }

 private:
  int offset_of(TextPosition position) const { return begin_of(position.message) + position.offset; }
  TextPosition position_of(int offset) const {
    for (int i = 0; i < view_.message_count(); ++i) {
      const int length = view_.conversation().at(i).text_length();
      if (offset <= length) return {i, std::max(0, offset)};
      offset -= length + 1;
    }
    const int last = view_.message_count() - 1;
    return last < 0 ? TextPosition{} : TextPosition{last, view_.conversation().at(last).text_length()};
  }

  FindBar* find_bar() const {
    auto* bar = view_.findChild<FindBar*>();
    return bar && bar->isVisible() ? bar : nullptr;
  }
  void forget_gone() const {
    if (messages_.size() < view_.message_count() + 32) return;
    for (auto each = messages_.begin(); each != messages_.end();) {
      if (view_.conversation().index_of(each.key()) >= 0) {
        ++each;
      } else {
        QAccessible::deleteAccessibleInterface(*each);
        each = messages_.erase(each);
      }
    }
  }

  TranscriptView& view_;
  mutable QHash<MessageId, QAccessible::Id> messages_;
};

QAccessibleInterface* make_interface(const QString& name, QObject* object) {
  if (name != QLatin1String("fovea::ui::TranscriptView")) return nullptr;
  return new TranscriptAccessible(*static_cast<TranscriptView*>(object));
}

}  // namespace

void install_transcript_accessibility() {
  static const bool installed = [] {
    QAccessible::installFactory(make_interface);
    return true;
  }();
  static_cast<void>(installed);
}

void announce_text(TranscriptView& view, int message, int offset, const QString& text) {
  auto* interface = static_cast<TranscriptAccessible*>(QAccessible::queryAccessibleInterface(&view));
  if (!interface) return;
  QAccessibleTextInsertEvent event(&view, interface->begin_of(message) + offset, text);
  tell_screen_reader(event);
}

}  // namespace fovea::ui
