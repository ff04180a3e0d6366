// The history behind its thread, as the window uses it.
#include <QCoreApplication>
#include <QSignalSpy>
#include <fstream>

#include "app/history/worker/history_thread.h"
#include "tests/support/full_disk.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app::history;

class WorkerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers_in_order_and_in_this_thread();
  void an_answer_is_written_while_it_arrives();
  void closing_writes_what_waits();
  void an_answer_that_could_not_be_ended_is_ended_later_data();
  void an_answer_that_could_not_be_ended_is_ended_later();
  void a_full_disk_is_told_once_and_so_is_its_end();
  void what_could_not_be_opened_is_tried_again();
  void a_receiver_that_is_gone_gets_nothing();
  void only_the_last_search_must_be_answered();
  void says_what_happened_to_a_damaged_file();
  void a_failed_write_is_a_signal();
  void checks_a_large_file();
};

namespace {

NewTurn first_turn(const std::string& text) {
  NewTurn turn;
  turn.text = text;
  return turn;
}

}  // namespace

void WorkerTest::answers_in_order_and_in_this_thread() {
  tests::TemporaryFolder folder;
  HistoryThread history(folder.path() / "history.db");
  QSignalSpy opened(&history, &HistoryThread::opened);
  QObject receiver;
  std::vector<int> order;
  QThread* const here = QThread::currentThread();
  for (int i = 0; i < 20; ++i) {
    history.ask(
        &receiver, [i](History& h) { return h.create({"c" + std::to_string(i), {}, {}}); },
        [&, i](const Result<Conversation>& created) {
          QVERIFY(created.has_value());
          QCOMPARE(QThread::currentThread(), here);
          order.push_back(i);
        });
  }
  QTRY_COMPARE(order.size(), std::size_t{20});
  QVERIFY(std::ranges::is_sorted(order));
  QCOMPARE(opened.size(), 1);
  QCOMPARE(opened[0][0].toBool(), false);
}

void WorkerTest::an_answer_is_written_while_it_arrives() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  HistoryThread history(file);
  QSignalSpy changed(&history, &HistoryThread::conversationChanged);
  Turn turn;
  history.ask(
      this, [](History& h) { return h.add_turn(first_turn("why")); },
      [&](const Result<Turn>& stored) { turn = stored.value(); });
  QTRY_VERIFY(turn.answer.id != 0);
  history.append_answer(turn.answer.id, "be");
  history.append_answer(turn.answer.id, QStringLiteral("cause ü"));
  auto other = History::open(file);  // what a kill would leave
  FOVEA_VERIFY(other);
  QTRY_COMPARE(other->message(turn.answer.id)->text, std::string("because ü"));
  QCOMPARE(other->message(turn.answer.id)->state, MessageState::partial);
  history.append_answer(turn.answer.id, ".");
  history.finish_answer(turn.answer.id, {});
  QTRY_COMPARE(changed.size(), 1);
  QCOMPARE(changed[0][0].toLongLong(), turn.conversation.id);
  QCOMPARE(other->message(turn.answer.id)->text, std::string("because ü."));
  QCOMPARE(other->message(turn.answer.id)->state, MessageState::complete);
}

void WorkerTest::closing_writes_what_waits() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  Turn turn;
  {
    HistoryThread history(file);
    history.ask(
        this, [](History& h) { return h.add_turn(first_turn("why")); },
        [&](const Result<Turn>& stored) { turn = stored.value(); });
    QTRY_VERIFY(turn.answer.id != 0);
    QSignalSpy closed(&history, &HistoryThread::closed);
    history.append_answer(turn.answer.id, "last words");
    history.tell([&](History& h) { return h.rename(turn.conversation.id, "renamed"); });
    history.close();
    QTRY_COMPARE(closed.size(), 1);
    history.tell([](History& h) { return h.rename(1, "too late"); });
  }
  auto again = History::open(file);
  FOVEA_VERIFY(again);
  QCOMPARE(again->message(turn.answer.id)->text, std::string("last words"));
  QCOMPARE(again->conversation(turn.conversation.id)->title, std::string("renamed"));
}

