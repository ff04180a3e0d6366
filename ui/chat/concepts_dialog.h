// What the window's words mean, on one page: experts, precision, the memory budget, the context.
#pragma once

#include <QDialog>

class QVBoxLayout;

namespace fovea::ui {

class ConceptsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ConceptsDialog(QWidget* parent = nullptr);

 private:
  void add_section(QVBoxLayout& layout, const QString& title, const QString& text);
};

}  // namespace fovea::ui
