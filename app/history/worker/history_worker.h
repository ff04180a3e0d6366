// The history's side of HistoryThread; everything but the constructor runs in its thread.
#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "app/history/history.h"

namespace fovea::app::history {

class HistoryWorker : public QObject {
  Q_OBJECT

 public:
  HistoryWorker(std::filesystem::path file, Options options);

  void open();
  void run(const std::function<void(Result<History>&)>& task);
  void append_answer(Id message, const std::string& text);
  void finish_answer(Id message, const AnswerEnd& end);
  void keep_draft(Id conversation, const std::string& text);
  void close();  // writes what waits and lets go of the file

 Q_SIGNALS:
  void opened(bool read_only);
  void notice(const QString& sentence);
  void failed(const QString& sentence);
  void recovered();
  void conversationChanged(qint64 conversation);

 private:
  struct Waiting {  // of one answer, not written yet
    std::string text;
    std::optional<AnswerEnd> end;
  };

  bool is_open();
  void tell(const QString& trouble);
  void write_waiting();
  bool must_wait(const Result<void>& written, QString& why);
  Result<void> write(Id message, Waiting& answer);

  std::filesystem::path file_;
  Options options_;
  std::optional<Result<History>> history_;  // empty: not opened yet, or closed
  std::map<Id, Waiting> waiting_;
  std::map<Id, std::string> drafts_;  // by conversation, 0: the new one; not written yet
  QString trouble_;                   // why they wait, or the file cannot be opened, as it was told
  QTimer timer_{this};                // runs while something waits
};

}  // namespace fovea::app::history
