#include "app/window/window.h"

#include <QApplication>
#include <QFileInfo>
#include <QSettings>

#include "app/library/data_folder.h"
#include "app/library/model_library.h"
#include "app/library/sampling_defaults.h"
#include "app/window/chat_controller.h"
#include "app/window/display.h"
#include "ui/chat/chat_window.h"
#include "ui/theme/theme.h"

namespace fovea::app {
namespace {

constexpr int kRecentModels = 8;

QString to_qstring(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

std::vector<ui::ModelChoice> library_choices() {
  std::vector<ui::ModelChoice> choices;
  for (const LibraryEntry& entry : list_models(models_folder())) {
    choices.push_back({QString::fromStdString(entry.name), to_qstring(entry.path)});
  }
  return choices;
}

std::vector<ui::ModelChoice> recent_choices(const QSettings& settings) {
  std::vector<ui::ModelChoice> choices;
  for (const QString& path : settings.value(QStringLiteral("recent")).toStringList()) {
    if (QFileInfo::exists(path)) choices.push_back({QFileInfo(path).fileName(), path});
  }
  return choices;
}

void remember(QSettings& settings, const QString& path) {
  QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
  const QString absolute = QFileInfo(path).absoluteFilePath();
  recent.removeAll(absolute);
  recent.prepend(absolute);
  settings.setValue(QStringLiteral("recent"), recent.mid(0, kRecentModels));
}

}  // namespace

std::optional<std::string> window_obstacle() {
  return display_obstacle();
}

int run_window(int argc, char** argv, const WindowRequest& request) {
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("fovea"));
  QApplication::setApplicationDisplayName(QStringLiteral("Fovea"));
  QApplication::setDesktopFileName(QStringLiteral("fovea"));
  QApplication::setQuitOnLastWindowClosed(false);  // the engine thread ends first
  ui::apply_theme(application, ui::preferred_scheme());

  QSettings settings(to_qstring(data_folder() / "window.ini"), QSettings::IniFormat);
  ui::ChatWindow window;
  window.restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  window.set_library(library_choices());
  window.set_recent(recent_choices(settings));

  ChatController controller(window, request.load.value_or(LoadRequest{}), [](const ModelInfo& info) {
    GenerateRequest answer;
    answer.sampling = sampling_defaults(info).sampling;
    return answer;
  });
  QObject::connect(&controller, &ChatController::modelOpened, &window, [&](const QString& path) {
    remember(settings, path);
    window.set_recent(recent_choices(settings));
  });
  QObject::connect(&window, &ui::ChatWindow::closing, &window,
                   [&] { settings.setValue(QStringLiteral("geometry"), window.saveGeometry()); });
  QObject::connect(&controller, &ChatController::closed, &application, &QApplication::quit);

  if (request.load) {
    controller.open_model(to_qstring(request.load->model));
  } else if (const auto recent = recent_choices(settings); !recent.empty()) {
    controller.open_model(recent.front().path);
  }
  window.show();
  return QApplication::exec();
}

}  // namespace fovea::app
