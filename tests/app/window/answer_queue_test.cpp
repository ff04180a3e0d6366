// Several conversations and one engine: who is answered, who waits, and what stopping means.
#include <QAbstractItemView>
#include <QFile>
#include <QToolButton>

#include "tests/support/test.h"
#include "ui/chat/composer.h"
#include "ui/chat/conversation_list.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"

#include "desk.h"

using namespace fovea;
using app::Work;
using app::history::Id;
using fovea::tests::Desk;
using fovea::tests::kLong;
using State = ui::ChatWindow::State;
using RowWork = ui::ConversationListModel::Work;

namespace {

const QString kStory = QStringLiteral("Write a long story");

// One conversation is answered, without an end, and a new chat is open.
struct BusyDesk : Desk {
  explicit BusyDesk(const std::filesystem::path& folder = {}) : Desk(tests::endless_answers, 1024, folder) {}

  bool begin() {
    if (!open_demo()) return false;
    type(kStory);
    if (!streaming()) return false;
    busy = conversation().conversation().id;
    Q_EMIT window.newChatRequested();
    return true;
  }
  bool send(const QString& text) {
    type(text);
    return QTest::qWaitFor([&] { return conversation().work() == Work::waiting; }, kLong);
  }
  bool go_to(Id id) {
    conversation().open(id);
    return QTest::qWaitFor([&] { return conversation().conversation().id == id; }, kLong);
  }
  RowWork work_of(Id id) {
    auto* list = window.findChild<QAbstractItemView*>(QStringLiteral("conversations"));
    for (int row = 0; row < list->model()->rowCount(); ++row) {
      const QModelIndex index = list->model()->index(row, 0);
      if (index.data(ui::ConversationListModel::IdRole).toLongLong() == id)
        return static_cast<RowWork>(index.data(ui::ConversationListModel::WorkRole).toInt());
    }
    return RowWork::none;
  }
  QToolButton* button() { return window.findChild<QToolButton*>(QStringLiteral("send")); }
  QString note(int message) { return window.transcript().conversation().at(message).view().note; }

  Id busy = 0;
};

}  // namespace

class AnswerQueueTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QVERIFY2(!tests::demo_model().empty(), "the demo model is not built; scripts/test builds it");
  }

  void whoIsAnsweredIsShown() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    QCOMPARE(desk.window.state(), State::ready);
    QCOMPARE(desk.window.status().status().activity, QStringLiteral("Answering in “Write a long story”"));
    QTRY_COMPARE(desk.work_of(desk.busy), RowWork::answering);
    QVERIFY(desk.go_to(desk.busy));
    QCOMPARE(desk.window.status().status().activity, QStringLiteral("Answering…"));
    desk.button()->click();
    QVERIFY(desk.answered());
    QCOMPARE(desk.work_of(desk.busy), RowWork::none);
    QCOMPARE(desk.window.status().status().activity, QString());
  }

  void whatIsSentWaitsForItsTurn() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    QVERIFY(desk.send(QStringLiteral("And a poem")));
    QCOMPARE(desk.window.state(), State::waiting);
    QCOMPARE(desk.window.transcript().message_text(0), QStringLiteral("And a poem"));
    QCOMPARE(desk.note(1), QStringLiteral("Waiting for the answer in “Write a long story”"));
    const Id second = desk.conversation().conversation().id;
    QTRY_COMPARE(desk.work_of(second), RowWork::waiting);
    Q_EMIT desk.window.newChatRequested();
    QVERIFY(desk.send(QStringLiteral("And a song")));
    const Id third = desk.conversation().conversation().id;
    QCOMPARE(desk.conversation().waiting(), (std::vector<qint64>{second, third}));

    QVERIFY(desk.go_to(desk.busy));
    Q_EMIT desk.window.stopRequested();
    QTRY_COMPARE(desk.conversation().answering(), second);  // in the order in which they were sent
    QVERIFY(desk.go_to(second));
    QVERIFY(desk.streaming());
    QCOMPARE(desk.note(1), QString());
    Q_EMIT desk.window.stopRequested();
    QTRY_COMPARE(desk.conversation().answering(), third);
    QVERIFY(desk.go_to(third));
    QVERIFY(desk.streaming());
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
    QVERIFY(!desk.stored(1).empty());
  }

  void stoppingStopsWhatIsSeen() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    QVERIFY(!desk.button()->isEnabled());  // nothing to stop here, and nothing to send
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.send(QStringLiteral("And a poem")));
    QCOMPARE(desk.button()->text(), QStringLiteral("Take back"));
    desk.window.composer().set_text(QStringLiteral("typed meanwhile"));
    desk.button()->click();
    QTRY_COMPARE(desk.window.state(), State::ready);
    QTRY_COMPARE(desk.window.composer().text(), QStringLiteral("And a poem\n\ntyped meanwhile"));
    QCOMPARE(desk.window.transcript().message_count(), 0);
    QVERIFY(desk.conversation().waiting().empty());
    QCOMPARE(desk.conversation().answering(), desk.busy);  // it was never touched
    QVERIFY(desk.go_to(desk.busy));
    const QString seen = desk.window.transcript().message_text(1);
    QTRY_VERIFY(desk.window.transcript().message_text(1).size() > seen.size());
  }

  // Files and all; and another answer that was asked for leaves nothing behind.
  void whatIsTakenBackIsAsItWas() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    const QString path = QString::fromStdString((desk.own.path() / "notes.txt").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write("the word is heliotrope\n");
    file.close();
    const auto attached = [&] {
      return std::ranges::any_of(desk.window.composer().findChildren<QToolButton*>(), [](QToolButton* chip) {
        return chip->text().contains(QStringLiteral("notes.txt"));
      });
    };
    desk.conversation().attach({path});
    QVERIFY(desk.send(QStringLiteral("What is the word?")));
    QTRY_VERIFY(!attached());
    Q_EMIT desk.window.stopRequested();
    QTRY_VERIFY(attached());
    QCOMPARE(desk.window.composer().text(), QStringLiteral("What is the word?"));

    QVERIFY(desk.go_to(desk.busy));
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
    const std::string first = desk.stored(1);
    Q_EMIT desk.window.newChatRequested();
    desk.type(kStory);
    QVERIFY(desk.streaming());
    QVERIFY(desk.go_to(desk.busy));
    desk.window.composer().set_text(QStringLiteral("typed meanwhile"));
    for (const auto& ask : {&ui::ChatWindow::regenerateRequested, &ui::ChatWindow::continueRequested}) {
      Q_EMIT(desk.window.*ask)();
      QTRY_COMPARE(desk.conversation().work(), Work::waiting);
      Q_EMIT desk.window.stopRequested();
      QTRY_COMPARE(desk.conversation().work(), Work::none);
      QTRY_COMPARE(desk.stored(1), first);
      QCOMPARE(desk.conversation().messages()[1].siblings, 1);
      QCOMPARE(desk.window.composer().text(), QStringLiteral("typed meanwhile"));
    }
  }

  // The disk has it before it is said to wait.
  void aKillLosesNothingThatWaits() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    QVERIFY(desk.send(QStringLiteral("And a poem")));
    Desk next(tests::short_answers, 1024, desk.own.path());
    next.conversation().open(desk.conversation().conversation().id);
    QTRY_COMPARE(next.window.transcript().message_count(), 2);
    QCOMPARE(next.window.transcript().message_text(0), QStringLiteral("And a poem"));
    const ui::MessageView& answer = next.window.transcript().conversation().at(1).view();
    QCOMPARE(answer.note, QStringLiteral("Not answered: Fovea quit before the answer began"));
    QVERIFY(answer.actions.testFlag(ui::MessageAction::regenerate));
  }

  void whatIsDeletedWaitsNoLonger() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    QVERIFY(desk.send(QStringLiteral("And a poem")));
    const Id second = desk.conversation().conversation().id;
    Q_EMIT desk.window.sidebar().deleteRequested(second);
    QTRY_COMPARE(desk.window.transcript().message_count(), 0);
    QVERIFY(desk.conversation().waiting().empty());
    QCOMPARE(desk.conversation().answering(), desk.busy);
    desk.window.findChild<QToolButton*>(QStringLiteral("undoDelete"))->click();
    QTRY_COMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.note(1), QStringLiteral("Stopped"));
  }

  // And is answered by the model that comes, under its name.
  void aNewModelFindsWhatWaits() {
    BusyDesk desk;
    QVERIFY(desk.begin());
    QVERIFY(desk.send(QStringLiteral("And a poem")));
    const Id second = desk.conversation().conversation().id;
    LoadOptions missing = desk.controller->load_defaults();
    missing.model = desk.own.path() / "nothing.gguf";
    desk.controller->open_model(missing);
    QTRY_COMPARE(desk.window.state(), State::waiting);  // it could not be opened
    QCOMPARE(desk.note(1), QStringLiteral("Waiting for a model to be opened"));
    desk.controller->open_model(QString::fromStdString(tests::demo_model().string()));
    QTRY_COMPARE(desk.conversation().answering(), second);
    QVERIFY(desk.streaming());
    Q_EMIT desk.window.stopRequested();
    QVERIFY(desk.answered());
    QCOMPARE(desk.conversation().messages()[1].origin.model, desk.controller->model().info.name);
  }
};
FOVEA_TEST(AnswerQueueTest)

#include "answer_queue_test.moc"
