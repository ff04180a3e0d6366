// One message of the transcript: its blocks, which of them are laid out, and where everything in it stands.
// Coordinates are the message's own; (0, 0) is the left top corner of its row, as wide as the column.
#pragma once

#include <QCoreApplication>
#include <memory>
#include <vector>

#include "ui/chat/block_layout.h"
#include "ui/chat/message_view.h"
#include "ui/markdown/message_text.h"

class QTextLayout;

namespace fovea::ui {

// What all messages are laid out for.
struct Frame {
  LayoutStyle style;
  qreal column = 0;  // width of a row
  FontSizes sizes;
  qreal em = 0;        // sizes.em
  int generation = 0;  // changes with the others: what was measured before counts as an estimate

  QFont label_font() const;
};

// Something in a message that can be clicked, focused and pressed.
struct Control {
  enum class Kind : std::uint8_t { fold, copy_code, link, previous, next, action };
  Kind kind = Kind::action;
  QRectF area;
  std::size_t block = 0;                       // of a fold, code or a link
  MessageAction action = MessageAction::copy;  // of an action
  QString address;                             // of a link
  TextRange text;                              // of a link, in its block
  bool again = false;  // a further line of the link before it: to be clicked, not to be counted

  bool same_as(const Control& other) const;
};

// What is marked in a message when it is painted. Ranges are in text().
struct MessageMarks {
  TextRange selected;
  std::vector<TextRange> found;
  int current = -1;
  bool show_actions = false;
  bool focused = false;
  const Control* hovered = nullptr;
  const Control* focused_control = nullptr;
};

class MessageLayout {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::MessageLayout)

 public:
  explicit MessageLayout(MessageView view);
  ~MessageLayout();

  const MessageView& view() const { return view_; }
  // A text that begins with the old one is only parsed and laid out from where it goes on.
  void set_view(const MessageView& view);
  void append(const QString& text);

  // Of the whole row. Exact where it was laid out for this frame, else an estimate.
  qreal height(const Frame& frame);
  // Lays out the blocks that stand between `top` and `bottom`. Returns how many were laid out.
  int prepare(const Frame& frame, qreal top, qreal bottom);
  // A place that keeps its meaning while heights are corrected: a block's top.
  struct Anchor {
    std::size_t block = 0;
    bool exact = false;
  };
  Anchor anchor_at(const Frame& frame, qreal y);
  qreal top_of(const Frame& frame, std::size_t block);
  void forget_layouts(qreal top, qreal bottom);  // of blocks that are not between these
  void forget_all();                             // layouts and blocks; heights stay
  bool has_blocks() const { return parsed_; }
  std::size_t layout_count() const;

  // Plain text of everything that is not folded away.
  const QString& text();
  int text_length();                  // known without the text, once it was known
  QString markdown(TextRange range);  // the source itself if the range is everything
  const std::vector<Block>& blocks();
  bool is_folded(std::size_t reasoning_block);
  void toggle_fold(std::size_t reasoning_block);
  bool shows_facts() const { return shows_facts_; }
  void toggle_facts() { shows_facts_ = !shows_facts_; }
  QString code_of(std::size_t block);             // of all parts
  QString fold_label(std::size_t summary) const;  // of thoughts or a call
  QString author_label() const;

  int position_at(const Frame& frame, QPointF point);
  QRectF cursor_at(const Frame& frame, int position);
  // The formula around a place in text(), which nothing may stand within; else the place itself.
  TextRange formula_around(int position);
  QRectF area_of_text(const Frame& frame);
  // Where [begin, end) of the source stands in text(); empty: it is folded away, or only marks.
  TextRange range_of_source(int begin, int end);
  const std::vector<int>& source_places();  // of each character of text(); −1: nowhere
  // Of laid-out blocks, one for each line.
  std::vector<QRectF> areas_of(const Frame& frame, TextRange range);
  // Those of laid-out blocks, and of the row below the text; in reading order.
  std::vector<Control> controls(const Frame& frame);
  static QString name_of(const Control& control, const MessageView& view);
  void paint(QPainter& painter, const Frame& frame, QPointF origin, qreal clip_top, qreal clip_bottom,
             const MessageMarks& marks);

 private:
  struct Item {
    std::unique_ptr<BlockLayout> layout;
    qreal top = 0;  // from the first block's
    qreal height = 0;
    int measured = -1;   // generation of the frame that `height` was measured for …
    int estimated = -1;  // … or estimated
    bool hidden = false;
    bool lexed = false;     // code_after is known
    LexerState code_after;  // of a part of a code block
    int text_begin = 0;
    int text_length = 0;
  };

  void parse();
  void update_items(std::size_t first_changed);
  void place(const Frame& frame);
  void update_text();
  BlockContext context_of(std::size_t block);
  static bool knows_state(const Item& item);
  LexerState code_state_before(std::size_t block);
  qreal inner_width(const Frame& frame) const;
  qreal left(const Frame& frame) const;           // of the blocks
  qreal body_top(const Frame& frame) const;       // of the first block
  qreal padding(const Frame& frame) const;        // beside the words of a question …
  qreal padding_above(const Frame& frame) const;  // … above and below them
  void lay_out_note(QTextLayout& lines, const Frame& frame) const;
  qreal note_height(const Frame& frame) const;
  qreal footer_height(const Frame& frame) const;
  qreal facts_height(const Frame& frame) const;
  void paint_facts(QPainter& painter, const Frame& frame, qreal top) const;
  void paint_caret(QPainter& painter, const Frame& frame);
  QRectF bubble(const Frame& frame) const;
  void shrink_bubble(const Frame& frame);
  void add_footer(const Frame& frame, std::vector<Control>& controls) const;
  std::size_t reasoning_index(std::size_t block) const;
  void paint_footer(QPainter& painter, const Frame& frame, const MessageMarks& marks);
  int first_from_source(int place);
  BlockMarks marks_of(const Item& item, const MessageMarks& marks) const;

  MessageView view_;
  qsizetype line_feeds_ = 0;
  MessageParser parser_;
  std::vector<Block> typed_;  // the user's text
  bool parsed_ = false;
  bool text_known_ = false;
  int text_length_ = -1;
  QString text_;
  bool source_places_known_ = false;
  std::vector<int> source_places_;
  std::vector<Item> items_;
  bool shows_facts_ = false;
  std::vector<bool> unfolded_;  // of each reasoning section
  qreal body_height_ = 0;       // of the blocks once prepared, before that an estimate from the source
  bool prepared_ = false;
  bool placed_ = false;
  int placed_generation_ = -1;
  int guessed_generation_ = -1;
  qreal bubble_width_ = 0;  // of the user's text; 0: not known, as wide as allowed
};

}  // namespace fovea::ui