void WorkerTest::an_answer_that_could_not_be_ended_is_ended_later_data() {
  QTest::addColumn<bool>("closes");
  QTest::newRow("at the next turn") << false;
  QTest::newRow("at closing") << true;
}

void WorkerTest::an_answer_that_could_not_be_ended_is_ended_later() {
  QFETCH(bool, closes);
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  HistoryThread history(file);
  QSignalSpy failed(&history, &HistoryThread::failed), changed(&history, &HistoryThread::conversationChanged),
      closed(&history, &HistoryThread::closed);
  Turn turn;
  history.ask(
      this, [](History& h) { return h.add_turn(first_turn("why")); },
      [&](const Result<Turn>& stored) { turn = stored.value(); });
  QTRY_VERIFY(turn.answer.id != 0);
  auto other = History::open(file);
  FOVEA_VERIFY(other);
  {
    const tests::FullDisk full;
    history.append_answer(turn.answer.id, "because");
    history.finish_answer(turn.answer.id, {MessageState::stopped, 7, {}, "Stopped"});
    QTRY_VERIFY(!failed.empty());
    QCOMPARE(other->message(turn.answer.id)->state, MessageState::partial);
  }
  if (closes) {
    history.close();
    QTRY_COMPARE(closed.size(), 1);
  }
  QTRY_COMPARE(other->message(turn.answer.id)->state, MessageState::stopped);
  QCOMPARE(other->message(turn.answer.id)->text, std::string("because"));
  QCOMPARE(other->message(turn.answer.id)->note, std::string("Stopped"));
  QTRY_COMPARE(changed.size(), 1);
}

// Twice a second is tried again, which must not be seen; what was typed meanwhile is not lost either.
void WorkerTest::a_full_disk_is_told_once_and_so_is_its_end() {
  tests::TemporaryFolder folder;
  HistoryThread history(folder.path() / "history.db");
  QSignalSpy failed(&history, &HistoryThread::failed), recovered(&history, &HistoryThread::recovered);
  Turn turn;
  history.ask(
      this, [](History& h) { return h.add_turn(first_turn("why")); },
      [&](const Result<Turn>& stored) { turn = stored.value(); });
  QTRY_VERIFY(turn.answer.id != 0);
  // What ran on the history's thread before this has told what it had to tell.
  const auto settled = [&] {
    bool answered = false;
    history.ask(
        this, [](History& h) { return h.new_draft(); }, [&](const Result<std::string>&) { answered = true; });
    return QTest::qWaitFor([&] { return answered; }, tests::kLong);
  };
  for (int time = 1; time <= 2; ++time) {
    {
      const tests::FullDisk full;
      for (int piece = 0; piece < 5; ++piece) {
        history.append_answer(turn.answer.id, "more ");
        history.finish_answer(turn.answer.id, {});  // tries at once
        history.keep_draft(turn.conversation.id, QString::number(piece));
      }
      history.keep_draft(0, "new");
      QVERIFY(settled());
      QCOMPARE(failed.size(), time);
      QCOMPARE(recovered.size(), time - 1);
    }
    QTRY_COMPARE(recovered.size(), time);
    QCOMPARE(failed.size(), time);
    auto other = History::open(folder.path() / "history.db");
    FOVEA_VERIFY(other);
    QCOMPARE(other->conversation(turn.conversation.id)->draft, std::string("4"));
    QCOMPARE(other->new_draft().value(), std::string("new"));
    QCOMPARE(other->message(turn.answer.id)->text.size(), static_cast<std::size_t>(25 * time));
    history.keep_draft(turn.conversation.id, {});
    history.keep_draft(0, {});
    QVERIFY(settled());
  }
}

