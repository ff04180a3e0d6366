// The whole way from a typed message to a streamed answer: a real window (offscreen), a real engine, the demo
// model.
#include "app/window/chat_controller.h"

#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QToolButton>

#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/transcript_view.h"

using namespace fovea;
using State = ui::ChatWindow::State;

namespace {

constexpr int kLong = 120'000;  // milliseconds; generous, nothing here measures time

GenerateRequest short_answers(const ModelInfo&) {
  GenerateRequest request;
  request.sampling.seed = 7;
  request.max_tokens = 12;
  return request;
}

GenerateRequest endless_answers(const ModelInfo&) {
  GenerateRequest request;
  request.sampling.seed = 7;
  request.sampling.temperature = 1.5F;
  return request;
}

// A window with its controller and the demo model loaded.
struct Desk {
  explicit Desk(app::RequestDefaults defaults = short_answers, std::int64_t context = 1024) {
    LoadRequest load;
    load.context = context;
    load.threads = 2;
    controller = std::make_unique<app::ChatController>(window, load, std::move(defaults));
    window.show();
  }

  bool open(const QString& path) {
    controller->open_model(path);
    return QTest::qWaitFor([this] { return window.state() != State::loading; }, kLong);
  }
  bool open_demo() {
    return open(QString::fromStdString(tests::demo_model().string())) && window.state() == State::ready;
  }

  void type(const QString& text) {
    auto* input = window.findChild<QPlainTextEdit*>(QStringLiteral("input"));
    QTest::keyClicks(input, text);
    QTest::keyClick(input, Qt::Key_Return);
  }
  bool answered() {
    return QTest::qWaitFor([this] { return window.state() == State::ready; }, kLong);
  }
  bool streaming() {
    return QTest::qWaitFor(
        [this] {
          const int last = window.transcript().message_count() - 1;
          return last >= 0 && !window.transcript().message_text(last).isEmpty();
        },
        kLong);
  }

  ui::ChatWindow window;
  std::unique_ptr<app::ChatController> controller;
};

}  // namespace

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
    QCOMPARE(desk.controller->conversation().size(), 2U);
    QCOMPARE(desk.controller->conversation()[0].content, std::string("What is the capital of France?"));
    const std::string answer = desk.controller->conversation()[1].content;
    QVERIFY(!answer.empty());
    QCOMPARE(desk.window.transcript().message_count(), 2);
    QCOMPARE(desk.window.transcript().message_text(1).toStdString(), answer);
    QCOMPARE(desk.window.error_bar().message(), QString());
  }

  void theConversationGoesOn() {
    Desk desk;
    QVERIFY(desk.open_demo());
    for (const char* question : {"Hello", "Tell me more"}) {
      desk.type(QString::fromLatin1(question));
      QVERIFY(desk.answered());
    }
    QCOMPARE(desk.controller->conversation().size(), 4U);
    QCOMPARE(desk.window.transcript().message_count(), 4);
  }

  void theSameSeedGivesTheSameAnswer() {
    std::string answers[2];
    for (std::string& answer : answers) {
      Desk desk;
      QVERIFY(desk.open_demo());
      desk.type(QStringLiteral("Name three colours"));
      QVERIFY(desk.answered());
      answer = desk.controller->conversation().at(1).content;
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
    QCOMPARE(desk.controller->conversation().size(), 2U);
    QVERIFY(!desk.controller->conversation()[1].content.empty());
    desk.type(QStringLiteral("Go on"));  // and the engine still serves
    QVERIFY(desk.streaming());
  }

  void aNewChatDropsTheAnswerOnItsWay() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    desk.window.findChild<QToolButton*>(QStringLiteral("newChat"))->click();
    QCOMPARE(desk.window.transcript().message_count(), 0);
    QVERIFY(desk.answered());
    QTest::qWait(0);
    QCOMPARE(desk.window.transcript().message_count(), 0);
    QVERIFY(desk.controller->conversation().empty());
  }

  void closingWhileGeneratingEndsCleanly() {
    Desk desk(endless_answers);
    QVERIFY(desk.open_demo());
    QSignalSpy closed(desk.controller.get(), &app::ChatController::closed);
    desk.type(QStringLiteral("Write a long story"));
    QVERIFY(desk.streaming());
    desk.window.close();
    QVERIFY(closed.count() == 1 || closed.wait(kLong));
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

  void aQuestionThatDoesNotFitComesBack() {
    Desk desk(short_answers, 64);
    QVERIFY(desk.open_demo());
    const QString question = QStringLiteral("word ").repeated(200).trimmed();
    desk.window.composer().set_text(question);
    QTest::keyClick(desk.window.findChild<QPlainTextEdit*>(QStringLiteral("input")), Qt::Key_Return);
    QVERIFY(desk.answered());
    QVERIFY2(desk.window.error_bar().message().contains(QStringLiteral("context")),
             qPrintable(desk.window.error_bar().message()));
    QCOMPARE(desk.window.composer().text(), question);
    QVERIFY(desk.controller->conversation().empty());
    QCOMPARE(desk.window.transcript().message_count(), 0);
  }
};
FOVEA_TEST(ChatControllerTest)

#include "chat_controller_test.moc"
