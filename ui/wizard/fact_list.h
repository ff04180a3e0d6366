// Names, numbers, and behind each "Why?" the sentence that says where the number comes from.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/wizard/wizard_view.h"

class QGridLayout;
class QToolButton;

namespace fovea::ui {

// "Why?", which shows and hides its answer. name: what is asked about.
QToolButton* why_button(QWidget* parent, const QString& name, const QString& why, QWidget* answer);

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
