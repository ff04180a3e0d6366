// What is known of the tokens of answers, and of whom the transcript asks it. Plain data; implemented in
// app/window.
#pragma once

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "ui/chat/message_view.h"

namespace fovea::ui {

// Where a token stands in its message's source.
struct TokenPlace {
  int number = 0;  // in its answer
  int begin = 0, end = 0;
  // Of the work of its experts, so much was done at fewer bits than the model has at most: 0 … 1.
  double low_share = 0;
};

// A token by itself.
struct TokenView {
  struct Choice {
    QString text;
    double probability = 0;
    bool is_chosen = false;  // what stands in the answer
    bool can_go_on = false;  // an answer can go on with it
  };
  QString text;
  double probability = 0;
  std::vector<Choice> choices = {};  // the likeliest, likely first
  double entropy_bits = 0;
  int uses = 0;             // of experts, in all layers; 0: the model has none
  int low_uses = 0;         // … at fewer bits than the most
  double highest_bits = 0;  // the most; 0: there is only one precision
};

class TokenSource : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Those that are kept of a message with this source, in order.
  virtual std::vector<TokenPlace> tokens_of(MessageId message, const QString& text) const = 0;
  virtual std::optional<TokenView> token(MessageId message, int number) const = 0;
  // How many are kept in all.
  virtual int most_kept() const = 0;

 Q_SIGNALS:
  void tokensChanged(fovea::ui::MessageId message);  // more are known, or some are forgotten
};

}  // namespace fovea::ui
