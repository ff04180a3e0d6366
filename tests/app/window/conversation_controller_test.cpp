// What is sent is stored before it is answered: as one piece, or not at all.
#include "app/window/conversation_controller.h"

#include <QSignalSpy>

#include "app/history/database.h"
#include "app/history/worker/history_thread.h"
#include "app/window/conversation_view.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"

using namespace fovea;
namespace history = fovea::app::history;

class ConversationControllerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A message that the window says was not sent is not in the history, and once it is sent it is there once.
  void whatIsToldAsNotSentIsNotStored_data() {
    QTest::addColumn<QString>("breaks");
    QTest::addColumn<QString>("mends");
    QTest::newRow("the turn cannot be written") << "ALTER TABLE messages RENAME TO other"
                                                << "ALTER TABLE other RENAME TO messages";
    QTest::newRow("the draft cannot be cleared") << "ALTER TABLE meta RENAME TO other"
                                                 << "ALTER TABLE other RENAME TO meta";
    QTest::newRow("the turn cannot be read") << "ALTER TABLE attachments RENAME TO other"
                                             << "ALTER TABLE other RENAME TO attachments";
  }
  void whatIsToldAsNotSentIsNotStored() {
    QFETCH(QString, breaks);
    QFETCH(QString, mends);
    const tests::TemporaryFolder folder;
    const auto file = folder.path() / "history.db";
    ui::ChatWindow window;
    history::HistoryThread thread(file);
    QSignalSpy opened(&thread, &history::HistoryThread::opened);
    QTRY_COMPARE(opened.size(), 1);
    app::ConversationController controller(window, thread,
                                           [](const ui::ChatSettingsView&) { return history::Origin{}; });
    controller.set_ready(true);
    QSignalSpy wanted(&controller, &app::ConversationController::answerWanted);
    auto other = history::Database::open(file, history::Access::read_write);
    FOVEA_VERIFY(other);

    FOVEA_VERIFY(other->script(breaks.toStdString()));
    controller.send(QStringLiteral("why"));
    QTRY_COMPARE(controller.work(), app::Work::none);
    QVERIFY2(window.error_bar().message().contains(QStringLiteral("was not sent")),
             qPrintable(window.error_bar().message()));
    QCOMPARE(window.composer().text(), QStringLiteral("why"));
    FOVEA_VERIFY(other->script(mends.toStdString()));
    const auto conversations = [&] {
      return static_cast<int>(*other->number("SELECT count(*) FROM conversations"));
    };
    const auto messages = [&] { return static_cast<int>(*other->number("SELECT count(*) FROM messages")); };
    QCOMPARE(conversations(), 0);
    controller.send(window.composer().text());
    QTRY_COMPARE(wanted.size(), 1);
    QCOMPARE(conversations(), 1);
    QCOMPARE(messages(), 2);

    // And another version of the answer.
    controller.finish({});
    FOVEA_VERIFY(other->script(breaks.toStdString()));
    controller.regenerate_last();
    QTRY_VERIFY(controller.work() != app::Work::storing);
    const bool is_told = wanted.size() == 1;  // no draft is cleared for it
    FOVEA_VERIFY(other->script(mends.toStdString()));
    QCOMPARE(messages(), is_told ? 2 : 3);
  }

  // A list of chats shows words and not how they are laid out.
  void aTitleHasNoFences() {
    QCOMPARE(app::title_of(QStringLiteral("```python\nprint(1)\n```\nWhat does this print?")),
             QStringLiteral("print(1) What does this print?"));
    QCOMPARE(app::title_of(QStringLiteral("What are\n ``` fences?")), QStringLiteral("What are"));
    QCOMPARE(app::title_of(QStringLiteral("What is ```x```?")), QStringLiteral("What is ```x```?"));
    QCOMPARE(app::title_of(QStringLiteral("```")), QStringLiteral("```"));
  }

  // What the engine is told when a conversation is opened again.
  void openingOneFindsWhatItUses() {
    const tests::TemporaryFolder folder;
    ui::ChatWindow window;
    history::HistoryThread thread(folder.path() / "history.db");
    app::ConversationController controller(window, thread,
                                           [](const ui::ChatSettingsView&) { return history::Origin{}; });
    controller.set_ready(true);
    connect(&controller, &app::ConversationController::opened, &controller,
            &app::ConversationController::find_use_profile);
    QSignalSpy wanted(&controller, &app::ConversationController::answerWanted);
    QSignalSpy changed(&controller, &app::ConversationController::changed);
    QSignalSpy found(&controller, &app::ConversationController::useProfileFound);
    controller.send(QStringLiteral("why"));
    QTRY_COMPARE(wanted.size(), 1);
    GenerateResult result;
    result.text = "because";
    result.use_profile = std::string("p\0q", 3);
    controller.finish(result);
    const auto id = controller.conversation().id;
    controller.new_chat();
    controller.open(id);
    QTRY_COMPARE(found.size(), 1);
    QCOMPARE(found[0][0].toByteArray(), QByteArray("p\0q", 3));
  }
};
FOVEA_TEST(ConversationControllerTest)

#include "conversation_controller_test.moc"
