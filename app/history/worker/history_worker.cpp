#include "app/history/worker/history_worker.h"

#include <utility>

#include "app/history/errors.h"
#include "app/words/error_words.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

// An answer is written at least once a second; the rest of the second is for a slow disk.
constexpr int kWriteMilliseconds = 500;

// The disk or the memory may have room again.
bool may_pass(const Error& error) {
  return error.kind == ErrorKind::io || error.kind == ErrorKind::memory;
}

}  // namespace

HistoryWorker::HistoryWorker(std::filesystem::path file, Options options)
    : file_(std::move(file)), options_(std::move(options)) {
  timer_.setSingleShot(true);
  timer_.setInterval(kWriteMilliseconds);
  connect(&timer_, &QTimer::timeout, this, &HistoryWorker::write_waiting);
}

void HistoryWorker::open() {
  history_ = History::open(file_, options_);
  tell(*history_ ? QString() : error_words(history_->error()));
  if (!*history_) return;
  const Opening& opening = (*history_)->opening();
  for (const Phrase& sentence : opening.notices) Q_EMIT notice(sentence_words(sentence));
  if (!opening.read_only) {
    const auto purged = (*history_)->purge();
    if (!purged) Q_EMIT failed(error_words(purged.error()));
  }
  Q_EMIT opened(opening.read_only);
}

// A file that could not be opened may be there now: its disk has room again, or is back.
bool HistoryWorker::is_open() {
  if (history_ && !*history_ && may_pass(history_->error())) open();
  return history_ && *history_;
}

// What stays as it is told once, not at each turn.
void HistoryWorker::tell(const QString& trouble) {
  if (std::exchange(trouble_, trouble) == trouble) return;
  trouble.isEmpty() ? Q_EMIT recovered() : Q_EMIT failed(trouble);
}

void HistoryWorker::run(const std::function<void(Result<History>&)>& task) {
  if (!drafts_.empty()) write_waiting();  // the task may empty them
  is_open();
  if (history_) {
    task(*history_);
  } else {
    Result<History> closed = std::unexpected(errors::history_closed());
    task(closed);
  }
}

void HistoryWorker::append_answer(Id message, const std::string& text) {
  Waiting& answer = waiting_[message];
  answer.text += text;
  answer.end.reset();  // it goes on
  if (!timer_.isActive()) timer_.start();
}

void HistoryWorker::finish_answer(Id message, const AnswerEnd& end) {
  waiting_[message].end = end;
  write_waiting();
}

void HistoryWorker::keep_draft(Id conversation, const std::string& text) {
  drafts_[conversation] = text;
  write_waiting();
}

// What could not be written waits for the next turn.
void HistoryWorker::write_waiting() {
  timer_.stop();
  if (!is_open()) {
    if (history_ && may_pass(history_->error())) timer_.start();
    return;
  }
  History& history = **history_;
  QString why;  // the first of them waits
  for (auto answer = waiting_.begin(); answer != waiting_.end();) {
    const bool waits = must_wait(write(answer->first, answer->second), why);
    answer = waits ? std::next(answer) : waiting_.erase(answer);
  }
  std::erase_if(drafts_, [&](const auto& draft) {
    const auto& [conversation, text] = draft;
    return !must_wait(conversation == 0 ? history.set_new_draft(text) : history.set_draft(conversation, text),
                      why);
  });
  if (!why.isEmpty()) timer_.start();
  tell(why);
}

bool HistoryWorker::must_wait(const Result<void>& written, QString& why) {
  if (written) return false;
  const QString words = error_words(written.error());
  if (!may_pass(written.error())) {
    Q_EMIT failed(words);
    return false;
  }
  if (why.isEmpty()) why = words;
  return true;
}

Result<void> HistoryWorker::write(Id message, Waiting& answer) {
  History& history = **history_;
  FOVEA_CHECK(history.append_answer(message, answer.text));
  answer.text.clear();
  if (!answer.end) return {};
  FOVEA_CHECK(history.finish_answer(message, *answer.end));
  if (const auto stored = history.message(message)) Q_EMIT conversationChanged(stored->conversation);
  return {};
}

void HistoryWorker::close() {
  write_waiting();
  timer_.stop();
  history_.reset();
}

}  // namespace fovea::app::history
