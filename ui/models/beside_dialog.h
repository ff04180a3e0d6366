// One question, two answers: by experts that follow the conversation and by a fixed mix; the tokens that
// differ are marked.
#pragma once

#include <QDialog>
#include <QString>
#include <array>

#include "ui/models/token_difference.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTextEdit;

namespace fovea::ui {

class DetailedText;

class BesideDialog : public QDialog {
  Q_OBJECT

 public:
  enum Column { adaptive = 0, fixed = 1 };

  // `takes`: what it takes, or why it cannot be; `details`: of that.
  BesideDialog(const QString& question, const QString& takes, const QString& details, bool possible,
               QWidget* parent = nullptr);

  bool is_running() const { return running_; }
  void set_obstacle(const QString& text);  // why it cannot be begun just now; empty: it can
  void add_text(int column, const QString& text);
  void add_tokens(int column, const QList<qint64>& ends);  // of which they are: see TokenText
  void show_progress(const QString& text);
  // Under each answer, and under both.
  void show_result(const std::array<QString, 2>& facts, const QString& sentence, const QString& details = {});
  void show_end(const QString& note, const QString& details = {});  // it was stopped, or failed

  QString text(int column) const;
  QStringList marked(int column) const;
  QString note() const;
  QString details() const;  // of the note

 Q_SIGNALS:
  void startRequested(const QString& question);
  void stopRequested();

 public Q_SLOTS:
  void reject() override;  // stops what is running first

 private:
  void start();
  void mark();
  void update_state();

  bool possible_, running_ = false;
  QString takes_, details_, obstacle_;
  QPlainTextEdit* question_;
  std::array<QTextEdit*, 2> answers_;
  std::array<TokenText, 2> texts_;
  std::array<QLabel*, 2> facts_;
  DetailedText* note_;
  QPushButton *start_, *close_;
};

}  // namespace fovea::ui
