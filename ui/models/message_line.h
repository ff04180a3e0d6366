// A line that tells how something ended: well, or with an error.
#pragma once

#include <QFrame>

class QLabel;
class QToolButton;

namespace fovea::ui {

class MessageLine : public QFrame {
  Q_OBJECT

 public:
  explicit MessageLine(QWidget* parent = nullptr);
  void show_notice(const QString& text);
  void show_error(const QString& text);
  QString message() const;  // empty while hidden
  bool is_error() const { return is_error_; }

 private:
  void show_text(const QString& text, bool is_error);

  QLabel* label_;
  QToolButton* close_;
  bool is_error_ = false;
};

}  // namespace fovea::ui
