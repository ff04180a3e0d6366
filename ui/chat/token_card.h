// What is known of one token: how likely it was, what else could have stood there, how sure the model was,
// and how precise its experts were.
#pragma once

#include "ui/chat/token_source.h"
#include "ui/theme/widgets.h"

class QLabel;
class QVBoxLayout;

namespace fovea::ui {

class TokenCard : public Card {
  Q_OBJECT

 public:
  explicit TokenCard(QWidget* parent);

  // Nothing: it is not kept; `most_kept` of the session are.
  void set_token(const std::optional<TokenView>& token, int most_kept);
  // All of it as one text.
  QString words() const;
  void focus_choices();
  bool has_choices() const;

 Q_SIGNALS:
  void choiceWanted(int choice);
  void left();  // by Escape

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  class Row;
  void move_focus(int delta);

  QLabel *text_, *probability_, *sure_, *experts_;
  QVBoxLayout* rows_layout_;
  std::vector<Row*> rows_;
};

// A token's text with what cannot be seen in it: "·" for a space, "↵" for the end of a line.
QString shown_token(const QString& text);

}  // namespace fovea::ui
