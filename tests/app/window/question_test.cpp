// What goes with a question, through the window with a real engine: files, drafts, and how much of the
// context it takes.
#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QToolButton>
#include <sys/stat.h>

#include "app/window/token_counter.h"
#include "tests/support/test.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/status_strip.h"

#include "desk.h"

using namespace fovea;
using State = ui::ChatWindow::State;
using fovea::tests::Desk;
using fovea::tests::short_answers;

class QuestionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QVERIFY2(!tests::demo_model().empty(), "the demo model is not built; scripts/test builds it");
  }

  void filesGoIntoThePrompt() {
    Desk desk;
    QVERIFY(desk.open_demo());
    const QString path = QString::fromStdString((desk.own.path() / "notes.txt").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(QByteArray("the word is heliotrope\n").repeated(20));
    file.close();
    desk.conversation().attach({path});
    const auto counted = [&] {
      for (const QToolButton* chip : desk.window.composer().findChildren<QToolButton*>()) {
        if (chip->text().contains(QStringLiteral(" token"))) return true;
      }
      return false;
    };
    QTRY_VERIFY(counted());
    desk.type(QStringLiteral("What is the word?"));
    QVERIFY(desk.answered());
    const auto& question = desk.conversation().messages()[0];
    QCOMPARE(question.text, std::string("What is the word?"));
    QCOMPARE(question.attachments.size(), 1U);
    QVERIFY(question.attachments[0].tokens > 60);
    QVERIFY(desk.window.status().status().context_used > question.attachments[0].tokens);
  }

  // Of the conversation that is shown, whatever ran last: a new one, one that is read again, another
  // window's.
  void theContextIsThatOfTheConversation() {
    const tests::TemporaryFolder folder;
    const auto used = [](Desk& desk) { return desk.window.status().status().context_used; };
    qint64 first = 0, conversation = 0;
    {
      Desk desk(short_answers, 1024, folder.path());
      QVERIFY(desk.open_demo());
      desk.window.composer().set_text(QStringLiteral("word ").repeated(300).trimmed());
      desk.type({});
      QVERIFY(desk.answered());
      first = app::prompt_tokens(*desk.controller->model().text, desk.conversation().prompt());
      QVERIFY2(first > 300 && first < 400, qPrintable(QString::number(first)));
      QTRY_COMPARE(used(desk), first);  // and not only what was read and written
      conversation = desk.conversation().conversation().id;
      Q_EMIT desk.window.newChatRequested();
      QTRY_COMPARE(used(desk), 0);
      desk.type(QStringLiteral("Hello"));
      QVERIFY(desk.answered());
      QTRY_VERIFY(used(desk) > 0 && used(desk) < 200);
      desk.conversation().open(conversation);
      QTRY_COMPARE(used(desk), first);
    }
    Desk desk(short_answers, 1024, folder.path());
    QVERIFY(desk.open_demo());
    QCOMPARE(used(desk), 0);
    desk.conversation().open(conversation);
    QTRY_COMPARE(used(desk), first);
    desk.controller->open_model(desk.controller->model().settings);
    QTRY_COMPARE(desk.window.state(), State::ready);
    QTRY_COMPARE(used(desk), first);
  }

  // Before it is sent; what is counted is what the engine reads.
  void whatDoesNotFitIsSaidBefore() {
    Desk desk(short_answers, 256);
    QVERIFY(desk.open_demo());
    const auto* warning = desk.window.findChild<QLabel*>(QStringLiteral("composerWarning"));
    const QString path = QString::fromStdString((desk.own.path() / "notes.txt").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(QByteArray("the word is heliotrope\n").repeated(200));
    file.close();
    desk.conversation().attach({path});
    QTRY_VERIFY(warning->isVisible());
    QVERIFY2(warning->text().contains(QStringLiteral("more than the 256")) &&
                 warning->text().contains(QStringLiteral("longer context")),
             qPrintable(warning->text()));
    Q_EMIT desk.window.composer().attachmentRemoved(0);
    QTRY_VERIFY(!warning->isVisible());
    desk.window.composer().set_text(QStringLiteral("word ").repeated(400));
    QTRY_VERIFY(warning->isVisible());
    Q_EMIT desk.window.newChatRequested();  // the text stays with its conversation, which is this one
    QTRY_VERIFY(warning->isVisible());
    desk.window.composer().set_text(QStringLiteral("Hello"));
    QTRY_VERIFY(!warning->isVisible());
    const std::int64_t counted =
        app::prompt_tokens(*desk.controller->model().text, desk.conversation().next_prompt());
    QSignalSpy finished(&desk.controller->worker(), &app::EngineWorker::finished);
    QTest::keyClick(desk.window.findChild<QPlainTextEdit*>(QStringLiteral("input")), Qt::Key_Return);
    QVERIFY(desk.answered());
    QCOMPARE(finished.at(0).at(0).value<GenerateResult>().timings.prompt_tokens, counted);
  }

  // Counted for the file that was asked about, whatever was taken out meanwhile, and for each model anew.
  void countsStayWithTheirFiles() {
    Desk desk;
    QStringList paths;
    for (const char* name : {"long", "short"}) {
      paths += QString::fromStdString((desk.own.path() / name).string()) + QStringLiteral(".txt");
      QFile file(paths.back());
      QVERIFY(file.open(QFile::WriteOnly));
      file.write(QByteArray("the word is heliotrope\n").repeated(name[0] == 'l' ? 200 : 2));
    }
    const auto chip = [&](const char* name) {
      for (const QToolButton* each : desk.window.composer().findChildren<QToolButton*>()) {
        if (each->text().contains(QLatin1String(name))) return each->text();
      }
      return QString();
    };
    desk.conversation().attach(paths);  // no model is open yet
    QVERIFY2(chip("short.txt").contains(QStringLiteral(" character")), qPrintable(chip("short.txt")));
    QVERIFY(desk.open_demo());
    QTRY_VERIFY(chip("long.txt").contains(QStringLiteral(" token")));
    QTRY_VERIFY(chip("short.txt").contains(QStringLiteral(" token")));
    const QString tokens = chip("short.txt");
    desk.conversation().attach({paths[1]});
    Q_EMIT desk.window.composer().attachmentRemoved(0);  // before the new one is counted
    QTRY_VERIFY(!chip("long.txt").contains(QStringLiteral(" token")));
    QCOMPARE(chip("short.txt"), tokens);
  }

  // What is typed and attached waits with its conversation, and a change of a message that is left is given
  // up.
  void filesAndDraftsStayWithTheirConversation() {
    Desk desk;
    QVERIFY(desk.open_demo());
    const QString path = QString::fromStdString((desk.own.path() / "notes.txt").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write("the word is heliotrope\n");
    file.close();
    const auto attached = [&] {
      int chips = 0;
      for (const QToolButton* each : desk.window.composer().findChildren<QToolButton*>())
        chips += each->text().contains(QStringLiteral("notes.txt")) ? 1 : 0;
      return chips;
    };
    desk.conversation().attach({path});
    desk.type(QStringLiteral("What is the word?"));
    QVERIFY(desk.answered());
    QTRY_COMPARE(attached(), 0);
    const qint64 id = desk.conversation().conversation().id;
    desk.window.composer().set_text(QStringLiteral("half a thought"));
    desk.conversation().attach({path});
    Q_EMIT desk.window.editRequested();  // the first question, with its file
    QCOMPARE(desk.window.composer().text(), QStringLiteral("What is the word?"));
    Q_EMIT desk.window.composer().editCancelled();
    QCOMPARE(desk.window.composer().text(), QStringLiteral("half a thought"));
    QTRY_COMPARE(attached(), 1);
    Q_EMIT desk.window.editRequested();
    Q_EMIT desk.window.newChatRequested();
    QTRY_COMPARE(attached(), 0);
    QVERIFY(!desk.window.composer().editing());
    desk.conversation().open(id);
    QTRY_COMPARE(desk.window.composer().text(), QStringLiteral("half a thought"));
    QTRY_COMPARE(attached(), 1);
  }

  // In the words of who tried it, with what can be attached instead.
  void aFileThatIsNoTextIsRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("told");
    const QString text_files = QStringLiteral("Attach text files: notes");
    QTest::newRow("PNG") << QByteArray("\x89PNG\r\n\x1a\n\0\0", 10) << text_files;
    QTest::newRow("a large JPEG") << "\xFF\xD8\xFF\xE0" + QByteArray(9 << 20, '\0')
                                  << QStringLiteral("this is a picture");
    QTest::newRow("PDF") << QByteArray("%PDF-1.7\n%\xE2\xE3") << QStringLiteral("Copy the text out of it");
    QTest::newRow("program") << QByteArray(
                                    "\x7f"
                                    "ELF\0\0\0\0",
                                    8)
                             << text_files;
    QTest::newRow("Latin-1") << QByteArray(
                                    "Gr\xFC\xDF"
                                    "e")
                             << QStringLiteral("Save it as UTF-8");
    QTest::newRow("UTF-16") << QByteArray("\xFF\xFEH\0i\0", 6) << QStringLiteral("Save it as UTF-8");
  }
  void aFileThatIsNoTextIsRefused() {
    Desk desk;
    QFETCH(QByteArray, bytes);
    QFETCH(QString, told);
    const QString path = QString::fromStdString((desk.own.path() / "thing").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(bytes);
    file.close();
    desk.conversation().attach({path});
    const QString message = desk.window.error_bar().message();
    QVERIFY2(message.contains(path) && message.contains(told), qPrintable(message));
    QVERIFY2(!message.contains(QStringLiteral("damaged")), qPrintable(message));
  }

  void aPipeIsNotWaitedFor() {
    Desk desk;
    const std::string pipe = (desk.own.path() / "pipe").string();  // that nobody writes to
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    desk.conversation().attach({QString::fromStdString(pipe)});
    QVERIFY(desk.window.error_bar().message().contains(QStringLiteral("not a regular file")));
  }
};
FOVEA_TEST(QuestionTest)

#include "question_test.moc"
