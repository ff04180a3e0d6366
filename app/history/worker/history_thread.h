// The history behind queued calls: it lives in a thread of its own, the GUI thread never waits for the disk.
//
//   history.ask(this, [](History& h) { return h.branch(7); },
//               [this](const Result<Branch>& branch) { … });
//
// Answers arrive in the thread that made the HistoryThread, where the receivers live, in the order of the
// questions. An answer whose receiver is gone is dropped.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QThread>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "app/history/history.h"

namespace fovea::app::history {

class HistoryWorker;

class HistoryThread : public QObject {
  Q_OBJECT

 public:
  // Starts the thread, which opens the file. `file` is history_file() for the program.
  explicit HistoryThread(std::filesystem::path file, Options options = {});
  // Writes what is not yet written and waits for the thread. After closed() there is nothing to wait for.
  ~HistoryThread() override;

  // Ends the thread after what was asked before; closed() follows.
  void close();

  // Runs `question` on the history's thread, then `answer` here. When the file could not be opened, the
  // answer is the reason.
  template <class Question, class Answer>
  void ask(QObject* receiver, Question question, Answer answer) {
    post([this, receiver = QPointer<QObject>(receiver), question = std::move(question),
          answer = std::move(answer)](Result<History>& history) mutable {
      using Value = std::invoke_result_t<Question&, History&>;
      auto value = history ? question(*history) : Value(std::unexpected(history.error()));
      deliver(receiver, [answer = std::move(answer), value = std::move(value)]() mutable { answer(value); });
    });
  }
  // For writes whose answer nobody waits for: rename, pin. A failure is the signal failed().
  void tell(std::function<Result<void>(History&)> request);

  // Searches; of several questions only the last is sure to be answered. Limit 50 fits a sidebar.
  template <class Answer>
  void search(QObject* receiver, const QString& query, int limit, Answer answer) {
    const quint64 number = ++last_search_;
    post([this, number, receiver = QPointer<QObject>(receiver), text = query.toStdString(), limit,
          answer = std::move(answer)](Result<History>& history) mutable {
      if (number != last_search_) return;
      auto found =
          history ? history->search(text, limit) : Result<SearchResult>(std::unexpected(history.error()));
      deliver(receiver, [answer = std::move(answer), found = std::move(found)]() mutable { answer(found); });
    });
  }

  // An answer as it arrives: kept in memory and written twice a second. finish_answer() writes the rest.
  void append_answer(Id message, const QString& text);
  void finish_answer(Id message, const AnswerEnd& end);
  // What is typed in a conversation; 0: in the new one.
  void keep_draft(Id conversation, const QString& text);

 Q_SIGNALS:
  void opened(bool read_only);
  void notice(const QString& sentence);  // from opening, or the check of a large file
  // A write failed, or the file cannot be opened: disk full, read-only … Answers and drafts wait until it
  // passes, and tell it once.
  void failed(const QString& sentence);
  void recovered();                               // what waited for that is stored
  void conversationChanged(qint64 conversation);  // an answer was finished here
  void closed();

 private:
  using Task = std::function<void(Result<History>&)>;
  void post(Task task);
  void deliver(const QPointer<QObject>& receiver, std::function<void()> answer);

  void check_large_file();

  std::filesystem::path file_;
  std::int64_t check_when_large_ = 0;  // bytes
  bool closing_ = false;
  std::stop_source stop_check_;
  std::unique_ptr<QThread> checker_;
  QThread thread_;
  HistoryWorker* worker_;  // owned by thread_
  std::atomic<quint64> last_search_{0};
};

}  // namespace fovea::app::history
