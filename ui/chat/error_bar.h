// One line above the composer that says what went wrong and what to do.
#pragma once

#include <QFrame>

class QLabel;

namespace fovea::ui {

class ErrorBar : public QFrame {
  Q_OBJECT

 public:
  explicit ErrorBar(QWidget* parent = nullptr);
  void show_message(const QString& text);
  QString message() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void colour();
  QLabel* label_;
};

}  // namespace fovea::ui
