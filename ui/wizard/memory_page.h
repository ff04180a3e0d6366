// The fourth page: context, precision and budget, with what they take as a live bar.
#pragma once

#include <QWidget>

#include "ui/wizard/wizard_view.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QSlider;
class QVBoxLayout;

namespace fovea::ui {

class BudgetBar;
class DetailedText;
class FactList;
class SizeBox;

class MemoryPage : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryPage(QWidget* parent = nullptr);
  void set_options(const MemoryOptions& options);
  void set_choice(const MemoryChoice& choice);
  void set_budget(const BudgetView& budget);
  // Takes what is still being typed. False, with the focus there, when it is no size: the page is not left.
  bool take();

 Q_SIGNALS:
  void changed(const fovea::ui::MemoryChoice& choice);
  void remedyChosen(int remedy);

 private:
  void make_form();
  void make_prefer();
  void tell();
  void show_remedies(const QStringList& remedies);

  MemoryOptions options_;
  MemoryChoice choice_;
  QLabel* model_;
  QFormLayout* form_;
  QComboBox* context_;
  QComboBox* kv_;
  QComboBox* precision_;
  QLabel* precision_why_;
  QSlider* prefer_;
  QWidget* prefer_row_;
  QLabel* prefer_why_;
  SizeBox* budget_;
  QLabel* budget_fault_;
  QLabel* no_budget_;  // in its place, where none can be set
  BudgetBar *first_bar_, *bar_;
  DetailedText* verdict_;
  FactList* why_;
  QLabel* notes_;
  QWidget* remedies_;
  QStringList shown_remedies_;
  bool filling_ = false;
};

}  // namespace fovea::ui
