// The chat window: shows what it is told and emits what the user asks for. It decides nothing.
#pragma once

#include <QMainWindow>
#include <QStringList>

class QLabel;
class QMenu;
class QProgressBar;
class QToolButton;

namespace fovea::ui {

class Composer;
class ErrorBar;
class TranscriptView;

// A model that the picker offers.
struct ModelChoice {
  QString label;
  QString path;
};

class ChatWindow : public QMainWindow {
  Q_OBJECT

 public:
  enum class State { no_model, loading, ready, generating };

  explicit ChatWindow(QWidget* parent = nullptr);

  void set_state(State state);
  State state() const { return state_; }
  void set_model(const QString& name, const QString& details);
  void set_library(const std::vector<ModelChoice>& models);
  void set_recent(const std::vector<ModelChoice>& models);
  // total 0: unknown. An empty text hides the progress.
  void show_progress(const QString& text, qint64 done, qint64 total);
  void show_status(const QString& text);
  void show_error(const QString& text);
  void clear_error();

  TranscriptView& transcript() { return *transcript_; }
  Composer& composer() { return *composer_; }
  const ErrorBar& error_bar() const { return *error_bar_; }

 Q_SIGNALS:
  void sendRequested(const QString& text);
  void stopRequested();
  void newChatRequested();
  void modelRequested(const QString& path);
  void cancelLoadRequested();
  void closing();

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  QWidget* make_header();
  QWidget* make_progress();
  void open_file();
  void open_folder();
  void open_link(const QString& address);
  void fill_picker();
  void update_empty_text();

  State state_ = State::no_model;
  QToolButton* picker_;
  QMenu* picker_menu_;
  QToolButton* new_chat_;
  QLabel* details_;
  QLabel* status_;
  QWidget* progress_box_;
  QLabel* progress_text_;
  QProgressBar* progress_bar_;
  TranscriptView* transcript_;
  ErrorBar* error_bar_;
  Composer* composer_;
  QString model_name_;
  std::vector<ModelChoice> library_;
  std::vector<ModelChoice> recent_;
};

}  // namespace fovea::ui
