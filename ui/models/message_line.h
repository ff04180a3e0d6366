// A line that tells how something ended: well, or with an error.
#pragma once

#include <QFrame>

class QToolButton;

namespace fovea::ui {

class DetailedText;

class MessageLine : public QFrame {
  Q_OBJECT

 public:
  explicit MessageLine(QWidget* parent = nullptr);
  void show_notice(const QString& text);
  void show_error(const QString& text, const QString& details = {});
  QString message() const;  // empty while hidden
  bool is_error() const { return is_error_; }

 private:
  void show_text(const QString& text, const QString& details, bool is_error);

  DetailedText* words_;
  QToolButton* close_;
  bool is_error_ = false;
};

}  // namespace fovea::ui
