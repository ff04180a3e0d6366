// What is asked of the engine, one question after the other, and what becomes of the answers.
#include <algorithm>
#include <utility>

#include "app/history/worker/history_thread.h"
#include "app/window/attachments.h"
#include "app/window/conversation_controller.h"
#include "app/window/conversation_view.h"
#include "app/window/generation_settings.h"
#include "app/window/window_errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/transcript_view.h"

namespace fovea::app {

using history::Id;
using history::MessageState;

// --- who is answered, and who waits

void ConversationController::set_ready(bool ready) {
  ready_ = ready;
  if (work() == Work::waiting) show_messages();
  ask_next();
}

Work ConversationController::work() const {
  if (storing_) return Work::storing;
  const auto asked = asked_in(conversation_.id);
  if (asked == queue_.end()) return Work::none;
  return &*asked == writing() ? Work::answering : Work::waiting;
}

Id ConversationController::answering() const {
  return writing() ? writing()->conversation : 0;
}

QString ConversationController::answering_title() const {
  return writing() ? writing()->title : QString();
}

std::vector<qint64> ConversationController::waiting() const {
  std::vector<qint64> conversations;
  for (const Asked& asked : queue_)
    if (&asked != writing()) conversations.push_back(asked.conversation);
  return conversations;
}

std::deque<ConversationController::Asked>::const_iterator ConversationController::asked_in(
    Id conversation) const {
  return std::ranges::find(queue_, conversation, &Asked::conversation);
}

ConversationController::Storing ConversationController::begin_storing() {
  storing_ = std::make_shared<bool>(false);
  Q_EMIT workChanged();
  return storing_;
}

void ConversationController::stored(const Storing& storing, const Result<history::Branch>& branch,
                                    bool continue_last) {
  const bool is_shown = storing_ == storing;
  if (is_shown) storing_.reset();
  if (!branch) {
    tell_error(window_, branch.error(), tr("The message was not sent, because it could not be stored: %1"));
    Q_EMIT workChanged();
    return;
  }
  if (is_shown) conversation_.id = branch->conversation.id;
  want_answer(*branch, continue_last);
  if (*storing) stop_answer(branch->conversation.id);
}

void ConversationController::want_answer(const history::Branch& branch, bool continue_last) {
  const history::Message& answer = branch.messages.back();
  Asked asked{.conversation = branch.conversation.id,
              .message = answer.id,
              .title = q(branch.conversation.title),
              .request = {},
              .text = continue_last ? q(answer.text) : QString(),
              .bytes_before = continue_last ? std::ssize(answer.text) : 0,
              .waited = !ready_ || !queue_.empty()};
  asked.request.messages = prompt_of(branch);
  asked.request.continue_last = continue_last;
  asked.request.settings = read_generation_settings(branch.conversation.settings);
  if (!continue_last) asked.request.messages.pop_back();  // the answer, which is empty
  if (ended_.message == answer.id) ended_ = {};           // it goes on
  queue_.push_back(std::move(asked));
  if (branch.conversation.id == conversation_.id) show(branch);
  Q_EMIT changed(branch.conversation.id);
  Q_EMIT workChanged();
  ask_next();
}

// With what answers now, which may be another model than the one that was open when it was asked for.
void ConversationController::ask_next() {
  if (!ready_ || answering_ || queue_.empty()) return;
  answering_ = true;
  const Asked& next = queue_.front();
  if (next.waited && !next.request.continue_last) {
    const history::Origin origin = origin_(next.request.settings);
    for (history::Message& message : messages_)
      if (message.id == next.message) message.origin = origin;
    history_.tell(
        [id = next.message, origin](history::History& history) { return history.set_origin(id, origin); });
  }
  if (asked_in(conversation_.id) != queue_.end()) show_messages();
  Q_EMIT workChanged();
  Q_EMIT answerWanted(next.request);
}

std::vector<Message> ConversationController::prompt() const {
  std::vector<Message> all = prompt_of({conversation_, messages_});
  if (!all.empty() && all.back().content.empty()) all.pop_back();  // an answer that is not there yet
  return all;
}

std::vector<Message> ConversationController::next_prompt() const {
  std::vector<history::Attachment> files;
  for (const Waiting& waiting : attachments_) files.push_back(waiting.file);
  const std::string text = prompt_text(window_.composer().text().trimmed().toStdString(), files);
  if (text.empty()) return {};
  std::vector<Message> next = prompt_of({conversation_, {}});
  next.push_back({"user", text});
  return next;
}

std::vector<Message> ConversationController::prompt_of(const history::Branch& branch) const {
  std::vector<Message> prompt;
  if (!branch.conversation.system_prompt.empty())
    prompt.push_back({"system", branch.conversation.system_prompt});
  for (const history::Message& message : branch.messages) {
    prompt.push_back(
        {std::string(history::name_of(message.role)), prompt_text(message.text, message.attachments)});
  }
  return prompt;
}

// --- ending early

void ConversationController::stop() {
  if (storing_) {
    *storing_ = true;
  } else {
    stop_answer(conversation_.id);
  }
}

void ConversationController::stop_answer(Id conversation) {
  const auto asked = asked_in(conversation);
  if (asked == queue_.end()) return;
  if (&*asked == writing()) {
    Q_EMIT stopWanted();
    return;
  }
  const Asked waited = *asked;
  queue_.erase(asked);
  if (!waited.request.continue_last) return take_back(waited);
  if (conversation == conversation_.id) show_messages();
  Q_EMIT workChanged();
}

// Nothing of it is lost: text and files are where they were before they were sent.
void ConversationController::take_back(const Asked& asked) {
  save_draft();
  const Storing storing = asked.conversation == conversation_.id ? begin_storing() : nullptr;
  history_.ask(
      this, [answer = asked.message](history::History& history) { return history.take_back(answer); },
      [this, storing, conversation = asked.conversation](const Result<history::TakenBack>& back) {
        if (storing_ == storing) storing_.reset();
        Q_EMIT workChanged();
        const bool is_shown = conversation == conversation_.id;
        if (!back) {
          if (is_shown) show_messages();
          return tell_error(window_, back.error());
        }
        std::vector<Waiting>& files = is_shown ? attachments_ : kept_attachments_[conversation];
        for (const history::Attachment& file : back->question.attachments)
          files.push_back({++last_attachment_, file});
        if (is_shown) {
          show(back->branch);
          show_attachments();
          window_.composer().set_text(q(conversation_.draft));
          window_.composer().focus_input();
        }
        Q_EMIT changed(conversation);
      });
}

void ConversationController::give_up(Id conversation) {
  const auto asked = asked_in(conversation);
  if (asked == queue_.end()) return;
  if (&*asked == writing()) {
    Q_EMIT stopWanted();
    return;
  }
  if (!asked->request.continue_last)
    history_.finish_answer(asked->message, {.state = MessageState::stopped, .timings = {}, .note = {}});
  queue_.erase(asked);
  Q_EMIT workChanged();
}

// --- answers

void ConversationController::add_text(const QString& text) {
  if (!answering_) return;
  Asked& asked = queue_.front();
  asked.text += text;
  history_.append_answer(asked.message, text);
  if (window_.transcript().message(asked.message)) window_.transcript().append_to(asked.message, text);
}

void ConversationController::add_tokens(const std::vector<TokenRecord>& records) {
  if (answering_) Q_EMIT tokensWritten(queue_.front().message, queue_.front().bytes_before, records);
}

namespace {

QString note_of(const GenerateResult& result) {
  QStringList notes;
  if (result.dropped_messages > 0) {
    notes += ConversationController::tr("%n oldest message(s) no longer fit and were left out", nullptr,
                                        result.dropped_messages);
  }
  switch (result.finish) {
    case FinishReason::cancelled:
      notes += ConversationController::tr("Stopped");
      break;
    case FinishReason::context_full:
      notes += ConversationController::tr(
          "The context is full: start a new chat, or let the oldest messages be left out (Chat settings)");
      break;
    case FinishReason::max_tokens:
      notes += ConversationController::tr("The token limit for one answer was reached");
      break;
    default:
      break;
  }
  return notes.join(QStringLiteral(" · "));
}

}  // namespace

void ConversationController::finish(const GenerateResult& result) {
  history::AnswerEnd end;
  end.state = result.finish == FinishReason::cancelled ? MessageState::stopped : MessageState::complete;
  end.seed = result.seed;
  end.timings = timings_json(result);
  end.note = note_of(result).toStdString();
  end.use_profile = result.use_profile;
  end_answer(end);
}

void ConversationController::fail_answer(const Error& error) {
  history::AnswerEnd end;
  end.state = MessageState::failed;
  end.note = error_words(error).toStdString();
  end_answer(end);
}

// What was written of the answer stays, however it ended.
void ConversationController::end_answer(const history::AnswerEnd& end) {
  if (!answering_) return;
  answering_ = false;
  const Asked written = std::move(queue_.front());
  queue_.pop_front();
  history_.finish_answer(written.message, end);
  ended_ = {.message = written.message, .text = written.text.toStdString(), .end = end};
  show_end();
  if (written.conversation == conversation_.id || work() == Work::waiting) show_messages();
  Q_EMIT workChanged();
  Q_EMIT changed(written.conversation);
  ask_next();
}

void ConversationController::show_end() {
  for (history::Message& message : messages_) {
    if (message.id != ended_.message) continue;
    message.text = ended_.text;
    message.state = ended_.end.state;
    message.origin.seed = ended_.end.seed;
    message.timings = ended_.end.timings;
    message.note = ended_.end.note;
  }
}

void ConversationController::retry_leaving_out_oldest() {
  ui::ChatSettingsView settings = chat_settings();
  settings.leave_out_oldest = true;
  set_chat_settings(settings);
  regenerate_last();
}

}  // namespace fovea::app
