// Over the composer while its text begins with "/": the prompts whose names go on like it.
#pragma once

#include <vector>

#include "ui/chat/preset_view.h"
#include "ui/theme/widgets.h"

class QKeyEvent;
class QListWidget;

namespace fovea::ui {

class PromptPicker : public Card {
  Q_OBJECT

 public:
  explicit PromptPicker(QWidget* parent = nullptr);

  void set_prompts(const std::vector<PromptView>& prompts);
  // Those that `typed` can mean, above `below`; hidden where it can mean none.
  void show_for(const QString& typed, const QWidget& below);
  // Up, Down, Enter, Tab and Escape, while it is shown.
  bool take_key(const QKeyEvent& key);

 Q_SIGNALS:
  void chosen(const QString& text);

 private:
  void choose(int row);
  void tell_row(int row);

  std::vector<PromptView> prompts_;
  QListWidget* list_;
};

}  // namespace fovea::ui
