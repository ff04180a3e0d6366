// The conversation that is open: a way through its tree of messages, and what is typed; and the answers that
// are written, one after the other, whatever is open. Everything is stored before it is acted on; the engine
// is asked through answerWanted().
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/history/types.h"
#include "engine/api/engine.h"
#include "ui/chat/chat_settings_dialog.h"
#include "ui/chat/message_view.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

namespace history {
class HistoryThread;
}

// What the engine is to answer.
struct AnswerRequest {
  std::vector<Message> messages;
  bool continue_last = false;
  ui::ChatSettingsView settings;
};

// What happens in a conversation.
enum class Work {
  none,
  storing,  // its question; nothing was asked of the engine yet
  waiting,  // for another answer to end, or for a model
  answering
};

class ConversationController : public QObject {
  Q_OBJECT

 public:
  // `origin`: what is kept with answers that are begun now (model, policy, settings) in a conversation that
  // sets this itself.
  using OriginMaker = std::function<history::Origin(const ui::ChatSettingsView&)>;
  ConversationController(ui::ChatWindow& window, history::HistoryThread& history, OriginMaker origin);

  const history::Conversation& conversation() const { return conversation_; }
  const std::vector<history::Message>& messages() const { return messages_; }
  // What the model has read once the last answer is there; and what it would read of a message that is typed
  // and attached now, were that the only one. Empty: nothing.
  std::vector<Message> prompt() const;
  std::vector<Message> next_prompt() const;
  ui::ChatSettingsView chat_settings() const;
  void set_chat_settings(const ui::ChatSettingsView& settings);

  // In that folder, asked with these settings.
  void new_chat(history::Id folder = 0, const ui::ChatSettingsView& settings = {});
  // One whose first question is not the user's: what they have typed and attached for a new chat stays for
  // the next one.
  void new_chat_apart();
  // At its end, or at a message, in which `found` is marked.
  void open(history::Id conversation, history::Id message = 0, const QStringList& found = {});

  // Of the conversation that is shown; useProfileFound() follows where its history keeps one.
  void find_use_profile();

  // --- the engine's answers
  // Whether it takes questions; until then they wait.
  void set_ready(bool ready);
  Work work() const;                    // in the conversation that is shown
  history::Id answering() const;        // where; 0: nowhere
  QString answering_title() const;      // of that conversation
  std::vector<qint64> waiting() const;  // where
  // The answer that is being written is one of the conversation that is shown.
  bool shows_answer() const { return work() == Work::answering; }
  void add_text(const QString& text);
  void add_tokens(const std::vector<TokenRecord>& records);
  void finish(const GenerateResult& result);
  void fail_answer(const Error& error);
  // Ends the answer in the conversation that is shown; a question that waits comes back into the composer.
  void stop();
  // A conversation that is deleted has no answer to wait for.
  void give_up(history::Id conversation);
  // Another version of an answer, which begins with this text and goes on from there. `begun` is told its
  // message before the engine is asked.
  void go_on_from(history::Id answer, const QString& text, std::function<void(qint64 answer)> begun);
  // The same question again, with the oldest turns left out.
  void retry_leaving_out_oldest();

 public Q_SLOTS:
  void send(const QString& text);
  void regenerate_last();
  void continue_last();
  void edit_last();
  void attach(const QStringList& paths);

 Q_SIGNALS:
  void answerWanted(const fovea::app::AnswerRequest& request);
  // Of an answer that had so many bytes before the engine was asked.
  void tokensWritten(qint64 answer, qint64 bytes_before, const std::vector<fovea::TokenRecord>& records);
  void stopWanted();                  // of the answer that is being written
  void workChanged();                 // something began, waits or ended, here or in another conversation
  void changed(qint64 conversation);  // something of it was stored
  void opened();                      // another conversation is shown
  void useProfileFound(const QByteArray& profile);
  void shown();        // or other messages of it
  void nextChanged();  // what is typed, a moment ago, or attached
  void countWanted(quint64 attachment, const QString& text);

 public Q_SLOTS:
  void set_attachment_tokens(quint64 attachment, qint64 tokens);
  // Of this model: its tokens are others.
  void count_attachments();

 private:
  struct Waiting {  // a file that goes with the next message
    quint64 number = 0;
    history::Attachment file;
  };
  struct Asked {  // an answer that is wanted
    history::Id conversation = 0;
    history::Id message = 0;
    QString title;  // of the conversation
    AnswerRequest request;
    QString text;             // all of the answer so far
    qint64 bytes_before = 0;  // of it, before it was asked for
    bool waited = false;      // it was not asked at once
  };
  struct Ended {  // an answer that was written just now
    history::Id message = 0;
    std::string text;
    history::AnswerEnd end;
  };
  // Of a question on its way to the disk: set to true, its answer is stopped at once.
  using Storing = std::shared_ptr<bool>;

  void act(ui::MessageId id, ui::MessageAction action);
  void go_to_sibling(ui::MessageId id, int delta);
  void edit(history::Id message);
  void cancel_edit();
  void regenerate(history::Id answer);
  void continue_answer(history::Id answer);
  Storing begin_storing();
  void stored(const Storing& storing, const Result<history::Branch>& branch, bool continue_last = false);
  // Its last message, an answer, is asked for as soon as it is its turn.
  void want_answer(const history::Branch& branch, bool continue_last);
  void ask_next();
  void end_answer(const history::AnswerEnd& end);
  void show_end();
  void stop_answer(history::Id conversation);
  void take_back(const Asked& asked);
  const Asked* writing() const { return answering_ ? &queue_.front() : nullptr; }
  std::deque<Asked>::const_iterator asked_in(history::Id conversation) const;
  void show_messages();
  void show(const history::Branch& branch);
  void show_attachments();
  void add_attachment(const history::Attachment& file);
  void leave_conversation();
  void restore_attachments();
  void bring_back_apart();
  void save_draft();
  void restore_draft();
  const history::Message* find(history::Id message) const;
  const history::Message* last(history::Role role) const;
  std::vector<Message> prompt_of(const history::Branch& branch) const;

  ui::ChatWindow& window_;
  history::HistoryThread& history_;
  OriginMaker origin_;
  history::Conversation conversation_;  // id 0: a new one, not stored yet
  std::vector<history::Message> messages_;
  std::vector<Waiting> attachments_;
  std::map<history::Id, std::vector<Waiting>> kept_attachments_;  // of conversations that are not shown
  quint64 last_attachment_ = 0;
  std::deque<Asked> queue_;  // at most one of each conversation
  bool answering_ = false;   // the first of them; the others wait
  bool ready_ = false;
  Ended ended_;      // the last one: what is read of it may be older than its end
  Storing storing_;  // in the conversation that is shown; null: nothing is
  history::Id editing_ = 0;
  struct Apart {
    std::string draft;
    std::vector<Waiting> attachments;
  };
  std::optional<Apart> apart_;  // what new_chat_apart() laid aside, until its question is stored
  std::string new_draft_;       // as it is stored: of a conversation that does not exist yet
  quint64 shown_ = 0;           // counts what was opened, so that late answers of the history are known
  QTimer draft_timer_{this};
};

}  // namespace fovea::app
