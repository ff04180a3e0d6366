// Where a message is typed: grows with its text, Enter sends, Shift+Enter breaks the line.
#pragma once

#include <QPlainTextEdit>

class QToolButton;

namespace fovea::ui {

class Composer : public QWidget {
  Q_OBJECT

 public:
  explicit Composer(QWidget* parent = nullptr);

  // Ready: sending is possible. Generating: the button stops.
  void set_ready(bool ready);
  void set_generating(bool generating);
  void set_text(const QString& text);
  QString text() const;
  void focus_input();

 Q_SIGNALS:
  void sendRequested(const QString& text);
  void stopRequested();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void send();
  void grow();
  void update_button();

  QPlainTextEdit* input_;
  QToolButton* button_;
  bool ready_ = false;
  bool generating_ = false;
};

}  // namespace fovea::ui
