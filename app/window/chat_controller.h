// Decides what the window shows: the model, the conversation, and what happens on each request.
#pragma once

#include <QObject>
#include <QThread>
#include <filesystem>
#include <functional>
#include <memory>

#include "app/window/conversation_controller.h"
#include "app/window/engine_worker.h"
#include "app/window/folder_controller.h"
#include "app/window/request_defaults.h"
#include "app/window/sidebar_controller.h"
#include "app/window/token_counter.h"
#include "engine/api/request.h"
#include "ui/chat/status_strip.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

class ChatController : public QObject {
  Q_OBJECT

 public:
  // `load_defaults`: context, precision … of the models that are opened; the model's path is ignored.
  ChatController(ui::ChatWindow& window, history::HistoryThread& history, LoadOptions load_defaults,
                 RequestDefaults request_defaults);
  // Stops the work and waits for the thread. After closed() there is nothing left to wait for.
  ~ChatController() override;

  void open_model(const QString& path);
  void open_model(const LoadOptions& request, const std::optional<LoadPlan>& shown = {});
  // Answers come as signals of the worker.
  void calibrate(const CalibrationSettings& settings);
  // Compares two settings of the model that is open, while no answer is under way; answers come as signals of
  // the worker. Without `keep_open` the model is closed meanwhile and then opened again as it was.
  void compare(const ComparisonRequest& request, bool keep_open);
  // Likewise, one question with two settings.
  void answer_beside(const BesideRequest& request);
  // The model that is open, as it would be opened with other precision.
  LoadOptions opened_with(const PrecisionRequest& precision) const;
  // What is changed for each model that is opened by its path.
  void set_load_setup(std::function<void(LoadOptions&)> setup) { load_setup_ = std::move(setup); }
  void set_load_defaults(const LoadOptions& defaults) { load_defaults_ = defaults; }
  const LoadOptions& load_defaults() const { return load_defaults_; }
  // The same model again, with other precision.
  void reload(const PrecisionRequest& precision);

  bool model_loaded() const { return model_loaded_; }
  // That is open or being opened; empty: none is.
  std::filesystem::path wanted_model() const {
    return model_loaded_ || loads_asked_ > 0 ? asked_.model : std::filesystem::path();
  }
  const LoadedModel& model() const { return model_; }
  ConversationController& conversation() { return conversation_; }
  SidebarController& sidebar() { return sidebar_; }
  FolderController& folders() { return folders_; }
  EngineWorker& worker() { return *worker_; }
  // What a question is asked with where the conversation says nothing.
  GenerateRequest usual_request() const { return request_defaults_(model_.info); }

 Q_SIGNALS:
  void closed();                          // the window was closed and the engine thread has ended
  void modelOpened(const QString& path);  // for the list of recent models
  void modelClosed();                     // or it could not be opened
  void modelOpening(const QString& name);
  void restartRequested();  // the device is of no use any more: only a new program helps
  void timingsArrived(const fovea::Timings& so_far);
  void questionAsked(const QString& text);  // an answer to it begins

 private:
  void connect_window();
  void connect_worker();
  void connect_conversation();
  void ask(const AnswerRequest& wanted);
  void close();
  void close_to_compare();
  void leave_model();
  void show_work();
  void update_status();
  void measure_conversation();
  void measure_next();
  void count_attachment(quint64 attachment, const QString& text);
  void show_error(const Error& error);
  history::Origin origin(const ui::ChatSettingsView& settings) const;

  void on_load_progress(const Progress& progress);
  void on_loaded(const LoadedModel& model);
  void on_load_failed(const Error& error);
  void open_after_comparison();
  void hide_progress();
  void on_prompt_progress(const Progress& progress);
  void on_text(const QString& text, const Timings& so_far);
  void on_finished(const GenerateResult& result);
  void look_at_device();
  void on_failed(const Error& error);
  void on_precision_used(const PrecisionUse& use);

  ui::ChatWindow& window_;
  LoadOptions load_defaults_;
  std::function<void(LoadOptions&)> load_setup_;
  RequestDefaults request_defaults_;
  QThread thread_;
  std::unique_ptr<EngineWorker>
      worker_;  // lives in thread_, and as long as this: answers may ask for it late
  ConversationController conversation_;
  SidebarController sidebar_;
  FolderController folders_;
  LoadedModel model_;
  bool model_loaded_ = false;
  int loads_asked_ = 0;                  // and not answered: the last answer counts
  bool reading_prompt_ = false;          // of the answer that is being written
  std::optional<LoadOptions> compared_;  // what was closed for a comparison that is under way
  LoadOptions asked_;                    // as it was opened last, before the engine chose what it left open
  ui::StatusView status_;
  TokenCounter conversation_tokens_, next_tokens_;
  Phrase log_failure_;                // that was told
  bool told_of_full_device_ = false;  // and it is full still
};

}  // namespace fovea::app
