// One line of text. Where there is no room for all of it, "parts · like · these" are left out at the end; a
// single one ends in "…".
#pragma once

#include <QLabel>

namespace fovea::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  static constexpr int kFewestLetters = 8;  // less of a text tells nothing

  explicit ElidedLabel(QWidget* parent = nullptr);
  QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace fovea::ui
