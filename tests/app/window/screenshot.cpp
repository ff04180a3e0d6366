// Takes the README's pictures of the program's own window with its real engine, model and history, on Qt's
// offscreen platform: a conversation, the panel detached, and the wizard's memory page of the model on this
// machine.
//   screenshot MODEL FOLDER light|dark QUESTION [QUESTION …]       scripts/screenshot calls it.
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <functional>

#include "app/window/desktop.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/error_bar.h"
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

bool wait_for_ready(const fovea::ui::ChatWindow& window) {
  wait_until([&] { return window.state() == State::ready || window.state() == State::no_model; });
  return window.state() == State::ready && window.error_bar().message().isEmpty();
}

void settle() {
  QEventLoop loop;
  QTimer::singleShot(600, &loop, &QEventLoop::quit);
  loop.exec();
}

bool save(QWidget& widget, const QString& folder, const char* name) {
  settle();
  return widget.grab().save(QDir(folder).filePath(QLatin1String(name)));
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
  if (argc < 5) {
    std::fputs("usage: screenshot MODEL FOLDER light|dark QUESTION [QUESTION ...]\n", stderr);
    return 2;
  }
  const QTemporaryDir folder;
  qputenv("FOVEA_DATA", folder.path().toUtf8());
  const QString settings = folder.path() + QStringLiteral("/config");
  QDir().mkpath(settings);
  QFile file(settings + QStringLiteral("/settings.json"));
  if (!file.open(QFile::WriteOnly)) return 1;
  file.write(QStringLiteral(R"({"appearance": {"theme": "%1", "language": "en"},
                               "generation": {"temperature": 0.2, "repetition_penalty": 1.05, "max_tokens": 240}})")
                 .arg(QLatin1String(argv[3]))
                 .toUtf8());
  file.close();

  QApplication application(argc, argv);
  fovea::app::WindowRequest request;
  request.load.emplace();
  request.load->model = argv[1];
  request.load->context = 1024;
  request.load->precision.policy = fovea::PolicyKind::dynaexq;
  request.load->precision.tiers = {"file", "q4"};
  request.load->precision.budget_bytes = 196'000'000;
  request.load->precision.stores_folder = folder.path().toStdString() + "/stores";
  fovea::app::Desktop desktop(request);
  fovea::ui::ChatWindow& window = desktop.window();
  desktop.start();
  window.resize(1360, 840);
  bool good = wait_for_ready(window);
  for (int i = 4; good && i < argc; ++i) {
    Q_EMIT window.newChatRequested();
    fovea::ui::ChatSettingsView settings_of_chat;
    settings_of_chat.seed = 4;
    desktop.chat().conversation().set_chat_settings(settings_of_chat);
    Q_EMIT window.sendRequested(QString::fromLocal8Bit(argv[i]));
    good = wait_for_ready(window);
  }
  if (!good) {
    std::fprintf(stderr, "screenshot: %s\n", window.error_bar().message().toUtf8().constData());
    return 1;
  }
  const QString out = QString::fromLocal8Bit(argv[2]);
  bool saved = save(window, out, "screenshot.png");
  saved = save_panel(desktop, out) && saved;
  saved = save_wizard(desktop, out) && saved;
  if (!saved) std::fprintf(stderr, "screenshot: not every picture could be taken\n");
  bool closed = false;
  QObject::connect(&desktop, &fovea::app::Desktop::closed, &application, [&] { closed = true; });
  window.close();
  wait_until([&] { return closed; });
  return saved ? 0 : 1;
}
