// Takes the pictures of README and docs: the program's own window with its real engine, the demo model and
// what it asks by itself, on Qt's offscreen platform. While the first start's second answer is written, at
// 1280×720; then another conversation, the panel detached, and the wizard's memory page of the model on this
// machine.
//   screenshot MODEL FOLDER light|dark [--first-start]       scripts/screenshot calls it.
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "app/window/desktop.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/starter_view.h"
#include "ui/chat/transcript_view.h"
#include "ui/live/live_panel.h"
#include "ui/wizard/wizard_dialog.h"

namespace {

using State = fovea::ui::ChatWindow::State;

void wait_until(const std::function<bool()>& done) {
  QEventLoop loop;
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, &loop, [&] {
    if (done()) loop.quit();
  });
  timer.start(50);
  loop.exec();
}

bool grab(QWidget& widget, const QString& folder, const QString& name) {
  return widget.grab().save(QDir(folder).filePath(name));
}

bool wait_for_ready(const fovea::ui::ChatWindow& window) {
  wait_until([&] { return window.state() == State::ready || window.state() == State::no_model; });
  return window.state() == State::ready;
}

void settle() {
  QEventLoop loop;
  QTimer::singleShot(600, &loop, &QEventLoop::quit);
  loop.exec();
}

bool save(QWidget& widget, const QString& folder, const char* name) {
  settle();
  return grab(widget, folder, QLatin1String(name));
}

// The demo's store is made, and its experts move.
bool prepared(fovea::app::Desktop& desktop) {
  wait_until([&] {
    return desktop.window().state() == State::no_model ||
           (desktop.chat().model_loaded() && desktop.window().state() == State::ready &&
            desktop.chat().model().settings.precision.policy == fovea::PolicyKind::fovea);
  });
  return desktop.window().state() == State::ready;
}

// What the card of this title asks, in a new chat.
void ask(fovea::app::Desktop& desktop, const char* title, std::uint64_t seed = 1) {
  fovea::ui::ChatWindow& window = desktop.window();
  Q_EMIT window.newChatRequested();
  fovea::ui::ChatSettingsView settings;
  settings.seed = seed;
  desktop.chat().conversation().set_chat_settings(settings);
  for (auto* card : window.findChildren<fovea::ui::StarterCard*>())
    if (card->accessibleName() == QLatin1String(title)) card->click();
}

bool save_panel(fovea::app::Desktop& desktop, const QString& folder) {
  auto* detach = desktop.window().findChild<QAction*>(QStringLiteral("detachLiveAction"));
  detach->trigger();
  desktop.live_panel().window()->resize(1280, 800);
  const bool saved = save(*desktop.live_panel().window(), folder, "panel.png");
  detach->trigger();
  return saved;
}

bool save_wizard(fovea::app::Desktop& desktop, const QString& folder) {
  Q_EMIT desktop.live_panel().choosePrecisionRequested();
  fovea::ui::WizardDialog* wizard = nullptr;
  for (QWidget* top : QApplication::topLevelWidgets())
    if (auto* dialog = qobject_cast<fovea::ui::WizardDialog*>(top); dialog && dialog->isVisible())
      wizard = dialog;
  if (!wizard) return false;
  const auto* next = wizard->findChild<QAbstractButton*>(QStringLiteral("wizardNext"));
  wait_until([&] { return next->isEnabled(); });  // it is planned
  const bool saved = save(*wizard, folder, "wizard.png");
  wizard->close();
  return saved;
}

}  // namespace

int main(int argc, char** argv) {
  const bool first_start_only = argc == 5 && QLatin1String(argv[4]) == QLatin1String("--first-start");
  if (argc != 4 && !first_start_only) {
    std::fputs("usage: screenshot MODEL FOLDER light|dark [--first-start]\n", stderr);
    return 2;
  }
  const QTemporaryDir folder;
  const std::filesystem::path data = folder.path().toStdString();
  qputenv("FOVEA_DATA", folder.path().toUtf8());
  std::filesystem::create_directories(data / "models");
  std::filesystem::create_directories(data / "config");
  std::filesystem::create_symlink(std::filesystem::absolute(argv[1]), data / "models/demo.gguf");
  QFile file(data / "config/settings.json");
  if (!file.open(QFile::WriteOnly)) return 1;
  file.write(QStringLiteral(R"({"appearance": {"theme": "%1", "language": "en"}})")
                 .arg(QLatin1String(argv[3]))
                 .toUtf8());
  file.close();

  QApplication application(argc, argv);
  fovea::app::WindowRequest request;  // as fovea demo has it
  request.load.emplace();
  request.load->model = data / "models/demo.gguf";
  fovea::app::Desktop desktop(request);
  fovea::ui::ChatWindow& window = desktop.window();
  desktop.start();
  window.resize(1280, 720);
  const QString out = QString::fromLocal8Bit(argv[2]);
  bool good = prepared(desktop);
  if (good) {
    ask(desktop, "Nature");
    good = wait_for_ready(window);
  }
  // Some answers end before the picture is taken; another seed writes another one.
  bool taken = false;
  for (std::uint64_t seed = 1; good && !taken && seed <= 5; ++seed) {
    ask(desktop, "A poem", seed);
    const auto& transcript = window.transcript();
    wait_until([&] {
      return window.state() == State::ready ||
             (transcript.message_count() == 2 && transcript.message_text(1).size() > 150);
    });
    taken = window.state() == State::generating &&
            grab(window, out, QStringLiteral("first_start_%1.png").arg(QLatin1String(argv[3])));
    good = wait_for_ready(window);
  }
  good = good && taken;
  if (good && !first_start_only) {
    window.resize(1366, 768);
    ask(desktop, "Health");
    good = wait_for_ready(window) && save(window, out, "screenshot.png") && save_panel(desktop, out) &&
           save_wizard(desktop, out);
  }
  if (!good) {
    std::fprintf(stderr, "screenshot: not every picture could be taken. %s\n",
                 window.error_bar().message().toUtf8().constData());
  }
  bool closed = false;
  QObject::connect(&desktop, &fovea::app::Desktop::closed, &application, [&] { closed = true; });
  window.close();
  wait_until([&] { return closed; });
  return good ? 0 : 1;
}
