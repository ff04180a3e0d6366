// What is typed and attached in a conversation, and not sent yet.
#include <algorithm>
#include <utility>

#include "app/history/worker/history_thread.h"
#include "app/window/attachments.h"
#include "app/window/conversation_controller.h"
#include "app/window/window_errors.h"
#include "app/words/qt_text.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"

namespace fovea::app {
// What is typed and attached stays with its conversation; a change of an earlier message is given up.
void ConversationController::leave_conversation() {
  save_draft();
  if (editing_ == 0) kept_attachments_[conversation_.id] = attachments_;
}

void ConversationController::new_chat_apart() {
  new_chat();
  draft_timer_.stop();
  apart_ = Apart{new_draft_, std::exchange(attachments_, {})};
  window_.composer().set_text({});
  show_attachments();
}

void ConversationController::bring_back_apart() {
  if (!apart_) return;
  const Apart laid_aside = *std::exchange(apart_, {});
  new_draft_ = laid_aside.draft;
  kept_attachments_[0] = laid_aside.attachments;
  if (!new_draft_.empty()) history_.keep_draft(0, q(new_draft_));
}

void ConversationController::save_draft() {
  draft_timer_.stop();
  if (editing_ != 0) return;
  const QString text = window_.composer().text();
  const std::string draft = text.toStdString();
  std::string& stored = conversation_.id == 0 ? new_draft_ : conversation_.draft;
  if (draft == stored) return;
  stored = draft;
  history_.keep_draft(conversation_.id, text);
}

// What was typed before the program ended, unless something is there already.
void ConversationController::restore_draft() {
  history_.ask(
      this, [](history::History& history) { return history.new_draft(); },
      [this](const Result<std::string>& draft) {
        if (!draft || draft->empty() || !new_draft_.empty()) return;
        new_draft_ = *draft;
        if (conversation_.id == 0 && !storing_ && window_.composer().text().isEmpty())
          window_.composer().set_text(q(new_draft_));
      });
}

void ConversationController::attach(const QStringList& paths) {
  for (const QString& path : paths) {
    auto file = read_attachment(path.toStdString());
    if (!file) {
      tell_error(window_, file.error());
      continue;
    }
    file->tokens = -1;  // not counted yet
    add_attachment(*file);
    Q_EMIT countWanted(attachments_.back().number, q(file->text));
  }
  show_attachments();
}

void ConversationController::add_attachment(const history::Attachment& file) {
  attachments_.push_back({++last_attachment_, file});
}

void ConversationController::set_attachment_tokens(quint64 attachment, qint64 tokens) {
  const auto counted = std::ranges::find(attachments_, attachment, &Waiting::number);
  if (counted == attachments_.end()) return;  // taken out meanwhile
  counted->file.tokens = tokens;
  show_attachments();
}

void ConversationController::restore_attachments() {
  attachments_ = std::exchange(kept_attachments_[conversation_.id], {});
  show_attachments();
  count_attachments();
}

void ConversationController::count_attachments() {
  for (const Waiting& waiting : attachments_) Q_EMIT countWanted(waiting.number, q(waiting.file.text));
}

void ConversationController::show_attachments() {
  std::vector<ui::AttachmentView> views;
  for (const auto& [number, file] : attachments_) {
    views.push_back({q(file.name),
                     file.tokens < 0 ? tr("%Ln character(s)", nullptr, static_cast<int>(q(file.text).size()))
                                     : tr("%Ln token(s)", nullptr, static_cast<int>(file.tokens))});
  }
  window_.composer().set_attachments(views);
  Q_EMIT nextChanged();
}

}  // namespace fovea::app
