// The line for searching in the conversation: shows what it is told and emits what is asked.
#pragma once

#include <QFrame>

class QLabel;
class QLineEdit;
class QToolButton;

namespace fovea::ui {

class FindBar : public QFrame {
  Q_OBJECT

 public:
  explicit FindBar(QWidget* parent = nullptr);

  QString text() const;
  void start(const QString& text);  // shows it, ready to type; an empty text keeps the last one
  // `current` from 0, of `total`; total 0: nothing was found.
  void show_count(int current, int total);

 Q_SIGNALS:
  void textChanged(const QString& text);
  void nextRequested();
  void previousRequested();
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void close_bar();

  QLineEdit* input_;
  QLabel* count_;
  QToolButton* previous_;
  QToolButton* next_;
};

}  // namespace fovea::ui
