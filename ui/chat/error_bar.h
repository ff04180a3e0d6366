// One line above the composer that says what went wrong and what to do, or what the user should know.
#pragma once

#include <QFrame>

class QToolButton;

namespace fovea::ui {

class DetailedText;

class ErrorBar : public QFrame {
  Q_OBJECT

 public:
  enum class Kind { error, notice };

  explicit ErrorBar(QWidget* parent = nullptr);
  // `action`: the text of a button that does something about it; empty: none.
  // `details`: shown when they are asked for; empty: none.
  void show_message(const QString& text, Kind kind = Kind::error, const QString& action = {},
                    const QString& details = {});
  QString message() const;  // empty while hidden
  Kind kind() const { return kind_; }

 Q_SIGNALS:
  void actionRequested();
  void dismissed();

 private:
  DetailedText* words_;
  QToolButton* action_;
  Kind kind_ = Kind::error;
};

}  // namespace fovea::ui
