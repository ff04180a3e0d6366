// The last page: what was predicted beside what was measured, and the settings as a command.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/wizard/wizard_view.h"

class QGridLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace fovea::ui {

class CommandBox;
class DetailedText;

class CalibrationPage : public QWidget {
  Q_OBJECT

 public:
  explicit CalibrationPage(QWidget* parent = nullptr);
  void set_calibration(const CalibrationView& calibration);

 Q_SIGNALS:
  void stopRequested();
  void againRequested();

 private:
  void show_rows(const std::vector<ComparisonRow>& rows);

  std::vector<ComparisonRow> rows_;
  QLabel* text_;
  QWidget* progress_box_;
  QProgressBar* progress_;
  QWidget* table_;
  QGridLayout* grid_;
  QPushButton* again_;
  DetailedText* error_;
  QLabel* command_title_;
  CommandBox* command_;
};

}  // namespace fovea::ui
