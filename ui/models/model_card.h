// One model on a card: its name, what it is, its size, whether it fits, and one button.
#pragma once

#include "ui/models/model_rows.h"
#include "ui/theme/widgets.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace fovea::ui {

class ModelCard : public Card {
  Q_OBJECT

 public:
  struct Words {
    QString name = {}, about = {}, size = {};
    FitView fit = FitView::unknown;
    QString fit_text = {}, fit_why = {};
    QString needs = {};  // below the fit
  };

  explicit ModelCard(QWidget* parent = nullptr);
  void set_words(const Words& words);
  const Words& words() const { return words_; }
  QPushButton& action() { return *action_; }
  enum class Act : std::uint8_t { download, open, is_open };
  void set_act(Act act);  // what the button says: the same width whichever it is

 protected:
  void add_tool(QWidget& tool);     // before the button
  void add_below(QWidget& widget);  // across the card

 private:
  static QString act_text(Act act);
  void place(QLabel* above, QLabel* below, int column, int columns);

  Words words_;
  QGridLayout* grid_;
  QLabel *name_, *about_, *size_, *fit_, *needs_;
  QWidget* mark_;
  QPushButton* action_;
};

// Above a group of them.
QLabel* card_heading(const QString& text, QWidget* parent);

}  // namespace fovea::ui
