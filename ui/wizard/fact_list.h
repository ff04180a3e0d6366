// Names, numbers, and behind "Details" the sentences that say where the numbers come from.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/wizard/wizard_view.h"

class QGridLayout;
class QToolButton;

namespace fovea::ui {

// Shows and hides what is not needed at first. `about`: what it tells more of.
QToolButton* details_button(QWidget* parent, const QString& about);

class FactList : public QWidget {
  Q_OBJECT

 public:
  explicit FactList(QWidget* parent = nullptr);
  void set_facts(const std::vector<FactView>& facts);

 private:
  void build();

  std::vector<FactView> facts_;
  QGridLayout* grid_;
};

}  // namespace fovea::ui
