// Takes a picture of every page of the window, with the real engine, on Qt's offscreen platform, to be looked
// at:   fovea_pages MODEL FOLDER light|dark [LANGUAGE]        scripts/screenshot --all calls it.
// QT_SCALE_FACTOR=1.5 gives them at 150 %.
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest/QtTest>
#include <cstdio>

#include "app/window/desktop.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/transcript_view.h"
#include "ui/chat/welcome_view.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/live/tour_view.h"
#include "ui/settings/settings_page.h"

using namespace fovea;

namespace {

using State = ui::ChatWindow::State;
constexpr int kLong = 300'000;

class Pages {
 public:
  Pages(app::Desktop& desktop, QString folder, QString suffix)
      : desktop_(desktop),
        window_(desktop.window()),
        folder_(std::move(folder)),
        suffix_(std::move(suffix)) {}

  bool take(const char* model);

 private:
  void save(QWidget& widget, const QString& name) {
    QTest::qWait(120);
    const QString path = QDir(folder_).filePath(name + suffix_ + QStringLiteral(".png"));
    if (!widget.grab().save(path)) std::fprintf(stderr, "fovea_pages: cannot write %s\n", qPrintable(path));
  }
  QAction* action(const char* name) { return window_.findChild<QAction*>(QLatin1String(name)); }
  bool ready() {
    return QTest::qWaitFor(
        [&] { return window_.state() == State::ready || window_.state() == State::no_model; }, kLong);
  }
  void ask(const QString& question) {
    Q_EMIT window_.newChatRequested();
    ui::ChatSettingsView settings;
    settings.seed = 4;
    settings.instructions = QStringLiteral("Answer briefly.");
    desktop_.chat().conversation().set_chat_settings(settings);
    Q_EMIT window_.sendRequested(question);
  }
  // What the command opens, each page of it where it has tabs.
  void dialogs(const char* name, const QString& file) {
    QAction* command = action(name);
    if (!command) return;
    command->trigger();
    QTest::qWait(400);
    if (QWidget* page = window_.page()) {
      auto* tabs = page->findChild<QTabWidget*>();
      for (int tab = 0; tab < (tabs ? tabs->count() : 1); ++tab) {
        if (tabs) tabs->setCurrentIndex(tab);
        save(window_, tabs ? QStringLiteral("%1-%2").arg(file).arg(tab + 1) : file);
      }
      window_.leave_page();
    }
    for (QWidget* top : QApplication::topLevelWidgets()) {
      auto* dialog = qobject_cast<QDialog*>(top);
      if (!dialog || !dialog->isVisible()) continue;
      auto* tabs = dialog->findChild<QTabWidget*>();
      for (int tab = 0; tab < (tabs ? tabs->count() : 1); ++tab) {
        if (tabs) tabs->setCurrentIndex(tab);
        save(*dialog, tabs ? QStringLiteral("%1-%2").arg(file).arg(tab + 1) : file);
      }
      dialog->close();
    }
    QTest::qWait(50);
  }
  void menus();
  void server();
  void chats();
  void inside();
  void folders();
  void states();