// Not only a write can fail, but the very first one, which makes the file.
void WorkerTest::what_could_not_be_opened_is_tried_again() {
  tests::TemporaryFolder folder;
  auto full = std::make_unique<tests::FullDisk>();
  HistoryThread history(folder.path() / "history.db");
  QSignalSpy failed(&history, &HistoryThread::failed), opened(&history, &HistoryThread::opened),
      recovered(&history, &HistoryThread::recovered);
  history.keep_draft(0, "typed");
  bool answered = false;
  history.ask(
      this, [](History& h) { return h.new_draft(); },
      [&](const Result<std::string>& draft) { answered = !draft; });
  QTRY_VERIFY(answered);
  QCOMPARE(failed.size(), 1);
  full.reset();
  QTRY_COMPARE(recovered.size(), 1);
  QCOMPARE(opened.size(), 1);
  std::string stored;
  history.ask(
      this, [](History& h) { return h.new_draft(); },
      [&](const Result<std::string>& draft) { stored = draft.value_or("none"); });
  QTRY_COMPARE(stored, std::string("typed"));
  QCOMPARE(failed.size(), 1);
}

void WorkerTest::a_receiver_that_is_gone_gets_nothing() {
  tests::TemporaryFolder folder;
  HistoryThread history(folder.path() / "history.db");
  bool called = false, after = false;
  auto receiver = std::make_unique<QObject>();
  history.ask(
      receiver.get(), [](History& h) { return h.conversations(1); },
      [&](const Result<ConversationPage>&) { called = true; });
  receiver.reset();
  history.ask(
      this, [](History& h) { return h.conversations(1); },
      [&](const Result<ConversationPage>&) { after = true; });
  QTRY_VERIFY(after);
  QVERIFY(!called);
}

void WorkerTest::only_the_last_search_must_be_answered() {
  tests::TemporaryFolder folder;
  HistoryThread history(folder.path() / "history.db");
  history.ask(this, [](History& h) { return h.add_turn(first_turn("a zebra")); }, [](const Result<Turn>&) {});
  std::size_t hits = 99;
  for (const char* typed : {"z", "ze", "zeb"}) {
    history.search(this, QString::fromUtf8(typed), 10,
                   [&, last = std::string_view(typed) == "zeb"](const Result<SearchResult>& result) {
                     if (last) hits = result->hits.size();
                   });
  }
  QTRY_COMPARE(hits, std::size_t{1});
}

void WorkerTest::says_what_happened_to_a_damaged_file() {
  tests::TemporaryFolder folder;
  std::ofstream(folder.path() / "history.db") << std::string(5000, 'x');
  HistoryThread history(folder.path() / "history.db");
  QSignalSpy notice(&history, &HistoryThread::notice), opened(&history, &HistoryThread::opened);
  QTRY_COMPARE(opened.size(), 1);
  QVERIFY(notice.size() >= 1);
  QVERIFY(notice[0][0].toString().contains("kept as"));
}

void WorkerTest::a_failed_write_is_a_signal() {
  tests::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  HistoryThread history(folder.path() / "file" / "history.db");  // no folder can be there
  QSignalSpy failed(&history, &HistoryThread::failed);
  QTRY_COMPARE(failed.size(), 1);
  QVERIFY(failed[0][0].toString().contains("cannot be made"));
  QString reason;
  history.ask(
      this, [](History& h) { return h.create({}); },
      [&](const Result<Conversation>& created) {
        reason = QString::fromStdString(created.error().message());
      });
  QTRY_VERIFY(reason.contains("cannot be made"));
}

void WorkerTest::checks_a_large_file() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  {
    auto history = History::open(file);
    for (int i = 0; i < 30; ++i) (void)history->add_turn(first_turn(std::string(5000, 'a')));
  }
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-2 * 4096, std::ios::end);
    stream << std::string(4096, 'Z');
  }
  HistoryThread history(file, {.now = {}, .migrations = {}, .quick_check_limit_bytes = 0});
  QSignalSpy failed(&history, &HistoryThread::failed);
  QTRY_VERIFY(!failed.empty());
  QVERIFY(failed.back()[0].toString().contains("damaged"));
}

FOVEA_TEST(WorkerTest)
#include "worker_test.moc"
