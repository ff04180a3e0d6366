// The program with somebody at its keys, for whole_path_test.cpp:
//   desktop_stage first|again [PICTURE.png]
// It says what it sees in lines of JSON on standard output. `first` goes through the wizard to the demo
// model, asks, asks for another answer, watches the experts, and ends only by being killed while an answer
// streams; `again` is the start after that.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QElapsedTimer>
#include <QFocusEvent>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QtTest/QtTest>
#include <cstdio>
#include <functional>

#include "app/live/live_session.h"
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

  void begin(bool first_start) {
    desktop_.start();
    must(QTest::qWaitForWindowExposed(&window_, kLong), "the window is shown");
    if (first_start) set_up();
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

  void set_up();
  static void choose_demo(QAbstractItemView& models);
  void first();
  void again();

 private:
  QPlainTextEdit* input() { return window_.findChild<QPlainTextEdit*>(QStringLiteral("input")); }
  static bool wait(const std::function<bool()>& done) { return QTest::qWaitFor(done, kLong); }

  app::Desktop& desktop_;
  ui::ChatWindow& window_;
};

// From the first screen through the wizard, by its keys: the demo model with hot experts in 0.22 GB, and
// measured.
void Stage::set_up() {
  auto* ask = window_.findChild<QAbstractButton*>(QStringLiteral("welcomeWizard"));
  must(wait([&] { return ask->isVisible(); }), "the first screen is shown");
  ask->click();
  QDialog* wizard = nullptr;
  must(wait([&] {
         wizard = window_.findChild<QDialog*>(QStringLiteral("wizard"));
         return wizard && wizard->isVisible();
       }),
       "the wizard opens");
  must(QTest::qWaitForWindowActive(wizard, kLong), "the wizard gets the keys");
  const auto* title = wizard->findChild<QLabel*>(QStringLiteral("wizardTitle"));
  const auto* next = wizard->findChild<QAbstractButton*>(QStringLiteral("wizardNext"));
  auto* models = wizard->findChild<QAbstractItemView*>(QStringLiteral("wizardModels"));
  auto* precision = wizard->findChild<QComboBox*>(QStringLiteral("wizardPrecision"));
  const auto can_go_on = [&] { return wait([&] { return next->isEnabled(); }); };
  while (!precision->isVisible()) {
    must(can_go_on(), "the wizard can go on");
    if (models->isVisible()) choose_demo(*models);
    const QString before = title->text();
    QTest::keyClick(wizard, Qt::Key_Return);
    must(wait([&] { return title->text() != before; }), "the next page is shown");
  }
  must(wait([&] { return precision->count() > 2; }), "precisions are offered");
  wizard->findChild<QComboBox*>(QStringLiteral("wizardContext"))->setCurrentIndex(0);
  precision->setCurrentIndex(precision->findText(QStringLiteral("Hot experts"), Qt::MatchStartsWith));
  auto* box = wizard->findChild<QAbstractSpinBox*>(QStringLiteral("wizardBudget"));
  auto* budget = box->findChild<QLineEdit*>();
  budget->selectAll();
  QTest::keyClicks(budget, QStringLiteral("220MB"));
  QFocusEvent leave(QEvent::FocusOut);  // whoever has the focus
  QApplication::sendEvent(box, &leave);
  QTest::qWait(1000);
  must(can_go_on(), "it fits");
  QTest::keyClick(wizard, Qt::Key_Return);
  must(can_go_on(), "it can be opened");
  QTest::keyClick(wizard, Qt::Key_O, Qt::AltModifier);
  const auto* again = wizard->findChild<QAbstractButton*>(QStringLiteral("wizardAgain"));
  must(wait([&] { return again->isVisible() && again->isEnabled(); }), "it is measured");
  const auto* measured = wizard->findChild<QLabel*>(QStringLiteral("wizardCalibrationText"));
  say("set up", {{QStringLiteral("measured"), measured->text()}});
  QTest::keyClick(wizard, Qt::Key_F, Qt::AltModifier);
  must(wait([&] { return !window_.findChild<QDialog*>(QStringLiteral("wizard")); }), "the wizard ends");
}

void Stage::choose_demo(QAbstractItemView& models) {
  must(wait([&] { return models.model()->rowCount() > 0; }), "there are models");
  const auto demo = models.model()->match(models.model()->index(0, 0), Qt::DisplayRole,
                                          QStringLiteral("Fovea demo"), 1, Qt::MatchExactly);
  must(!demo.isEmpty(), "the demo model is offered");
  models.setCurrentIndex(demo.first());
}

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
    must(wait([&] { return desktop_.live_session().ring().end() > 3 || window_.state() == State::ready; }),
         "the panel shows the experts");
    QElapsedTimer since;
    since.start();
    while (window_.state() == State::generating) {
      QTest::qWait(100);
      QJsonObject now = conversation();
      now.insert(QStringLiteral("milliseconds"), since.elapsed());
      now.insert(QStringLiteral("moments"), static_cast<qint64>(desktop_.live_session().ring().end()));
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
  if (argc < 2) {
    std::fputs("usage: desktop_stage first|again [PICTURE.png]\n", stderr);
    return 2;
  }
  app::Desktop desktop({});
  Stage stage(desktop);
  const bool first = QByteArray(argv[1]) == "first";
  stage.begin(first);
  if (first) stage.first();
  stage.again();
  if (argc > 2) desktop.window().grab().save(QString::fromLocal8Bit(argv[2]));
  QSignalSpy closed(&desktop, &app::Desktop::closed);
  desktop.window().close();
  must(closed.count() == 1 || closed.wait(kLong), "it closes");
  say("closed");
  return 0;
}
