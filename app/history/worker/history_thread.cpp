#include "app/history/worker/history_thread.h"

#include <system_error>

#include "app/history/worker/history_worker.h"
#include "app/words/error_words.h"

namespace fovea::app::history {

HistoryThread::HistoryThread(std::filesystem::path file, Options options)
    : file_(file), worker_(new HistoryWorker(std::move(file), options)) {
  check_when_large_ = options.quick_check_limit_bytes;
  thread_.setObjectName(QStringLiteral("history"));
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  connect(&thread_, &QThread::finished, this, &HistoryThread::closed);
  connect(worker_, &HistoryWorker::opened, this, &HistoryThread::opened);
  connect(worker_, &HistoryWorker::opened, this, &HistoryThread::check_large_file);
  connect(worker_, &HistoryWorker::notice, this, &HistoryThread::notice);
  connect(worker_, &HistoryWorker::failed, this, &HistoryThread::failed);
  connect(worker_, &HistoryWorker::recovered, this, &HistoryThread::recovered);
  connect(worker_, &HistoryWorker::conversationChanged, this, &HistoryThread::conversationChanged);
  thread_.start();
  QMetaObject::invokeMethod(worker_, &HistoryWorker::open);
}

HistoryThread::~HistoryThread() {
  close();
  thread_.wait();
  stop_check_.request_stop();
  if (checker_) checker_->wait();
}

void HistoryThread::close() {
  if (closing_) return;
  closing_ = true;
  QMetaObject::invokeMethod(worker_, [worker = worker_] {
    worker->close();
    QThread::currentThread()->quit();
  });
}

void HistoryThread::tell(std::function<Result<void>(History&)> request) {
  post([this, request = std::move(request)](Result<History>& history) {
    const auto done = history ? request(*history) : Result<void>(std::unexpected(history.error()));
    if (!done && done.error().kind != ErrorKind::cancelled) {
      Q_EMIT worker_->failed(error_words(done.error()));
    }
  });
}

void HistoryThread::append_answer(Id message, const QString& text) {
  if (closing_) return;
  QMetaObject::invokeMethod(worker_, [worker = worker_, message, utf8 = text.toStdString()] {
    worker->append_answer(message, utf8);
  });
}

void HistoryThread::finish_answer(Id message, const AnswerEnd& end) {
  if (closing_) return;
  QMetaObject::invokeMethod(worker_,
                            [worker = worker_, message, end] { worker->finish_answer(message, end); });
}

void HistoryThread::keep_draft(Id conversation, const QString& text) {
  if (closing_) return;
  QMetaObject::invokeMethod(worker_, [worker = worker_, conversation, utf8 = text.toStdString()] {
    worker->keep_draft(conversation, utf8);
  });
}

void HistoryThread::post(Task task) {
  if (closing_) return;
  QMetaObject::invokeMethod(worker_, [worker = worker_, task = std::move(task)] { worker->run(task); });
}

// Called on the history's thread. The receiver is looked at in its own thread, where it cannot vanish
// meanwhile.
void HistoryThread::deliver(const QPointer<QObject>& receiver, std::function<void()> answer) {
  QMetaObject::invokeMethod(this, [receiver, answer = std::move(answer)] {
    if (receiver) answer();
  });
}

// A small file is checked before it is used; a large one here, at the lowest priority and only to read.
void HistoryThread::check_large_file() {
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(file_, ignored);
  if (ignored || static_cast<std::int64_t>(bytes) <= check_when_large_) return;
  checker_.reset(QThread::create([this] {
    const auto sound = History::check(file_, stop_check_.get_token());
    if (!sound && sound.error().kind != ErrorKind::cancelled) {
      Q_EMIT failed(error_words(sound.error()));
    }
  }));
  checker_->setObjectName(QStringLiteral("history check"));
  checker_->start(QThread::LowestPriority);
}

}  // namespace fovea::app::history
