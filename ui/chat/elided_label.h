// One line of text that ends in "…" where there is no room for all of it.
#pragma once

#include <QLabel>

namespace fovea::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace fovea::ui
