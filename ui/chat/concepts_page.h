// What the window's words mean, on one page: experts, precision, the memory budget, the context.
#pragma once

#include "ui/theme/page.h"

class QVBoxLayout;

namespace fovea::ui {

class PageArea;

class ConceptsPage : public Page {
  Q_OBJECT

 public:
  explicit ConceptsPage(QWidget* parent = nullptr);

 protected:
  void focusInEvent(QFocusEvent* event) override;

 private:
  void add_section(QVBoxLayout& layout, const QString& title, const QString& text);

  PageArea* area_;
};

}  // namespace fovea::ui
