// The conversation as it is read: messages of Markdown blocks, drawn from cached layouts, selectable,
// searchable, streaming. Not a widget for each message: only what is near the visible part is laid out.
#pragma once

#include <QAbstractScrollArea>
#include <QBasicTimer>
#include <QHash>
#include <QString>
#include <QTimer>
#include <optional>
#include <vector>

#include "ui/chat/conversation_layout.h"
#include "ui/chat/message_view.h"

class QToolButton;

namespace fovea::ui {

class FindBar;
class TokenLens;

// A place in the conversation: an offset in a message's text. Ordered as read.
struct TextPosition {
  int message = -1;
  int offset = 0;
  auto operator<=>(const TextPosition&) const = default;
};

// Keys: arrows, Page Up/Down, Home, End and Space scroll; with Shift, arrows select. Ctrl+Up and Ctrl+Down go
// from message to message, Tab through the buttons and links of one, Enter presses them; Left and Right
// change the branch. Ctrl+F searches, Ctrl+C copies, Ctrl+Shift+C copies as Markdown. What else is typed is
// left to the window.
class TranscriptView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TranscriptView(QWidget* parent = nullptr);
  ~TranscriptView() override;

  // Shows this path of the conversation's tree. Messages that are the same as before keep their layouts, and
  // the reader keeps their place if what they read is still there; the selection, too, where no message came,
  // went or has another text. The rest of an answer that is now whole is told to screen readers.
  void set_messages(std::vector<MessageView> messages);
  // Adds to a message's text. What arrives is laid out at most 20 times a second, and only the blocks that
  // changed.
  void append_to(MessageId id, const QString& text);
  void clear();
  const MessageView* message(MessageId id) const;  // null: not shown
  // Text in the middle of an empty transcript.
  void set_empty_text(const QString& text);
  void scroll_to_message(MessageId id);
  // Marks these words in a message and shows the first of them, or else the message.
  void show_found(MessageId id, const QStringList& words);

  int widest_column() const;  // of the conversation, in pixels
  int message_count() const { return conversation_.count(); }
  QString message_text(int index) const;  // its source
  QString plain_text(int index);          // as it is read
  QString selected_text() const;
  QString selected_markdown() const;
  bool has_selection() const { return anchor_.message >= 0 && anchor_ != cursor_; }

  // For the accessible interface, and for tests.
  ConversationLayout& conversation() { return conversation_; }
  QRect rect_of_message(int index);  // in viewport coordinates
  QPointF origin_of(int index);      // … its left top corner, not rounded
  QRect rect_of_text(TextPosition position);
  TextPosition position_at(QPoint point);  // nearest
  TextPosition selection_begin() const { return std::min(anchor_, cursor_); }
  TextPosition selection_end() const { return std::max(anchor_, cursor_); }
  TextPosition cursor() const { return cursor_; }
  void select(TextPosition from, TextPosition to);
  void show_text(TextPosition position);  // scrolls so that it is well in sight
  QStringList found_text() const;         // what is marked as found
  std::vector<Control> controls_of(int index);
  void activate(int index, const Control& control);
  int focused_message() const { return focused_; }
  void focus_message(int index);
  TokenLens& lens() { return *lens_; }
  long layouts_made() const { return conversation_.layouts_made(); }

 public Q_SLOTS:
  void copy_selection();
  void copy_selection_as_markdown();
  void select_all();
  void open_find();
  void find_next();
  void find_previous();
  void jump_to_latest();

 Q_SIGNALS:
  // The reader wants to open a link; the transcript only shows where it goes.
  void linkActivated(const QString& address);
  void messageActionRequested(fovea::ui::MessageId id, fovea::ui::MessageAction action);
  void siblingRequested(fovea::ui::MessageId id, int delta);  // -1: the branch before, +1: the next one
  void messagesChanged();                                     // messages came or went
  void messageFocused(int message);                           // by its number

 protected:
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void timerEvent(QTimerEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  using Stick = ConversationLayout::Stick;
  struct Found {
    int message = 0;
    TextRange range;
  };

  // transcript_view.cpp: what is shown
  bool goes_on_as(const std::vector<MessageView>& messages) const;
  MessageId other_branch_in(const std::vector<MessageView>& messages) const;
  void ask_for_branch(const MessageView& view, int delta);
  void update_frame();
  void settle(Stick stick);
  void settle_following(bool follow) { settle(follow ? Stick::bottom : Stick::reading); }
  void flush();
  void take_pending();
  bool at_bottom() const;
  qreal column_left() const;
  void paint_messages(QPainter& painter);
  MessageMarks marks_for(int index) const;
  void paint_focus(QPainter& painter, int index);
  void make_jump_button();
  void update_jump_button();
  void announce(int index);

  // transcript_input.cpp: the mouse and the controls; transcript_keys.cpp: the keyboard
  std::optional<Control> control_at(QPoint point, int* message);
  void update_hover(QPoint point);
  void scroll_into_view(const QRectF& area);
  bool scroll_by_key(const QKeyEvent& event);
  bool select_by_key(const QKeyEvent& event);
  bool focus_by_key(const QKeyEvent& event);
  void move_message_focus(int delta);
  bool move_control_focus(int delta);
  void show_menu(QPoint global, int message, const std::optional<Control>& control);
  bool show_tooltip(const QPoint& point, const QPoint& global);
  TextPosition moved(TextPosition from, const QKeyEvent& event);

  // transcript_selection.cpp: selection and search
  TextRange selection_in(int message) const;
  void clear_selection();
  void drop_positions();
  void find_in(int message, const QString& wanted);
  void search();
  void show_match(int index);
  void place_find_bar();
  int first_match_from(TextPosition position) const;

  mutable ConversationLayout conversation_;  // texts are parsed when they are asked for
  QString empty_text_;
  QTimer flush_timer_;
  QHash<MessageId, QString> pending_;  // what arrived since the last flush
  bool unsettled_ = false;             // something arrived that is not laid out
  MessageId left_branch_ = 0;          // the message in whose place another branch's is asked for
  bool settling_ = false;

  TextPosition anchor_, cursor_;
  bool selecting_ = false;
  QBasicTimer autoscroll_;
  QPoint last_mouse_;
  qreal wanted_x_ = -1;  // of the cursor while it moves up and down

  int hovered_ = -1;
  std::optional<Control> hovered_control_;
  int pressed_ = -1;
  std::optional<Control> pressed_control_;
  int focused_ = -1;
  std::optional<Control> focused_control_;

  TokenLens* lens_;
  QToolButton* jump_;  // to the newest text, while the reader is elsewhere
  FindBar* find_bar_;
  QTimer search_timer_;
  std::vector<Found> found_;
  int found_current_ = -1;

  MessageId announced_id_ = 0;
  int announced_ = 0;  // characters of that message
};

}  // namespace fovea::ui
