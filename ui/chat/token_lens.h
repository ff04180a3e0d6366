// Looking inside the answers of a transcript: while it is on, a token that is pointed at, or reached with the
// arrow keys, shows its card. It also marks tokens that others point out.
#pragma once

#include <QObject>
#include <QPointer>
#include <optional>
#include <vector>

#include "ui/chat/block_layout.h"
#include "ui/chat/token_source.h"

class QKeyEvent;
class QPainter;

namespace fovea::ui {

class TokenCard;
class TranscriptView;

// A token of a message, by its number there.
struct TokenRef {
  MessageId message = 0;
  int number = 0;
  auto operator<=>(const TokenRef&) const = default;
};

// Keys, while it is on and the transcript has the focus: Left and Right go from token to token, Up and Down
// from line to line, Home and End to an answer's ends, Enter into the card's choices, Escape leaves.
class TokenLens : public QObject {
  Q_OBJECT

 public:
  explicit TokenLens(TranscriptView& view);

  void set_source(TokenSource* source);  // null: nothing is kept
  bool is_on() const { return on_; }
  bool marks_low() const { return marks_low_; }
  std::optional<TokenRef> current() const { return current_; }
  TokenCard& card() { return *card_; }
  // These are marked until the next call.
  void set_marked(std::vector<TokenRef> marked);
  const std::vector<TokenRef>& marked() const { return marked_; }
  // Scrolls to the first of them, if none is in sight.
  void show_marked();
  // Over a message whose text is painted already.
  void paint(QPainter& painter, int message);
  // In the viewport, one for each line.
  std::vector<QRectF> areas_of(TokenRef token);

 public Q_SLOTS:
  void set_on(bool on);
  void set_marks_low(bool on);

 Q_SIGNALS:
  void switched(bool on);
  void currentChanged();
  void choiceWanted(fovea::ui::TokenRef token, int choice);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  std::vector<TokenPlace> places_of(int message) const;
  std::optional<TokenRef> token_at(const QPoint& point, bool& is_text) const;
  void point_at(const QPoint& point);
  void set_current(std::optional<TokenRef> token);
  void show_card(const std::vector<QRectF>& areas);
  void place_card();
  void leave_card();
  bool take_key(const QKeyEvent& event);
  void move(int delta);
  void move_line(bool down);
  void move_to_end(bool last);
  std::optional<TokenRef> first_to_go_to() const;
  void go_to(TokenRef token);

  TranscriptView& view_;
  QPointer<TokenSource> source_;
  TokenCard* card_;
  bool on_ = false, marks_low_ = false;
  bool pinned_ = false;  // the card stays while the mouse goes elsewhere
  std::optional<TokenRef> current_;
  std::vector<TokenRef> marked_;  // in order
};

}  // namespace fovea::ui