  app::Desktop& desktop_;
  ui::ChatWindow& window_;
  QString folder_, suffix_;
};

void Pages::menus() {
  for (const QAction* each : window_.menuBar()->actions()) {
    if (!each->menu()) continue;
    each->menu()->popup(window_.mapToGlobal(QPoint(0, 0)));
    save(*each->menu(), QStringLiteral("menu-") + QString(each->text()).remove(QLatin1Char('&')).toLower());
    each->menu()->hide();
  }
}

// At a free port, with a count as of two programs.
void Pages::server() {
  Q_EMIT window_.serverSettingsRequested();
  auto* page = window_.findChild<ui::SettingsPage*>();
  page->findChild<QSpinBox*>(QStringLiteral("serverPort"))->setValue(0);
  auto* on = page->findChild<QCheckBox*>(QStringLiteral("serverOn"));
  on->click();
  const auto* address = page->findChild<QLineEdit*>(QStringLiteral("serverAddress"));
  if (!QTest::qWaitFor([address] { return !address->text().isEmpty(); }, kLong)) return;
  save(window_, QStringLiteral("settings-server-on"));
  window_.set_requests(2, address->text());
  save(window_, QStringLiteral("requests"));
  on->click();
  page->findChild<QCheckBox*>(QStringLiteral("serverForOthers"))->click();
  ui::ServerStateView state{
      .state = ui::ServerStateView::State::failed,
      .sentence = QStringLiteral("Another Fovea (version 0.1.0, process 4711) is already answering on port "
                                 "11435. Programs can use that one; or choose another port."),
      .address = {},
      .key = QStringLiteral("fovea-0123456789abcdef"),
      .key_place = QStringLiteral("The key is kept in the system's keyring.")};
  page->server().set_state(state);
  save(window_, QStringLiteral("settings-server-taken"));
  page->findChild<QCheckBox*>(QStringLiteral("serverForOthers"))->click();
  window_.leave_page();
}

void Pages::chats() {
  save(window_, QStringLiteral("chat"));
  window_.transcript().setFocus();
  window_.transcript().focus_message(1);
  save(window_, QStringLiteral("chat-message-focused"));
  action("findAction")->trigger();
  auto* field = window_.findChild<QWidget*>(QStringLiteral("findBar"))->findChild<QLineEdit*>();
  QTest::keyClicks(field, QStringLiteral("the"));
  QTest::qWait(300);
  save(window_, QStringLiteral("find-bar"));
  QTest::keyClick(field, Qt::Key_Escape);
  auto* search = window_.findChild<QLineEdit*>(QStringLiteral("search"));
  search->setText(QStringLiteral("tuple"));
  QTest::qWait(400);
  save(window_, QStringLiteral("search"));
  search->setText(QStringLiteral("xylophone"));
  QTest::qWait(400);
  save(window_, QStringLiteral("search-nothing"));
  search->clear();
  Q_EMIT window_.editRequested();
  save(window_, QStringLiteral("editing"));
  Q_EMIT window_.composer().editCancelled();
  Q_EMIT window_.sidebar().deleteRequested(desktop_.chat().conversation().conversation().id);
  QTest::qWait(400);
  save(window_, QStringLiteral("deleted-with-undo"));
  if (auto* undo = window_.findChild<QToolButton*>(QStringLiteral("undoDelete"))) undo->click();
  QTest::qWait(300);
}

// What an answer and its experts tell when one looks closer.
void Pages::inside() {
  ui::TranscriptView& transcript = window_.transcript();
  for (const ui::Control& control : transcript.controls_of(1))
    if (control.action == ui::MessageAction::facts) transcript.activate(1, control);
  transcript.setFocus();
  transcript.focus_message(1);
  save(window_, QStringLiteral("facts"));
  ui::HeatmapView& map = desktop_.live_panel().heatmap();
  map.set_current_unit(5);
  map.show_layer(0);
  save(window_, QStringLiteral("one-layer"));
  Q_EMIT map.expertChosen(5);
  save(window_, QStringLiteral("one-expert"));
  for (int i = 0; i < 2; ++i)
    desktop_.live_panel().findChild<QToolButton*>(QStringLiteral("backToMap"))->click();
  dialogs("conceptsAction", QStringLiteral("how-it-works"));
  dialogs("besideAction", QStringLiteral("beside"));
  action("tourAction")->trigger();
  QTest::qWait(6000);
  save(window_, QStringLiteral("tour"));
  desktop_.live_panel().tour().findChild<QToolButton*>(QStringLiteral("tourEnd"))->click();
  if (!ready()) return;
  save(window_, QStringLiteral("tour-ended"));
  desktop_.live_panel().tour().findChild<QToolButton*>(QStringLiteral("tourDelete"))->click();
  QTest::qWait(300);
}

// The conversation that is open in a new one, whose name is being typed; and the saved prompts.
void Pages::folders() {
  Q_EMIT window_.sidebar().newFolderRequested(desktop_.chat().conversation().conversation().id);
  QTest::qWait(400);
  save(window_, QStringLiteral("folder-named"));
  window_.composer().focus_input();
  QTest::qWait(100);
  save(window_, QStringLiteral("folder"));
  QTest::keyClick(window_.findChild<QPlainTextEdit*>(QStringLiteral("input")), Qt::Key_Slash);
  save(window_, QStringLiteral("saved-prompts"));
  window_.composer().set_text({});
}

void Pages::states() {
  window_.show_error(
      QStringLiteral("model.gguf: the file ends in the middle of the tensor "
                     "blk.17.ffn_gate_exps.weight (found 1.2 GB, expected 18.6 GB). Download it again"),
      QStringLiteral("Try again"));
  save(window_, QStringLiteral("error"));
  window_.show_notice(
      QStringLiteral("The settings file was no JSON and was set aside as settings.json.broken-1"));
  save(window_, QStringLiteral("notice"));
  window_.clear_error();
  window_.set_state(State::loading);
  window_.show_progress(QStringLiteral("Loading Qwen3-30B-A3B-Q4_K_M.gguf  blk.17.ffn_gate_exps.weight"), 40,
                        100);
  save(window_, QStringLiteral("loading"));
  window_.set_state(State::ready);
  window_.composer().set_text(QStringLiteral("שלום, מה שלומך?\n你好，请用中文回答。\nمرحبا"));
  save(window_, QStringLiteral("composer-rtl-cjk"));
  window_.composer().set_text(QString(QStringLiteral("A long message. ")).repeated(120));
  save(window_, QStringLiteral("composer-long"));
  window_.composer().set_text({});
  window_.resize(760, 600);
  save(window_, QStringLiteral("small"));
  window_.resize(1280, 720);
}

bool Pages::take(const char* model) {
  window_.resize(1280, 720);
  window_.activateWindow();
  save(window_, QStringLiteral("first-start-looking"));
  const auto* accept = window_.welcome().findChild<QAbstractButton*>(QStringLiteral("welcomeMain"));
  const auto* find = window_.welcome().findChild<QAbstractButton*>(QStringLiteral("welcomeFind"));
  if (!QTest::qWaitFor([&] { return accept->isVisible() || find->isVisible(); }, kLong)) return false;
  QTest::qWait(5000);  // the speed is measured
  save(window_, QStringLiteral("first-start"));
  if (auto* why = window_.welcome().findChild<QAbstractButton*>(QStringLiteral("welcomeWhy"))) why->click();
  save(window_, QStringLiteral("first-start-why"));
  menus();
  dialogs("settingsAction", QStringLiteral("settings"));
  server();
  dialogs("shortcutsAction", QStringLiteral("keyboard"));
  dialogs("modelsAction", QStringLiteral("models"));
  dialogs("wizardAction", QStringLiteral("wizard"));

  desktop_.chat().open_model(QString::fromLocal8Bit(model));
  if (!ready() || window_.state() != State::ready) return false;
  ask(QStringLiteral("Write a haiku about the sea."));
  if (!ready()) return false;
  save(window_, QStringLiteral("model-without-budget"));
  LoadOptions load = desktop_.chat().load_defaults();
  load.model = model;
  load.context = 1024;
  load.precision.policy = PolicyKind::dynaexq;
  load.precision.budget_bytes = 420'000'000;
  if (qEnvironmentVariableIsSet("FOVEA_SCREENSHOT_STORES"))
    load.precision.stores_folder = qgetenv("FOVEA_SCREENSHOT_STORES").toStdString();
  desktop_.chat().open_model(load);
  if (!ready() || window_.state() != State::ready) return false;
  save(window_, QStringLiteral("new-chat"));
  ask(QStringLiteral("Write a haiku about the sea."));
  if (!ready()) return false;
  ask(QStringLiteral("What is the difference between a list and a tuple in Python? Give an example."));
  // Moving experts change the answer, which may end before it is long.
  const auto long_enough = [&] {
    return window_.transcript().message_text(1).size() > 300 || window_.state() == State::ready;
  };
  if (!QTest::qWaitFor(long_enough, kLong)) return false;
  QTest::keyClick(&window_.transcript(), Qt::Key_Home);
  save(window_, QStringLiteral("answering-scrolled-up"));
  if (!ready()) return false;
  Q_EMIT window_.regenerateRequested();
  QTest::qWait(1500);
  Q_EMIT window_.stopRequested();
  if (!ready()) return false;
  chats();
  dialogs("chatSettingsAction", QStringLiteral("chat-settings"));
  inside();
  dialogs("presetsAction", QStringLiteral("presets"));
  folders();
  action("detachLiveAction")->trigger();
  desktop_.live_panel().window()->resize(1200, 800);
  save(*desktop_.live_panel().window(), QStringLiteral("panel-detached"));
  action("detachLiveAction")->trigger();
  states();
  return true;
}

bool write_settings(const QString& folder, const char* theme, const char* language) {
  QDir().mkpath(folder);
  QFile file(folder + QStringLiteral("/settings.json"));
  if (!file.open(QFile::WriteOnly)) return false;
  file.write(QStringLiteral(R"({"appearance": {"theme": "%1", "language": "%2"},
       "generation": {"temperature": 0.6, "repetition_penalty": 1.15, "max_tokens": 240,
                      "system_prompts": [{"name": "Brief", "text": "Answer briefly."}]}})")
                 .arg(QLatin1String(theme), QLatin1String(language))
                 .toUtf8());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: fovea_pages MODEL FOLDER light|dark [LANGUAGE]\n", stderr);
    return 2;
  }
  const QTemporaryDir data;
  qputenv("FOVEA_DATA", data.path().toUtf8());
  qputenv("HF_HUB_CACHE", data.path().toUtf8() + "/hub");
  const char* language = argc > 4 ? argv[4] : "en";
  if (!write_settings(data.path() + QStringLiteral("/config"), argv[3], language)) return 1;
  QApplication application(argc, argv);
  const QString folder = QString::fromLocal8Bit(argv[2]);
  QDir().mkpath(folder);
  app::Desktop desktop({});
  desktop.start();
  Pages pages(desktop, folder,
              QStringLiteral("_%1_%2_%3")
                  .arg(QLatin1String(argv[3]), QLatin1String(language),
                       qEnvironmentVariable("QT_SCALE_FACTOR", QStringLiteral("1"))));
  const bool good = pages.take(argv[1]);
  if (!good) std::fprintf(stderr, "fovea_pages: %s\n", qPrintable(desktop.window().error_bar().message()));
  QSignalSpy closed(&desktop, &app::Desktop::closed);
  desktop.window().close();
  if (closed.isEmpty()) closed.wait(kLong);
  return good ? 0 : 1;
}
