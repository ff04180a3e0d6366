// The conversation as it is read: messages of Markdown blocks, drawn from cached layouts, selectable,
// streaming.
#pragma once

#include <QAbstractScrollArea>
#include <QString>
#include <QTimer>
#include <vector>

#include "ui/chat/block_layout.h"

namespace fovea::ui {

enum class Author : std::uint8_t { user, assistant };

class TranscriptView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TranscriptView(QWidget* parent = nullptr);
  ~TranscriptView() override;

  void clear();
  void add_message(Author author, const QString& text);
  // Adds to the last message. What arrives is laid out at most 20 times a second, and only the blocks that
  // changed.
  void append_to_last(const QString& text);
  // Removes the last message (an answer that never began).
  void remove_last();
  // A line under the last message ("stopped", "the context is full"). Empty removes it.
  void set_note_on_last(const QString& note);
  // Text in the middle of an empty transcript.
  void set_empty_text(const QString& text);

  int message_count() const { return static_cast<int>(messages_.size()); }
  QString message_text(int index) const;
  QString selected_text() const;
  // How many blocks have been laid out so far; tests show with it that finished blocks are not laid out
  // again.
  long layouts_made() const { return layouts_made_; }

 public Q_SLOTS:
  void copy_selection();
  void select_all();

 Q_SIGNALS:
  void linkActivated(const QString& address);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  struct Message {
    Author author = Author::user;
    QString text;
    QString note;
    std::vector<BlockLayout> blocks;
    std::vector<qreal> tops;  // of the blocks, from the message's top
    qreal y = 0;              // of its top, in the whole transcript
    qreal height = 0;         // with padding and note
  };
  // A character: message, block in it, offset in the block's plain text. Ordered as read.
  struct Position {
    int message = -1;
    int block = 0;
    int offset = 0;
    auto operator<=>(const Position&) const = default;
  };

  LayoutStyle style() const;
  qreal text_width() const;
  qreal text_left() const;
  void lay_out_message(Message& message, bool from_scratch);
  void lay_out_all();
  void update_positions();
  void flush();
  bool at_bottom() const;
  void scroll_to_bottom();
  QPointF block_origin(const Message& message, int block) const;
  Position position_at(QPoint point) const;
  const BlockLayout* block_at(QPoint point, QPointF* local) const;
  void paint_message(QPainter& painter, const Message& message, int index) const;
  TextRange selection_in(int message, int block) const;

  std::vector<Message> messages_;
  QString empty_text_;
  QTimer flush_timer_;
  qreal laid_out_width_ = 0;
  bool dirty_ = false;
  long layouts_made_ = 0;
  Position anchor_, cursor_;
  bool selecting_ = false;
};

}  // namespace fovea::ui
