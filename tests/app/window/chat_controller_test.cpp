// The whole way from a typed message to a streamed and stored answer: a real window (offscreen), a real
// engine, the demo model, a real history.
#include "app/window/chat_controller.h"

#include <QAbstractItemView>
#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSignalSpy>
#include <QToolButton>

#include "app/history/worker/history_thread.h"
#include "app/window/generation_settings.h"
#include "engine/api/errors.h"
#include "engine/core/device_words.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/conversation_list.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/status_strip.h"
#include "ui/chat/transcript_view.h"

#include "desk.h"

using namespace fovea;
using State = ui::ChatWindow::State;
using fovea::tests::Desk;
using fovea::tests::endless_answers;
using fovea::tests::kLong;
using fovea::tests::short_answers;

class ChatControllerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QVERIFY2(!tests::demo_model().empty(), "the demo model is not built; scripts/test builds it");
  }

  void aQuestionIsAnswered() {
    Desk desk;
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("What is the capital of France?"));
    QCOMPARE(desk.window.state(), State::generating);  // at once: the GUI thread did not wait for the engine
    QVERIFY(desk.answered());
    QCOMPARE(desk.conversation().messages().size(), 2U);
    QCOMPARE(desk.stored(0), std::string("What is the capital of France?"));
    const std::string answer = desk.stored(1);
    QVERIFY(!answer.empty());
    QCOMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.window.transcript().message_text(1).toStdString(), answer);
    QCOMPARE(desk.window.error_bar().message(), QString());
    for (const char* part : {"Fovea demo", "weights as in the file", " of 1"})
      QVERIFY2(desk.window.status().text().contains(QLatin1String(part)),
               qPrintable(desk.window.status().text()));
  }

  void loadingIsShownAndCanBeCancelled() {
    Desk desk;
    desk.controller->open_model(QString::fromStdString(tests::demo_model().string()));
    QCOMPARE(desk.window.state(), State::loading);
    const auto* progress = desk.window.findChild<QLabel*>(QStringLiteral("progressText"));
    QVERIFY(progress->isVisible());
    Q_EMIT desk.window.cancelLoadRequested();
    QVERIFY(QTest::qWaitFor([&] { return desk.window.state() != State::loading; }, kLong));
    QCOMPARE(desk.window.state(), State::no_model);
    QVERIFY(!progress->isVisible());
    QVERIFY(desk.open_demo());  // and then it loads; a small model's tensors are faster than what is shown
    QVERIFY2(progress->text().startsWith(QStringLiteral("Loading the model")), qPrintable(progress->text()));
  }

  void whatEndsWhileAModelIsOpenedLeavesItsProgress() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    desk.controller->open_model(QString::fromStdString(tests::demo_model().string()));
    const auto* progress = desk.window.findChild<QLabel*>(QStringLiteral("progressText"));
    QVERIFY(progress->isVisible());
    Q_EMIT desk.controller->worker().textArrived(QStringLiteral("more"), {});
    Q_EMIT desk.controller->worker().finished({});
    QCOMPARE(desk.window.state(), State::loading);
    QVERIFY(progress->isVisible());
    QVERIFY(desk.answered());
  }

  void theConversationGoesOn() {
    Desk desk;
    QVERIFY(desk.open_demo());
    for (const char* question : {"Hello", "Tell me more"}) {
      desk.type(QString::fromLatin1(question));
      QVERIFY(desk.answered());
    }
    QCOMPARE(desk.conversation().messages().size(), 4U);
    QCOMPARE(desk.window.transcript().message_count(), 4);
  }

  void theSameSeedGivesTheSameAnswer() {
    std::string answers[2];
    for (std::string& answer : answers) {
      Desk desk;
      QVERIFY(desk.open_demo());
      desk.type(QStringLiteral("Name three colours"));
      QVERIFY(desk.answered());
      answer = desk.stored(1);
    }
    QCOMPARE(answers[0], answers[1]);
  }

  void stoppingKeepsWhatWasSaid() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    desk.window.findChild<QToolButton*>(QStringLiteral("send"))->click();
    QVERIFY(desk.answered());
    QCOMPARE(desk.conversation().messages().size(), 2U);
    QVERIFY(!desk.stored(1).empty());
    QCOMPARE(desk.conversation().messages()[1].state, app::history::MessageState::stopped);
    desk.type(QStringLiteral("Go on"));  // and the engine still serves
    QVERIFY(desk.streaming());
  }

  // Before the question is stored, and before anything was asked of the engine.
  void stoppingAtOnceStops() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    for (int question = 0; question < 2; ++question) {
      desk.type(QStringLiteral("Write a long story"));
      QVERIFY(desk.conversation().work() == app::Work::storing);
      Q_EMIT desk.window.stopRequested();
      QVERIFY(desk.answered());
      const auto& answer = desk.conversation().messages().back();
      QCOMPARE(answer.state, app::history::MessageState::stopped);
      QVERIFY2(answer.text.size() < 200, answer.text.c_str());  // and not until the context is full
    }
    // The next one is not stopped.
    Q_EMIT desk.window.newChatRequested();
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    QVERIFY(!desk.stored(1).empty() || desk.window.state() == State::generating);
  }

  void aStoppedAnswerGoesOn() {
    Desk desk;
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Tell me about the sea"));
    QVERIFY(desk.answered());
    const std::string before = desk.stored(1);
    Q_EMIT desk.window.continueRequested();
    QCOMPARE(desk.window.state(), State::generating);
    QVERIFY(desk.answered());
    QVERIFY(desk.stored(1).size() > before.size());
    QVERIFY(desk.stored(1).starts_with(before));
    QCOMPARE(desk.window.transcript().message_text(1).toStdString(), desk.stored(1));
  }

  void regeneratingAndEditingMakeBranches() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
    const std::string first = desk.stored(1);
    Q_EMIT desk.window.regenerateRequested();
    QVERIFY(desk.streaming());
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
    const app::history::Message second = desk.conversation().messages()[1];
    QCOMPARE(second.siblings, 2);
    // What it was made with, though the conversation itself says nothing.
    QVERIFY(desk.conversation().conversation().settings.empty());
    const auto made_with = app::read_generation_settings(second.origin.settings);
    QCOMPARE(made_with.temperature, 1.5);
    QCOMPARE(made_with.top_k, GenerateRequest{}.sampling.top_k);
    Q_EMIT desk.window.transcript().siblingRequested(second.id, -1);
    QTRY_COMPARE(desk.stored(1), first);

    Q_EMIT desk.window.editRequested();
    QVERIFY(desk.window.composer().editing());
    QCOMPARE(desk.window.composer().text(), QStringLiteral("Write a long story"));
    desk.window.composer().set_text(QStringLiteral("Write a poem"));
    QTest::keyClick(desk.window.findChild<QPlainTextEdit*>(QStringLiteral("input")), Qt::Key_Return);
    QVERIFY(desk.streaming());
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
    QVERIFY(!desk.window.composer().editing());
    QCOMPARE(desk.stored(0), std::string("Write a poem"));
    QCOMPARE(desk.conversation().messages()[0].siblings, 2);
  }

  void everythingIsThereAfterARestart() {
    const tests::TemporaryFolder folder;
    std::string answer;
    {
      Desk desk(short_answers, 1024, folder.path());
      QVERIFY(desk.open_demo());
      desk.type(QStringLiteral("What is the capital of France?"));
      QVERIFY(desk.answered());
      answer = desk.stored(1);
    }
    Desk desk(short_answers, 1024, folder.path());
    auto* list = desk.window.findChild<QAbstractItemView*>(QStringLiteral("conversations"));
    QTRY_VERIFY(list->model()->rowCount() >= 2);  // a heading and the conversation
    const QModelIndex row = list->model()->index(1, 0);
    QCOMPARE(row.data().toString(), QStringLiteral("What is the capital of France?"));
    list->setCurrentIndex(row);
    QTest::keyClick(list, Qt::Key_Return);
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.window.transcript().message_text(1).toStdString(), answer);
    QCOMPARE(desk.window.windowTitle(), QStringLiteral("What is the capital of France? – Fovea"));
  }

  // Closed a moment after the last key, before anything was sent.
  void whatIsTypedInANewChatIsThereAfterARestart() {
    const tests::TemporaryFolder folder;
    const auto input = [](Desk& desk) {
      return desk.window.findChild<QPlainTextEdit*>(QStringLiteral("input"));
    };
    {
      Desk desk(short_answers, 1024, folder.path());
      QSignalSpy closed(desk.history.get(), &app::history::HistoryThread::closed);
      connect(desk.controller.get(), &app::ChatController::closed, desk.history.get(),
              &app::history::HistoryThread::close);
      QTest::keyClicks(input(desk), QStringLiteral("Half a question"));
      desk.window.close();
      QVERIFY(closed.count() == 1 || closed.wait(kLong));
    }
    Desk desk(short_answers, 1024, folder.path());
    QTRY_COMPARE(desk.window.composer().text(), QStringLiteral("Half a question"));
    QVERIFY(desk.open_demo());
    QTest::keyClick(input(desk), Qt::Key_Return);
    QVERIFY(desk.answered());
    Q_EMIT desk.window.newChatRequested();
    QCOMPARE(desk.window.composer().text(), QString());  // it was sent
    QTest::keyClicks(input(desk), QStringLiteral("Another"));
    desk.conversation().open(1);
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.window.composer().text(), QString());
    Q_EMIT desk.window.newChatRequested();
    QCOMPARE(desk.window.composer().text(), QStringLiteral("Another"));
  }

  void aDeletedConversationComesBack() {
    Desk desk;
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Hello"));
    QVERIFY(desk.answered());
    const qint64 id = desk.conversation().conversation().id;
    Q_EMIT desk.window.sidebar().deleteRequested(id);
    QTRY_COMPARE(desk.window.transcript().message_count(), 0);
    auto* undo = desk.window.findChild<QToolButton*>(QStringLiteral("undoDelete"));
    QTRY_VERIFY(undo->isVisible());
    undo->click();
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.conversation().conversation().id, id);
  }

  // By the keys alone: they stay with the list, also when it has no row left.
  void whatTheListDeletesItBringsBack() {
    Desk desk;
    QVERIFY(desk.open_demo());
    for (const char* question : {"Hello", "Good evening"}) {
      Q_EMIT desk.window.newChatRequested();
      desk.type(QString::fromLatin1(question));
      QVERIFY(desk.answered());
    }
    desk.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&desk.window));
    auto* list = desk.window.findChild<QAbstractItemView*>(QStringLiteral("conversations"));
    QTRY_COMPARE(list->model()->rowCount(), 3);  // with the heading
    list->setFocus();
    for (int left = 2; left > 0; --left) {
      QTest::keyClick(desk.window.focusWidget(), Qt::Key_Delete);
      QTRY_COMPARE(list->model()->rowCount(), left == 2 ? 2 : 0);
    }
    for (int back = 1; back <= 2; ++back) {
      QTest::keyClick(desk.window.focusWidget(), Qt::Key_Z, Qt::ControlModifier);
      QTRY_COMPARE(list->model()->rowCount(), 1 + back);
    }
  }

  // Nobody would see its end, and the next question had to wait for it.
  void deletingStopsTheAnswer() {
    Desk desk(endless_answers, 8192);  // long enough not to be full before
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    Q_EMIT desk.window.sidebar().deleteRequested(desk.conversation().conversation().id);
    auto* undo = desk.window.findChild<QToolButton*>(QStringLiteral("undoDelete"));
    QTRY_VERIFY(undo->isVisible());
    QCOMPARE(desk.window.transcript().message_count(), 0);
    undo->click();  // maybe before the answer has ended: it is read again as one that is being written
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    QTRY_COMPARE(desk.conversation().messages().back().state, app::history::MessageState::stopped);
  }

  // The buttons below an answer are there without one, too.
  void anotherAnswerNeedsAModel() {
    Desk desk;
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Hello"));
    QVERIFY(desk.answered());
    const auto answer = desk.conversation().messages().back();
    desk.controller->open_model(QString::fromStdString(tests::demo_model().string()));
    for (const auto action : {ui::MessageAction::regenerate, ui::MessageAction::continue_answer})
      Q_EMIT desk.window.transcript().messageActionRequested(answer.id, action);
    QCOMPARE(desk.window.state(), State::loading);
    QVERIFY(desk.window.error_bar().message().contains(QStringLiteral("no model is open")));
    QVERIFY(desk.answered());
    QCOMPARE(desk.conversation().messages().back().id, answer.id);
    QCOMPARE(desk.conversation().messages().back().state, answer.state);
  }

  void searchFindsWhatWasSaid() {
    Desk desk;
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Tell me about zebras"));
    QVERIFY(desk.answered());
    Q_EMIT desk.window.newChatRequested();
    auto* list = desk.window.findChild<QAbstractItemView*>(QStringLiteral("conversations"));
    QTest::keyClicks(desk.window.findChild<QWidget*>(QStringLiteral("search")), QStringLiteral("zebr"));
    const auto snippet = [list] {
      return list->model()->index(0, 0).data(ui::ConversationListModel::SnippetRole).toString();
    };
    QTRY_VERIFY(snippet().contains(QStringLiteral("zebras")));
    QTest::keyClick(desk.window.findChild<QWidget*>(QStringLiteral("search")), Qt::Key_Return);
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.window.transcript().found_text(), QStringList(QStringLiteral("zebras")));
  }

  void anAnswerGoesOnWhileAnotherConversationIsRead() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    const qint64 writing = desk.conversation().conversation().id;
    desk.window.findChild<QToolButton*>(QStringLiteral("newChat"))->click();
    QCOMPARE(desk.window.transcript().message_count(), 0);
    QCOMPARE(desk.conversation().answering(), writing);
    desk.conversation().open(writing);
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    const QString seen = desk.window.transcript().message_text(1);
    QTRY_VERIFY(desk.window.transcript().message_text(1).size() > seen.size());
    QVERIFY(desk.window.transcript().message_text(1).startsWith(seen));
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
  }

  void closingWhileGeneratingEndsCleanly() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    QSignalSpy closed(desk.controller.get(), &app::ChatController::closed);
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    desk.window.close();
    QVERIFY(closed.count() == 1 || closed.wait(kLong));
    QCOMPARE(desk.conversation().messages().back().state, app::history::MessageState::stopped);
  }

  // The answer of the history, that it is stored, may come when the engine has ended.
  void closingRightAfterAQuestionKeepsIt() {
    Desk desk;
    QVERIFY(desk.open_demo());
    const QPointer<app::EngineWorker> worker(&desk.controller->worker());
    QSignalSpy closed(desk.controller.get(), &app::ChatController::closed);
    desk.type(QStringLiteral("What is the capital of France?"));
    desk.window.close();
    QVERIFY(closed.count() == 1 || closed.wait(kLong));
    QVERIFY(QTest::qWaitFor([&] { return desk.conversation().work() != app::Work::storing; }, kLong));
    QCOMPARE(desk.stored(0), std::string("What is the capital of France?"));
    QVERIFY(worker);  // whoever still asks it for something may
    worker->stop();
  }

  void closingWhileLoadingEndsCleanly() {
    Desk desk;
    QSignalSpy closed(desk.controller.get(), &app::ChatController::closed);
    desk.controller->open_model(QString::fromStdString(tests::demo_model().string()));
    desk.window.close();
    QVERIFY(closed.count() == 1 || closed.wait(kLong));
  }

  void aFileThatIsNoModelIsAnError() {
    const tests::TemporaryFolder folder;
    const QString path = QString::fromStdString((folder.path() / "broken.gguf").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write("GGUF, but not really");
    file.close();
    Desk desk;
    QVERIFY(desk.open(path));
    QCOMPARE(desk.window.state(), State::no_model);
    QVERIFY2(desk.window.error_bar().message().contains(QStringLiteral("broken.gguf")),
             qPrintable(desk.window.error_bar().message()));
    QVERIFY(desk.open_demo());  // and another model opens after it
    QCOMPARE(desk.window.error_bar().message(), QString());
  }

  void aQuestionThatDoesNotFitStaysWithTheReason() {
    Desk desk(short_answers, 64);
    QVERIFY(desk.open_demo());
    const QString question = QStringLiteral("word ").repeated(200).trimmed();
    desk.window.composer().set_text(question);
    QTest::keyClick(desk.window.findChild<QPlainTextEdit*>(QStringLiteral("input")), Qt::Key_Return);
    QVERIFY(desk.answered());
    QCOMPARE(desk.stored(0), question.toStdString());
    QCOMPARE(desk.conversation().messages()[1].state, app::history::MessageState::failed);
    const QString reason = desk.window.transcript().conversation().at(1).view().note;
    QVERIFY2(reason.contains(QStringLiteral("context")), qPrintable(reason));
    // Once, and leaving out is not offered, which would not help.
    QCOMPARE(desk.window.error_bar().message(), QString());
  }

  void aFailureKeepsWhatWasWritten() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    Q_EMIT desk.controller->worker().failed(
        device_failed("cuda:0", {.action = kernels::Action::running_kernels, .said = "given up"}).error());
    Q_EMIT desk.window.stopRequested();
    QCOMPARE(desk.window.state(), State::ready);
    const std::string written = desk.stored(1);
    QVERIFY(!written.empty());
    QCOMPARE(desk.conversation().messages()[1].state, app::history::MessageState::failed);
    QCOMPARE(desk.window.transcript().message_text(1).toStdString(), written);
    QSignalSpy opened(&desk.conversation(), &app::ConversationController::opened);
    desk.conversation().open(desk.conversation().conversation().id);
    QVERIFY(opened.count() == 1 || opened.wait(kLong));
    QCOMPARE(desk.stored(1), written);
  }

  void aSwapLogThatEndsIsToldOnce() {
    Desk desk;
    PrecisionUse use;
    Q_EMIT desk.controller->worker().precisionUsed(use);
    QCOMPARE(desk.window.error_bar().message(), QString());
    use.log_failure = phrases::file_place(std::filesystem::path("swaps.json"));
    Q_EMIT desk.controller->worker().precisionUsed(use);
    QVERIFY(desk.window.error_bar().message().contains(QStringLiteral("swaps.json")));
    QCOMPARE(desk.window.error_bar().kind(), ui::ErrorBar::Kind::notice);
    desk.window.clear_error();
    Q_EMIT desk.controller->worker().precisionUsed(use);
    QCOMPARE(desk.window.error_bar().message(), QString());
  }

  void theOldestTurnsAreLeftOutWhenTheUserSaysSo() {
    Desk desk(short_answers, 160);
    QVERIFY(desk.open_demo());
    auto* action = desk.window.findChild<QToolButton*>(QStringLiteral("errorAction"));
    for (int turn = 0; turn < 8 && !action->isVisible(); ++turn) {
      desk.type(QStringLiteral("%1: one more thing about the sea, the wind and the ships").arg(turn));
      QVERIFY(desk.answered());
    }
    QVERIFY(action->isVisible());
    // It is said before: how many, and from which question on the model would read.
    const QString offer = action->text(), said = desk.window.error_bar().message();
    const int count = offer.split(QLatin1Char(' ')).value(2).toInt();
    QVERIFY2(count >= 2 && count % 2 == 0, qPrintable(offer));
    QVERIFY2(said.contains(QStringLiteral("start reading from “%1: one more").arg(count / 2)),
             qPrintable(said));
    const QString reason = QString::fromStdString(desk.conversation().messages().back().note);
    QVERIFY2(reason.contains(QStringLiteral("do not fit")) && !said.contains(QStringLiteral("do not fit")),
             qPrintable(reason));  // told once
    action->click();
    QVERIFY(desk.answered());
    const auto& answer = desk.conversation().messages().back();
    QCOMPARE(answer.state, app::history::MessageState::complete);
    QVERIFY2(QString::fromStdString(answer.note).contains(QStringLiteral("%1 oldest").arg(count)),
             answer.note.c_str());
    QVERIFY2(answer.note.contains("left out"), answer.note.c_str());
    QVERIFY(desk.conversation().chat_settings().leave_out_oldest);
  }
};
FOVEA_TEST(ChatControllerTest)

#include "chat_controller_test.moc"
