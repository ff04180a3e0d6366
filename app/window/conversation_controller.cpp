#include "app/window/conversation_controller.h"

#include <algorithm>

#include "app/history/worker/history_thread.h"
#include "app/window/attachments.h"
#include "app/window/conversation_view.h"
#include "app/window/errors.h"
#include "app/window/generation_settings.h"
#include "app/window/window_errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/transcript_view.h"

namespace fovea::app {
namespace {

using history::Id;
using history::MessageState;
using history::Role;

constexpr int kDraftMilliseconds = 800;

}  // namespace

ConversationController::ConversationController(ui::ChatWindow& window, history::HistoryThread& history,
                                               OriginMaker origin)
    : window_(window), history_(history), origin_(std::move(origin)) {
  connect(&window, &ui::ChatWindow::sendRequested, this, &ConversationController::send);
  connect(&window, &ui::ChatWindow::newChatRequested, this, [this] {
    window_.composer().focus_input();
    new_chat();
  });
  connect(&window, &ui::ChatWindow::regenerateRequested, this, &ConversationController::regenerate_last);
  connect(&window, &ui::ChatWindow::continueRequested, this, &ConversationController::continue_last);
  connect(&window, &ui::ChatWindow::editRequested, this, &ConversationController::edit_last);
  connect(&window.transcript(), &ui::TranscriptView::messageActionRequested, this,
          &ConversationController::act);
  connect(&window.transcript(), &ui::TranscriptView::siblingRequested, this,
          &ConversationController::go_to_sibling);
  ui::Composer& composer = window.composer();
  connect(&composer, &ui::Composer::editCancelled, this, &ConversationController::cancel_edit);
  connect(&composer, &ui::Composer::filesDropped, this, &ConversationController::attach);
  connect(&composer, &ui::Composer::attachmentRemoved, this, [this](int index) {
    attachments_.erase(attachments_.begin() + index);
    show_attachments();
  });
  connect(&composer, &ui::Composer::textEdited, &draft_timer_, qOverload<>(&QTimer::start));
  draft_timer_.setSingleShot(true);
  draft_timer_.setInterval(kDraftMilliseconds);
  connect(&draft_timer_, &QTimer::timeout, this, &ConversationController::save_draft);
  connect(&draft_timer_, &QTimer::timeout, this, &ConversationController::nextChanged);
  connect(&window, &ui::ChatWindow::closing, this, &ConversationController::save_draft);
  restore_draft();
}

// --- what is shown

void ConversationController::new_chat(Id folder, const ui::ChatSettingsView& settings) {
  leave_conversation();
  ++shown_;
  storing_.reset();
  conversation_ = {};
  conversation_.folder = folder;
  conversation_.system_prompt = settings.instructions.toStdString();
  conversation_.settings = write_generation_settings(settings);
  messages_.clear();
  editing_ = 0;
  window_.transcript().clear();
  window_.composer().set_editing(false);
  window_.composer().set_text(q(new_draft_));
  restore_attachments();
  window_.clear_error();
  window_.sidebar().set_current(0, folder);
  window_.set_conversation_title({});
  Q_EMIT shown();
  Q_EMIT opened();
}

void ConversationController::open(Id conversation, Id message, const QStringList& found) {
  save_draft();
  const quint64 ticket = ++shown_;
  history_.ask(
      this,
      [conversation, message](history::History& history) {
        return message == 0 ? history.branch(conversation) : history.choose(message);
      },
      [this, ticket, message, found](const Result<history::Branch>& branch) {
        if (ticket != shown_) return;
        if (!branch) return tell_error(window_, branch.error());
        leave_conversation();
        storing_.reset();
        editing_ = 0;
        window_.clear_error();
        window_.composer().set_editing(false);
        window_.composer().set_text(q(branch->conversation.draft));
        show(*branch);
        restore_attachments();
        if (message != 0) window_.transcript().show_found(message, found);
        Q_EMIT opened();
      });
}

void ConversationController::find_use_profile() {
  if (conversation_.id == 0) return;
  history_.ask(
      this, [id = conversation_.id](history::History& history) { return history.use_profile(id); },
      [this, ticket = shown_](const Result<std::string>& profile) {
        if (ticket == shown_ && profile && !profile->empty())
          Q_EMIT useProfileFound(QByteArray::fromStdString(*profile));
      });
}

void ConversationController::show(const history::Branch& branch) {
  conversation_ = branch.conversation;
  messages_ = branch.messages;
  for (history::Message& message : messages_) {
    if (writing() && message.id == writing()->message) message.text = writing()->text.toStdString();
  }
  show_end();
  show_messages();
  window_.sidebar().set_current(conversation_.id);
  window_.set_conversation_title(q(conversation_.title));
}

void ConversationController::show_messages() {
  ui::MessageId at_work = 0;
  QString waits_for;
  const auto asked = asked_in(conversation_.id);
  if (asked != queue_.end()) at_work = asked->message;
  if (work() == Work::waiting) {
    waits_for = !ready_ ? tr("Waiting for a model to be opened")
                        : tr("Waiting for the answer in “%1”").arg(queue_.front().title);
  }
  window_.transcript().set_messages(views_of(messages_, {at_work, waits_for}));
  Q_EMIT shown();
}

void ConversationController::go_to_sibling(ui::MessageId id, int delta) {
  const history::Message* message = find(id);
  if (!message) return;
  const Id other = delta < 0 ? message->previous_sibling : message->next_sibling;
  if (other == 0) return;
  const quint64 ticket = ++shown_;
  history_.ask(
      this, [other](history::History& history) { return history.choose(other); },
      [this, ticket](const Result<history::Branch>& branch) {
        if (ticket != shown_) return;
        if (!branch) return tell_error(window_, branch.error());
        show(*branch);
      });
}

const history::Message* ConversationController::find(Id id) const {
  const auto found = std::ranges::find(messages_, id, &history::Message::id);
  return found == messages_.end() ? nullptr : &*found;
}

const history::Message* ConversationController::last(Role role) const {
  for (auto message = messages_.rbegin(); message != messages_.rend(); ++message) {
    if (message->role == role) return &*message;
  }
  return nullptr;
}

// --- what the user does

void ConversationController::act(ui::MessageId id, ui::MessageAction action) {
  if (action != ui::MessageAction::edit && work() == Work::none && !ready_) {
    return window_.show_notice(error_words(errors::no_model_open()));
  }
  switch (action) {
    case ui::MessageAction::edit:
      return edit(id);
    case ui::MessageAction::regenerate:
      return regenerate(id);
    case ui::MessageAction::continue_answer:
      return continue_answer(id);
    default:
      return;
  }
}

void ConversationController::edit(Id id) {
  const history::Message* message = find(id);
  if (!message || work() != Work::none) return;
  leave_conversation();
  editing_ = id;
  attachments_.clear();
  for (const history::Attachment& file : message->attachments) add_attachment(file);
  show_attachments();
  window_.composer().set_text(q(message->text));
  window_.composer().set_editing(true);
  window_.composer().focus_input();
}

void ConversationController::cancel_edit() {
  editing_ = 0;
  restore_attachments();
  window_.composer().set_editing(false);
  window_.composer().set_text(q(conversation_.draft));
}

void ConversationController::edit_last() {
  if (const history::Message* question = last(Role::user)) edit(question->id);
}

void ConversationController::regenerate_last() {
  if (const history::Message* answer = last(Role::assistant)) regenerate(answer->id);
}

void ConversationController::continue_last() {
  if (const history::Message* answer = last(Role::assistant)) continue_answer(answer->id);
}

void ConversationController::send(const QString& text) {
  if (work() != Work::none) return;
  history::NewTurn turn;
  turn.conversation = conversation_.id;
  if (turn.conversation == 0) {
    const QString subject =
        text.isEmpty() && !attachments_.empty() ? q(attachments_.front().file.name) : text;
    turn.created = {title_of(subject).toStdString(), conversation_.system_prompt, conversation_.settings,
                    conversation_.folder};
  }
  const history::Message* edited = find(editing_);
  if (edited) {
    turn.parent = edited->parent;
  } else if (!messages_.empty()) {
    turn.parent = messages_.back().id;
  }
  turn.text = text.toStdString();
  for (const Waiting& waiting : attachments_) {
    turn.attachments.push_back(waiting.file);
    turn.attachments.back().tokens = std::max<std::int64_t>(waiting.file.tokens, 0);
  }
  turn.answer = origin_(chat_settings());

  if (turn.conversation == 0) new_draft_.clear();
  window_.clear_error();
  const Storing storing = begin_storing();
  const quint64 ticket = ++shown_;
  history_.ask(
      this,
      [turn](history::History& history) -> Result<history::Branch> {
        FOVEA_TRY(history::Turn stored, history.add_turn(turn));
        return history::Branch{std::move(stored.conversation), std::move(stored.messages)};
      },
      [this, storing, ticket, text, was = turn.conversation,
       was_edit = edited != nullptr](const Result<history::Branch>& branch) {
        if (!branch) {
          if (window_.composer().text().isEmpty()) window_.composer().set_text(text);
        } else {
          if (!was_edit) kept_attachments_.erase(was);
          if (was == 0) bring_back_apart();
          if (ticket == shown_) {
            editing_ = 0;
            restore_attachments();
            window_.composer().set_editing(false);
            if (was_edit && window_.composer().text().isEmpty())
              window_.composer().set_text(q(conversation_.draft));
          }
        }
        stored(storing, branch);
      });
}

void ConversationController::regenerate(Id answer) {
  const history::Message* message = find(answer);
  if (!message || work() != Work::none) return;
  const Id question = message->parent;
  const history::Origin origin = origin_(chat_settings());
  history_.ask(
      this, [question, origin](history::History& history) { return history.add_answer(question, origin); },
      [this, storing = begin_storing()](const Result<history::Branch>& branch) { stored(storing, branch); });
}

void ConversationController::go_on_from(Id answer, const QString& text,
                                        std::function<void(qint64 answer)> begun) {
  const history::Message* message = find(answer);
  if (!message || work() != Work::none || message->role != Role::assistant) return;
  if (!ready_) return window_.show_notice(error_words(errors::no_model_open()));
  const history::Origin origin = origin_(chat_settings());
  history_.ask(
      this,
      [question = message->parent, origin,
       beginning = text.toStdString()](history::History& history) -> Result<history::Branch> {
        FOVEA_TRY(history::Branch branch, history.add_answer(question, origin));
        FOVEA_CHECK(history.append_answer(branch.messages.back().id, beginning));
        branch.messages.back().text = beginning;
        return branch;
      },
      [this, storing = begin_storing(), begun = std::move(begun)](const Result<history::Branch>& branch) {
        if (branch) begun(branch->messages.back().id);
        stored(storing, branch, true);
      });
}

void ConversationController::continue_answer(Id answer) {
  const history::Message* message = find(answer);
  if (!message || work() != Work::none || message->role != Role::assistant) return;
  if (message != &messages_.back()) {
    window_.show_notice(tr("Only the last answer of a conversation can be continued."));
    return;
  }
  want_answer({conversation_, messages_}, true);
}

// --- settings

ui::ChatSettingsView ConversationController::chat_settings() const {
  ui::ChatSettingsView settings = read_generation_settings(conversation_.settings);
  settings.instructions = q(conversation_.system_prompt);
  return settings;
}

void ConversationController::set_chat_settings(const ui::ChatSettingsView& settings) {
  conversation_.system_prompt = settings.instructions.toStdString();
  conversation_.settings = write_generation_settings(settings);
  Q_EMIT shown();
  Q_EMIT nextChanged();
  if (conversation_.id == 0) return;  // stored with the first message
  history_.tell([id = conversation_.id, prompt = conversation_.system_prompt,
                 json = conversation_.settings](history::History& history) -> Result<void> {
    if (auto stored = history.set_system_prompt(id, prompt); !stored) return stored;
    return history.set_settings(id, json);
  });
}

}  // namespace fovea::app
