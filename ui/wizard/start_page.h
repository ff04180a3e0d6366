// The fifth page: download or open, prepare where it is needed.
#pragma once

#include <QWidget>

#include "ui/wizard/wizard_view.h"

class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace fovea::ui {

class DetailedText;
class FactList;

// A command in a box of its own, with a button that copies it.
class CommandBox : public QWidget {
  Q_OBJECT

 public:
  explicit CommandBox(QWidget* parent = nullptr);
  void set_command(const QString& command);

 private:
  QLineEdit* text_;
  QPushButton* copy_;
};

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  void set_start(const StartView& start);

 Q_SIGNALS:
  void downloadRequested();
  void stopRequested();

 private:
  QLabel* text_;
  FactList* facts_;
  QPushButton* download_;
  CommandBox* command_;
  QWidget* progress_box_;
  QLabel* progress_text_;
  QProgressBar* progress_;
  QPushButton* stop_;
  DetailedText* error_;
};

}  // namespace fovea::ui
