// The program with somebody at its keys, for whole_path_test.cpp:
//   desktop_stage first|again MODEL STORES_FOLDER [PICTURE.png]
// It says what it sees in lines of JSON on standard output. `first` asks, asks for another answer, watches
// the experts, and ends only by being killed while an answer streams; `again` is the start after that.
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPlainTextEdit>
#include <QtTest/QtTest>
#include <cstdio>
#include <functional>

#include "app/window/desktop.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/transcript_view.h"
#include "ui/live/live_panel.h"

using namespace fovea;

namespace {

constexpr int kLong = 240'000;  // milliseconds; nothing here measures time
using State = ui::ChatWindow::State;

void say(const char* event, QJsonObject what = {}) {
  what.insert(QStringLiteral("event"), QLatin1String(event));
  std::puts(QJsonDocument(what).toJson(QJsonDocument::Compact).constData());
  std::fflush(stdout);
}

void must(bool good, const char* what) {
  if (good) return;
  say("failed", {{QStringLiteral("what"), QLatin1String(what)}});
  std::_Exit(1);
}

class Stage {
 public:
  explicit Stage(app::Desktop& desktop) : desktop_(desktop), window_(desktop.window()) {}

  void begin() {
    desktop_.start();
    must(QTest::qWaitForWindowExposed(&window_, kLong), "the window is shown");
    window_.activateWindow();
    must(QTest::qWaitForWindowActive(&window_, kLong), "the window gets the keys");
    must(wait([&] { return window_.state() == State::ready; }), "the model is loaded");
    must(window_.error_bar().message().isEmpty(), "there is no error");
  }

  void type(const QString& text) { QTest::keyClicks(input(), text); }
  void enter() { QTest::keyClick(input(), Qt::Key_Return); }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::ControlModifier) {
    QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window_, key, modifiers);
  }

  void ask(const QString& question) {
    type(question);
    enter();
    must(window_.state() == State::generating, "the question is taken at once");
  }
  void answer() {
    must(wait([&] { return window_.state() == State::ready; }), "the answer ends");
    must(window_.error_bar().message().isEmpty(), "there is no error");
  }
  QString shown(int message) { return window_.transcript().message_text(message); }
  const app::history::Message& stored(std::size_t message) {
    return desktop_.chat().conversation().messages().at(message);
  }

  QJsonObject conversation() {
    QJsonArray messages;
    for (int i = 0; i < window_.transcript().message_count(); ++i) {
      const app::history::Message& message = stored(static_cast<std::size_t>(i));
      messages.append(QJsonObject{{QStringLiteral("text"), shown(i)},
                                  {QStringLiteral("sibling"), message.sibling},
                                  {QStringLiteral("siblings"), message.siblings}});
    }
    return {{QStringLiteral("messages"), messages}, {QStringLiteral("draft"), input()->toPlainText()}};
  }

  void settings(const ui::ChatSettingsView& settings) {
    desktop_.chat().conversation().set_chat_settings(settings);
  }

  void first();
  void again();

 private:
  QPlainTextEdit* input() { return window_.findChild<QPlainTextEdit*>(QStringLiteral("input")); }
  static bool wait(const std::function<bool()>& done) { return QTest::qWaitFor(done, kLong); }

  app::Desktop& desktop_;
  ui::ChatWindow& window_;
};

void Stage::first() {
  ui::ChatSettingsView brief;
  brief.seed = 7;
  brief.max_tokens = 24;
  settings(brief);
  ask(QStringLiteral("What is the capital of France?"));
  answer();
  must(!shown(1).isEmpty(), "there is an answer");
  const QString one = shown(1);

  brief.seed = 8;
  brief.temperature = 1.5;
  settings(brief);
  press(Qt::Key_R);  // another answer
  must(window_.state() == State::generating, "another answer is begun by its key");
  answer();
  must(stored(1).siblings == 2 && stored(1).sibling == 2, "it is a second branch");
  say("answered", {{QStringLiteral("first"), one}, {QStringLiteral("second"), shown(1)}});

  if (!desktop_.live_panel().isVisible()) press(Qt::Key_L);
  must(wait([&] { return desktop_.live_panel().isVisible(); }), "the panel opens");
  brief.max_tokens.reset();
  settings(brief);
  for (int round = 0;; ++round) {  // until it is killed; a model may end its answer by itself
    ask(QStringLiteral("Write a very long story about the sea, question %1").arg(round));
    type(QStringLiteral("unsent"));
    must(wait([&] { return desktop_.live_panel().ring().end() > 3 || window_.state() == State::ready; }),
         "the panel shows the experts");
    QElapsedTimer since;
    since.start();
    while (window_.state() == State::generating) {
      QTest::qWait(100);
      QJsonObject now = conversation();
      now.insert(QStringLiteral("milliseconds"), since.elapsed());
      now.insert(QStringLiteral("moments"), static_cast<qint64>(desktop_.live_panel().ring().end()));
      say("writing", now);
    }
    input()->clear();
  }
}

void Stage::again() {
  press(Qt::Key_K);  // search all conversations, then down into the list
  auto* list = window_.findChild<QAbstractItemView*>(QStringLiteral("conversations"));
  must(wait([&] { return list->model()->rowCount() >= 2; }), "the conversation is listed");
  press(Qt::Key_Down, Qt::NoModifier);
  must(QApplication::focusWidget() == list, "the list has the keys");
  press(Qt::Key_Return, Qt::NoModifier);
  must(wait([&] { return window_.transcript().message_count() >= 4; }), "the conversation opens");
  say("restored", conversation());

  Q_EMIT window_.transcript().siblingRequested(stored(1).id, -1);
  must(wait([&] { return stored(1).sibling == 1; }), "the other branch is shown");
  say("other branch", conversation());

  ui::ChatSettingsView brief;
  brief.max_tokens = 12;
  settings(brief);
  input()->clear();
  ask(QStringLiteral("And of Italy?"));
  answer();
  must(window_.transcript().message_count() == 4, "the chat goes on");
  say("went on", conversation());
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 4) {
    std::fputs("usage: desktop_stage first|again MODEL STORES_FOLDER [PICTURE.png]\n", stderr);
    return 2;
  }
  app::WindowRequest request;
  request.load.emplace();
  request.load->model = argv[2];
  request.load->context = 1024;
  request.load->threads = 2;
  request.load->precision.policy = PolicyKind::dynaexq;
  request.load->precision.budget_bytes = 260'000'000;
  request.load->precision.stores_folder = argv[3];
  app::Desktop desktop(request);
  Stage stage(desktop);
  stage.begin();
  if (QByteArray(argv[1]) == "first") stage.first();
  stage.again();
  if (argc > 4) desktop.window().grab().save(QString::fromLocal8Bit(argv[4]));
  QSignalSpy closed(&desktop, &app::Desktop::closed);
  desktop.window().close();
  must(closed.count() == 1 || closed.wait(kLong), "it closes");
  say("closed");
  return 0;
}
