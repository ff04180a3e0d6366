// Decides what the window shows: the conversation, the model, and what happens on each request.
#pragma once

#include <QObject>
#include <QThread>
#include <cstdint>
#include <vector>

#include "app/window/engine_worker.h"
#include "app/window/request_defaults.h"
#include "engine/api/request.h"

namespace fovea::ui {
class ChatWindow;
enum class Author : std::uint8_t;
struct ModelChoice;
}  // namespace fovea::ui

namespace fovea::app {

class ChatController : public QObject {
  Q_OBJECT

 public:
  ChatController(ui::ChatWindow& window, LoadRequest load_defaults, RequestDefaults request_defaults);
  // Stops the work and waits for the thread. After closed() there is nothing left to wait for.
  ~ChatController() override;

  void open_model(const QString& path);
  const std::vector<Message>& conversation() const { return conversation_; }

 Q_SIGNALS:
  void closed();                          // the window was closed and the engine thread has ended
  void modelOpened(const QString& path);  // for the list of recent models

 private:
  void connect_window();
  void connect_worker();
  void send(const QString& text);
  void show(ui::Author author, const QString& text);
  void new_chat();
  void close();

  void on_load_progress(const Progress& progress);
  void on_loaded(const ModelInfo& info, const LoadRequest& settings);
  void on_load_failed(const Error& error);
  void on_prompt_progress(const Progress& progress);
  void on_text(const QString& text, const Timings& so_far);
  void on_finished(const GenerateResult& result);
  void on_failed(const Error& error);

  ui::ChatWindow& window_;
  RequestDefaults request_defaults_;
  QThread thread_;
  EngineWorker* worker_;  // owned by thread_
  std::vector<Message> conversation_;
  ModelInfo info_;
  bool model_loaded_ = false;
  bool discard_answer_ = false;  // a new chat was begun while an answer was on its way
  QString opening_;              // path of the model that is being loaded
  qint64 context_ = 0;
  qint64 last_shown_ = 0;  // id of the last message in the transcript
};

}  // namespace fovea::app
