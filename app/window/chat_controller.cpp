#include "app/window/chat_controller.h"

#include <QFileInfo>

#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/transcript_view.h"

namespace fovea::app {
namespace {

using State = ui::ChatWindow::State;

QString speed(const Timings& timings, qint64 context) {
  const qint64 used = timings.prompt_tokens + timings.generated_tokens;
  return ChatController::tr("%1 tok/s · %2 tokens · context %3 of %4")
      .arg(timings.tokens_per_second(), 0, 'f', 1)
      .arg(timings.generated_tokens)
      .arg(used)
      .arg(context);
}

QString note(const GenerateResult& result) {
  QStringList notes;
  if (result.dropped_messages > 0) {
    notes += ChatController::tr("%n oldest message(s) no longer fit and were left out", nullptr,
                                result.dropped_messages);
  }
  switch (result.finish) {
    case FinishReason::cancelled:
      notes += ChatController::tr("Stopped");
      break;
    case FinishReason::context_full:
      notes += ChatController::tr("The context is full: start a new chat to go on");
      break;
    case FinishReason::max_tokens:
      notes += ChatController::tr("The limit of tokens for one answer was reached");
      break;
    default:
      break;
  }
  return notes.join(QStringLiteral(" · "));
}

QString details(const ModelInfo& info) {
  const QString parameters =
      QStringLiteral("%1 M").arg(static_cast<double>(info.parameters) / 1e6, 0, 'f', 0);
  if (info.experts == 0)
    return ChatController::tr("%1 · %2 parameters")
        .arg(QString::fromStdString(info.architecture), parameters);
  return ChatController::tr("%1 · %2 parameters · %3 experts, %4 for each token")
      .arg(QString::fromStdString(info.architecture), parameters)
      .arg(info.experts)
      .arg(info.experts_used);
}

}  // namespace

ChatController::ChatController(ui::ChatWindow& window, LoadRequest load_defaults,
                               RequestDefaults request_defaults)
    : window_(window),
      request_defaults_(std::move(request_defaults)),
      worker_(new EngineWorker(std::move(load_defaults))) {
  thread_.setObjectName(QStringLiteral("engine"));
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  connect_window();
  connect_worker();
  thread_.start();
}

ChatController::~ChatController() {
  if (!thread_.isRunning()) return;
  worker_->stop();
  thread_.quit();
  thread_.wait();
}

void ChatController::connect_window() {
  connect(&window_, &ui::ChatWindow::sendRequested, this, &ChatController::send);
  connect(&window_, &ui::ChatWindow::stopRequested, this, [this] { worker_->stop(); });
  connect(&window_, &ui::ChatWindow::cancelLoadRequested, this, [this] { worker_->stop(); });
  connect(&window_, &ui::ChatWindow::newChatRequested, this, &ChatController::new_chat);
  connect(&window_, &ui::ChatWindow::modelRequested, this, &ChatController::open_model);
  connect(&window_, &ui::ChatWindow::closing, this, &ChatController::close);
}

void ChatController::connect_worker() {
  connect(worker_, &EngineWorker::loadProgress, this, &ChatController::on_load_progress);
  connect(worker_, &EngineWorker::loaded, this, &ChatController::on_loaded);
  connect(worker_, &EngineWorker::loadFailed, this, &ChatController::on_load_failed);
  connect(worker_, &EngineWorker::promptProgress, this, &ChatController::on_prompt_progress);
  connect(worker_, &EngineWorker::textArrived, this, &ChatController::on_text);
  connect(worker_, &EngineWorker::finished, this, &ChatController::on_finished);
  connect(worker_, &EngineWorker::failed, this, &ChatController::on_failed);
}

// --- what the user asks for

void ChatController::open_model(const QString& path) {
  worker_->stop();
  window_.clear_error();
  window_.set_state(State::loading);
  window_.show_progress(tr("Loading %1").arg(QFileInfo(path).fileName()), 0, 0);
  opening_ = path;
  model_loaded_ = false;
  QMetaObject::invokeMethod(
      worker_, [worker = worker_, ticket = worker_->next_ticket(), path] { worker->load(ticket, path); });
}

void ChatController::send(const QString& text) {
  if (!model_loaded_ || window_.state() != State::ready) return;
  window_.clear_error();
  conversation_.push_back({"user", text.toStdString()});
  show(ui::Author::user, text);
  show(ui::Author::assistant, {});
  window_.set_state(State::generating);
  window_.show_status(tr("Reading the prompt…"));
  discard_answer_ = false;
  GenerateRequest request = request_defaults_(info_);
  request.messages.insert(request.messages.end(), conversation_.begin(), conversation_.end());
  QMetaObject::invokeMethod(worker_, [worker = worker_, ticket = worker_->next_ticket(), request] {
    worker->generate(ticket, request);
  });
}

void ChatController::show(ui::Author author, const QString& text) {
  ui::MessageView message;
  message.id = ++last_shown_;
  message.author = author;
  message.text = text;
  message.streaming = author == ui::Author::assistant;
  window_.transcript().append_message(message);
}

void ChatController::new_chat() {
  discard_answer_ = window_.state() == State::generating;
  if (discard_answer_) worker_->stop();
  conversation_.clear();
  window_.transcript().clear();
  window_.clear_error();
  window_.show_status({});
  window_.composer().focus_input();
}

// The window is gone at once; the program ends when the engine has let go of its work.
void ChatController::close() {
  worker_->stop();
  connect(&thread_, &QThread::finished, this, &ChatController::closed);
  thread_.quit();
}

// --- what the engine answers

void ChatController::on_load_progress(const Progress& progress) {
  if (window_.state() != State::loading) return;
  const QString item = QString::fromStdString(progress.item);
  window_.show_progress(tr("Loading %1  %2").arg(QFileInfo(opening_).fileName(), item), progress.done,
                        progress.total);
}

void ChatController::on_loaded(const ModelInfo& info, const LoadRequest& settings) {
  info_ = info;
  context_ = settings.context;
  model_loaded_ = true;
  window_.set_model(QString::fromStdString(info.name), details(info));
  window_.set_state(State::ready);
  window_.show_status(tr("Ready · context %1 tokens").arg(context_));
  window_.composer().focus_input();
  Q_EMIT modelOpened(opening_);
}

void ChatController::on_load_failed(const Error& error) {
  window_.set_model({}, {});
  window_.set_state(State::no_model);
  window_.show_status({});
  if (error.kind != ErrorKind::cancelled) window_.show_error(QString::fromStdString(error.message()));
}

void ChatController::on_prompt_progress(const Progress& progress) {
  if (window_.state() != State::generating || discard_answer_) return;
  const bool long_enough_to_tell = progress.total > 512 && progress.done < progress.total;
  window_.show_progress(long_enough_to_tell ? tr("Reading the prompt") : QString(), progress.done,
                        progress.total);
}

void ChatController::on_text(const QString& text, const Timings& so_far) {
  if (discard_answer_) return;
  window_.show_progress({}, 0, 0);
  window_.transcript().append_to(last_shown_, text);
  window_.show_status(speed(so_far, context_));
}

void ChatController::on_finished(const GenerateResult& result) {
  if (discard_answer_) {
    discard_answer_ = false;
  } else {
    conversation_.push_back({"assistant", result.text});
    if (const ui::MessageView* shown = window_.transcript().message(last_shown_)) {
      ui::MessageView answer = *shown;
      answer.note = note(result);
      answer.streaming = false;
      window_.transcript().update_message(answer);
    }
    window_.show_status(speed(result.timings, context_));
  }
  if (window_.state() == State::generating) window_.set_state(State::ready);
}

// The question goes back into the composer, so that nothing the user typed is lost.
void ChatController::on_failed(const Error& error) {
  if (window_.state() == State::generating) window_.set_state(State::ready);
  if (std::exchange(discard_answer_, false)) return;
  window_.transcript().remove_message(last_shown_);
  if (!conversation_.empty() && conversation_.back().role == "user") {
    if (window_.composer().text().isEmpty()) {
      window_.composer().set_text(QString::fromStdString(conversation_.back().content));
    }
    window_.transcript().remove_message(last_shown_ - 1);
    conversation_.pop_back();
  }
  window_.show_status({});
  window_.show_error(QString::fromStdString(error.message()));
}

}  // namespace fovea::app
