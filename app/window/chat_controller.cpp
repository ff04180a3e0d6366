#include "app/window/chat_controller.h"

#include <QFileDialog>
#include <algorithm>
#include <utility>

#include "app/library/errors.h"
#include "app/library/background.h"
#include "app/library/device_choice.h"
#include "app/window/conversation_view.h"
#include "app/window/generation_settings.h"
#include "app/window/model_words.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/api/errors.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/transcript_view.h"

namespace fovea::app {
namespace {

using State = ui::ChatWindow::State;

constexpr int kShortTitle = 28;  // characters: the status has little room

}  // namespace

ChatController::ChatController(ui::ChatWindow& window, history::HistoryThread& history,
                               LoadOptions load_defaults, RequestDefaults request_defaults)
    : window_(window),
      load_defaults_(std::move(load_defaults)),
      request_defaults_(std::move(request_defaults)),
      worker_(new EngineWorker),
      conversation_(window, history,
                    [this](const ui::ChatSettingsView& settings) { return origin(settings); }),
      sidebar_(window, history),
      folders_(window, history, sidebar_) {
  thread_.setObjectName(QStringLiteral("engine"));
  worker_->moveToThread(&thread_);
  // In the thread that ends.
  connect(&thread_, &QThread::finished, worker_.get(), &EngineWorker::close, Qt::DirectConnection);
  connect_window();
  connect_worker();
  connect_conversation();
  thread_.start();
  sidebar_.refresh();
}

ChatController::~ChatController() {
  worker_->stop();
  thread_.quit();
  thread_.wait();
}

void ChatController::connect_window() {
  connect(&window_, &ui::ChatWindow::stopRequested, &conversation_, &ConversationController::stop);
  connect(&window_, &ui::ChatWindow::cancelLoadRequested, this, [this] { worker_->stop(); });
  connect(&window_, &ui::ChatWindow::modelRequested, this,
          qOverload<const QString&>(&ChatController::open_model));
  connect(&window_, &ui::ChatWindow::closing, this, &ChatController::close);
  connect(&window_.composer(), &ui::Composer::attachRequested, this, [this] {
    const QStringList paths = QFileDialog::getOpenFileNames(&window_, tr("Attach text files"));
    if (!paths.isEmpty()) conversation_.attach(paths);
  });
}

void ChatController::connect_worker() {
  connect(worker_.get(), &EngineWorker::loadProgress, this, &ChatController::on_load_progress);
  connect(worker_.get(), &EngineWorker::loaded, this, &ChatController::on_loaded);
  connect(worker_.get(), &EngineWorker::loadFailed, this, &ChatController::on_load_failed);
  connect(worker_.get(), &EngineWorker::promptProgress, this, &ChatController::on_prompt_progress);
  connect(worker_.get(), &EngineWorker::textArrived, this, &ChatController::on_text);
  connect(worker_.get(), &EngineWorker::tokensRecorded, &conversation_, &ConversationController::add_tokens);
  connect(worker_.get(), &EngineWorker::finished, this, &ChatController::on_finished);
  connect(worker_.get(), &EngineWorker::failed, this, &ChatController::on_failed);
  connect(worker_.get(), &EngineWorker::compared, this, &ChatController::open_after_comparison);
  connect(worker_.get(), &EngineWorker::comparisonFailed, this, &ChatController::open_after_comparison);
  connect(worker_.get(), &EngineWorker::answeredBeside, this, &ChatController::open_after_comparison);
  connect(worker_.get(), &EngineWorker::besideFailed, this, &ChatController::open_after_comparison);
  connect(worker_.get(), &EngineWorker::precisionUsed, this, &ChatController::on_precision_used);
}

void ChatController::connect_conversation() {
  connect(&conversation_, &ConversationController::answerWanted, this, &ChatController::ask);
  connect(&conversation_, &ConversationController::countWanted, this, &ChatController::count_attachment);
  connect(&conversation_, &ConversationController::shown, this, &ChatController::measure_conversation);
  connect(&conversation_, &ConversationController::nextChanged, this, &ChatController::measure_next);
  connect(this, &ChatController::modelOpened, &conversation_, &ConversationController::count_attachments);
  connect(&conversation_, &ConversationController::stopWanted, this, [this] { worker_->stop(); });
  connect(&conversation_, &ConversationController::workChanged, this, &ChatController::show_work);
  connect(&conversation_, &ConversationController::opened, this, &ChatController::show_work);
  connect(&conversation_, &ConversationController::opened, &conversation_,
          &ConversationController::find_use_profile);
  connect(this, &ChatController::modelOpened, &conversation_, &ConversationController::find_use_profile);
  connect(&conversation_, &ConversationController::useProfileFound, this, [this](const QByteArray& profile) {
    QMetaObject::invokeMethod(worker_.get(), [worker = worker_.get(), profile] { worker->recall(profile); });
  });
  connect(&conversation_, &ConversationController::changed, &sidebar_, &SidebarController::refresh);
  connect(&sidebar_, &SidebarController::openRequested, &conversation_, &ConversationController::open);
  connect(&sidebar_, &SidebarController::removed, this, [this](qint64 removed) {
    conversation_.give_up(removed);
    if (removed == conversation_.conversation().id) conversation_.new_chat();
  });
}

history::Origin ChatController::origin(const ui::ChatSettingsView& settings) const {
  GenerateRequest request = usual_request();
  apply(settings, request);
  leave_out_unknown(model_.info, request);
  return {model_.info.name, policy_name(model_), 0, effective_settings(request)};
}

// --- what the user asks for

void ChatController::open_model(const QString& path) {
  LoadOptions request = load_defaults_;
  request.model = path.toStdString();
  if (load_setup_) load_setup_(request);
  open_model(request);
}

void ChatController::open_model(const LoadOptions& request, const std::optional<LoadPlan>& shown) {
  worker_->stop();
  window_.clear_error();
  if (std::exchange(compared_, {})) --loads_asked_;
  leave_model();
  asked_ = request;
  if (!shown) {  // whoever opens it: for as many answers at once as the server wants
    asked_.sequences = load_defaults_.sequences;
    asked_.cache_tokens = load_defaults_.cache_tokens;
  }
  const QString name = q(request.model.filename().string());
  window_.show_progress(tr("Loading %1").arg(name), 0, 0);
  Q_EMIT modelClosed();
  Q_EMIT modelOpening(name);
  QMetaObject::invokeMethod(
      worker_.get(), [worker = worker_.get(), ticket = worker_->next_ticket(), request = asked_, shown] {
        worker->load(ticket, request, shown);
      });
}

// Nothing is asked until one is loaded.
void ChatController::leave_model() {
  ++loads_asked_;
  model_loaded_ = false;
  status_ = {};
  conversation_.set_ready(false);
  show_work();
  measure_next();
}

void ChatController::close_to_compare() {
  compared_ = opened_with(model_.settings.precision);
  leave_model();
  window_.show_progress(tr("Comparing two settings of %1").arg(q(model_.info.name)), 0, 0);
  Q_EMIT modelClosed();
}

void ChatController::answer_beside(const BesideRequest& request) {
  close_to_compare();
  QMetaObject::invokeMethod(worker_.get(), [worker = worker_.get(), ticket = worker_->next_ticket(),
                                            request] { worker->answer_beside(ticket, request); });
}

void ChatController::compare(const ComparisonRequest& request, bool keep_open) {
  if (!keep_open) close_to_compare();
  QMetaObject::invokeMethod(worker_.get(), [worker = worker_.get(), ticket = worker_->next_ticket(), request,
                                            keep_open] { worker->compare(ticket, request, keep_open); });
}

void ChatController::open_after_comparison() {
  if (const std::optional<LoadOptions> again = compared_) open_model(*again);
}

void ChatController::calibrate(const CalibrationSettings& settings) {
  QMetaObject::invokeMethod(worker_.get(), [worker = worker_.get(), ticket = worker_->next_ticket(),
                                            settings] { worker->calibrate(ticket, settings); });
}

void ChatController::reload(const PrecisionRequest& precision) {
  open_model(opened_with(precision));
}

LoadOptions ChatController::opened_with(const PrecisionRequest& precision) const {
  LoadOptions request = model_.settings;
  request.chunk = asked_.chunk;  // another policy may want another one
  request.precision = precision;
  return request;
}

void ChatController::ask(const AnswerRequest& wanted) {
  GenerateRequest request = request_defaults_(model_.info);
  apply(wanted.settings, request);
  leave_out_unknown(model_.info, request);
  request.messages.insert(request.messages.end(), wanted.messages.begin(), wanted.messages.end());
  request.continue_last = wanted.continue_last;
  const auto question =
      std::ranges::find(wanted.messages.rbegin(), wanted.messages.rend(), "user", &Message::role);
  if (question != wanted.messages.rend()) Q_EMIT questionAsked(q(question->content));
  QMetaObject::invokeMethod(worker_.get(), [worker = worker_.get(), ticket = worker_->next_ticket(),
                                            request] { worker->generate(ticket, request); });
  reading_prompt_ = true;
  update_status();
}

// The window is gone at once; the program ends when the engine has let go of its work.
void ChatController::close() {
  worker_->stop();
  compared_.reset();
  conversation_.set_ready(false);
  connect(&thread_, &QThread::finished, this, &ChatController::closed);
  thread_.quit();
}

// Of the conversation that is shown, and who else is at work.
void ChatController::show_work() {
  switch (conversation_.work()) {
    case Work::waiting:
      window_.set_state(loads_asked_ > 0 ? State::loading : State::waiting);
      break;
    case Work::none:
      window_.set_state(loads_asked_ > 0 ? State::loading : model_loaded_ ? State::ready : State::no_model);
      break;
    default:
      window_.set_state(loads_asked_ > 0 ? State::loading : State::generating);
  }
  window_.sidebar().set_at_work(conversation_.answering(), conversation_.waiting());
  update_status();
}

void ChatController::update_status() {
  const Work work = conversation_.work();
  if (conversation_.answering() == 0) {
    status_.activity = work == Work::storing ? tr("Reading the prompt…") : QString();
  } else if (!conversation_.shows_answer()) {
    status_.activity = tr("Answering in “%1”").arg(title_of(conversation_.answering_title(), kShortTitle));
  } else {
    status_.activity = reading_prompt_ ? tr("Reading the prompt…") : tr("Answering…");
  }
  status_.is_in_view = conversation_.answering() != 0 && conversation_.shows_answer() && !reading_prompt_;
  window_.set_status(status_);
}

// --- what fits

void ChatController::measure_conversation() {
  conversation_tokens_.count(model_loaded_ ? model_.text : nullptr, conversation_.prompt(),
                             [this](std::int64_t tokens) {
                               status_.context_used = std::min<qint64>(tokens, status_.context);
                               update_status();
                             });
}

// Said before it is sent: no part of the conversation that is left out would make room for it.
void ChatController::measure_next() {
  next_tokens_.count(
      model_loaded_ ? model_.text : nullptr, conversation_.next_prompt(), [this](std::int64_t tokens) {
        const std::int64_t context = model_.settings.context;
        const bool fits = tokens == 0 || tokens < context;
        window_.composer().set_warning(fits ? QString()
                                            : too_long_text(tokens, context, model_.info.context));
      });
}

void ChatController::count_attachment(quint64 attachment, const QString& text) {
  if (!model_loaded_) return;
  in_background(
      this, [model = model_.text, text] { return std::ssize(model->encode(text.toStdString())); },
      [this, attachment, model = model_.text](std::int64_t tokens) {
        if (model == model_.text) conversation_.set_attachment_tokens(attachment, tokens);
      });
}

// --- what the engine answers

void ChatController::on_load_progress(const Progress& progress) {
  if (window_.state() != State::loading) return;
  window_.show_progress(tr("Loading the model…"), progress.done, progress.total);
}

void ChatController::on_loaded(const LoadedModel& model) {
  if (--loads_asked_ > 0) return;
  model_ = model;
  model_loaded_ = true;
  window_.set_model(shown_name(model.info), details_of(model.info));
  status_ = {};
  status_.model = shown_name(model.info);
  status_.device = device_text(model);
  status_.device_why = device_why(model);
  status_.policy = policy_text(model);
  status_.policy_why = policy_why(model);
  status_.context = model.settings.context;
  status_.memory_bytes = memory_bytes(model);
  if (model.plan || model.first_card)
    status_.budget_bytes =
        model.last_card.budget_bytes + (model.first_card ? model.first_card->budget_bytes : 0);
  status_.memory_why = memory_why(model);
  if (!model.changed.empty()) window_.show_notice(changed_text(model.changed));
  show_work();
  window_.composer().focus_input();
  Q_EMIT modelOpened(q(asked_.model.string()));
  conversation_.set_ready(true);
  measure_conversation();
  measure_next();
}

void ChatController::on_load_failed(const Error& error) {
  if (--loads_asked_ > 0) return;
  window_.set_model({}, {});
  show_work();
  Q_EMIT modelClosed();
  if (error.kind != ErrorKind::cancelled) show_error(error);
}

// With a button for what helps, where there is one.
void ChatController::show_error(const Error& error) {
  const auto [text, details] = error_text(error);
  const Code* const about_devices[] = {
      &errors::no_such_device.code,         &errors::no_gpu_here.code,
      &errors::device_unusable.code,        &errors::chosen_device_gone.code,
      &errors::chosen_device_replaced.code, &errors::chosen_device_unusable.code};
  const bool about_device =
      std::ranges::any_of(about_devices, [&](const Code* code) { return error.is(*code); });
  if (error.kind == ErrorKind::device) {
    window_.show_error(text, tr("Restart Fovea"), [this] { Q_EMIT restartRequested(); }, details);
  } else if (about_device) {
    window_.show_error(text, tr("Settings…"), [this] { Q_EMIT window_.settingsRequested(); }, details);
  } else {
    window_.show_error(text, {}, {}, details);
  }
}

void ChatController::on_prompt_progress(const Progress& progress) {
  if (window_.state() != State::generating) return;
  const bool long_enough_to_tell = progress.total > 512 && progress.done < progress.total;
  window_.show_progress(long_enough_to_tell ? tr("Reading the prompt") : QString(), progress.done,
                        progress.total);
}

// Of the prompt; that of a model which is opened meanwhile stays, with the button that cancels it.
void ChatController::hide_progress() {
  if (window_.state() == State::generating) window_.show_progress({}, 0, 0);
}

void ChatController::on_text(const QString& text, const Timings& so_far) {
  hide_progress();
  conversation_.add_text(text);
  reading_prompt_ = false;
  if (conversation_.shows_answer()) {
    status_.context_used = std::min<qint64>(so_far.prompt_tokens + so_far.generated_tokens, status_.context);
  }
  status_.tokens_per_second = so_far.tokens_per_second();
  update_status();
  Q_EMIT timingsArrived(so_far);
}

void ChatController::on_finished(const GenerateResult& result) {
  hide_progress();
  status_.tokens_per_second = result.timings.tokens_per_second();
  conversation_.finish(result);
  look_at_device();
}

// Whether other programs leave a card what the next answer may need.
void ChatController::look_at_device() {
  const std::string device = model_.settings.device;
  if (!is_card(device)) return;
  in_background(
      this, [device] { return short_of_memory(device); },
      [this](const QString& sentence) {
        if (!std::exchange(told_of_full_device_, !sentence.isEmpty()) && !sentence.isEmpty())
          window_.show_notice(sentence);
      });
}

// Once: the answers go on without the log.
void ChatController::on_precision_used(const PrecisionUse& use) {
  if (std::exchange(log_failure_, use.log_failure) == use.log_failure || use.log_failure.empty()) return;
  window_.show_notice(tr("The log of swaps ends early: %1").arg(sentence_words(use.log_failure)));
}

// The question stays in the conversation, with the reason under it, which is told again only where that is
// not seen, or where a button can help. What would be left out is said before it is.
void ChatController::on_failed(const Error& error) {
  hide_progress();
  const bool is_shown = conversation_.shows_answer();
  const QString title = conversation_.answering_title();
  conversation_.fail_answer(error);
  if (error.kind == ErrorKind::device) return show_error(error);
  if (!is_shown) {
    const auto [text, details] = error_text(error);
    return window_.show_error(tr("“%1” was not answered. %2").arg(title, text), {}, {}, details);
  }
  if (!error.is(errors::conversation_too_long.code)) return;
  const auto too_many = static_cast<std::size_t>(error.number("messages").value_or(0));
  if (too_many == 0 || too_many >= conversation_.messages().size()) return;
  const QString first_kept = title_of(q(conversation_.messages()[too_many].text));
  window_.show_error(
      tr("Without the oldest messages, the model would start reading from “%1”.").arg(first_kept),
      tr("Leave out %n message(s)", nullptr, static_cast<int>(too_many)),
      [this] { conversation_.retry_leaving_out_oldest(); });
}

}  // namespace fovea::app
