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

class BesideDialog : public QDialog {
  Q_OBJECT

 public:
  enum Column { adaptive = 0, fixed = 1 };

  // `takes`: what it takes, or why it cannot be.
  BesideDialog(const QString& question, const QString& takes, bool possible, QWidget* parent = nullptr);

  bool is_running() const { return running_; }
  void set_obstacle(const QString& text);  // why it cannot be begun just now; empty: it can
  void add_text(int column, const QString& text);
  void add_tokens(int column, const QList<qint64>& ends);  // of which they are: see TokenText
  void show_progress(const QString& text);
  // Under each answer, and under both.
  void show_result(const std::array<QString, 2>& facts, const QString& sentence);
  void show_end(const QString& note);  // it was stopped, or failed

  QString text(int column) const;
  QStringList marked(int column) const;
  QString note() const;

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
  QString takes_, obstacle_;
  QPlainTextEdit* question_;
  std::array<QTextEdit*, 2> answers_;
  std::array<TokenText, 2> texts_;
  std::array<QLabel*, 2> facts_;
  QLabel* note_;
  QPushButton *start_, *close_;
};

}  // namespace fovea::ui
