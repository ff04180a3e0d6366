// Two settings of the open model beside each other: which, on which text, how far it is, and what came of it.
#pragma once

#include <QDialog>
#include <QString>
#include <vector>

class QGridLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QRadioButton;
class QScrollArea;

namespace fovea::ui {

class DetailedText;

// What the open model is compared with.
struct CompareChoice {
  QString text = {};  // what it is
  QString note = {};  // what the comparison takes, or why it cannot be
  bool possible = true;
  bool closes_model = false;  // meanwhile, for want of memory
  QString details = {};       // of the note
};

// One line of what was found, for both.
struct CompareRow {
  QString name, other, now;
};
struct CompareResultView {
  QString sentence;
  QString now, other;  // what the columns are of
  std::vector<CompareRow> rows;
  QString note;  // what the numbers mean
};

class CompareDialog : public QDialog {
  Q_OBJECT

 public:
  // `now`: as the model is open.
  CompareDialog(const QString& model, const QString& now, const std::vector<CompareChoice>& choices,
                QWidget* parent = nullptr);

  int choice() const;         // an index
  QString text_file() const;  // empty: the built-in text
  bool is_running() const { return running_; }
  // Why nothing can be begun just now; empty: it can.
  void set_obstacle(const QString& text);
  void show_progress(const QString& text, qint64 done, qint64 total);  // total 0: unknown
  void show_result(const CompareResultView& result);
  void show_error(const QString& text, const QString& details = {});
  void show_stopped(const QString& text);

 Q_SIGNALS:
  void startRequested(int choice, const QString& text_file);
  void stopRequested();

 public Q_SLOTS:
  void reject() override;  // stops what is running first

 private:
  QWidget* make_choices(const QString& now);
  QWidget* make_text();
  QWidget* make_result();
  void start();
  void end(const QString& note, const QString& details, bool is_error);
  void say(const QString& text, const QString& details, bool is_error);
  void update_state();
  void fit();

  std::vector<CompareChoice> choices_;
  std::vector<QRadioButton*> buttons_;
  QScrollArea* area_;
  QWidget* asked_;  // what can be chosen
  QRadioButton *built_in_text_, *own_text_;
  QLineEdit* text_file_;
  QWidget* result_;
  QLabel* sentence_;
  QGridLayout* numbers_;
  QLabel* meaning_;
  DetailedText* note_;
  QProgressBar* progress_;
  QPushButton *start_, *close_;
  QString obstacle_, last_, last_details_;  // `last_`: how the last run ended, until something is chosen
  bool last_is_error_ = false;
  bool running_ = false;
};

}  // namespace fovea::ui
