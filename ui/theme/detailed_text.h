// A sentence that wraps, and behind "Details" what few people ask for.
#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace fovea::ui {

class DetailedText : public QWidget {
  Q_OBJECT

 public:
  explicit DetailedText(QWidget* parent = nullptr);
  // `details`: shown when they are asked for; empty: none. Said again, what is shown stays.
  void set_text(const QString& text, const QString& details = {});
  QString text() const;
  QString details() const;
  QLabel& label() { return *label_; }

 Q_SIGNALS:
  void detailsShown(bool shown);

 private:
  QLabel *label_, *details_;
  QToolButton* more_;
};

}  // namespace fovea::ui
