#include "app/window/window.h"

#include <QApplication>
#include <QDir>
#include <QIcon>
#include <QProcess>

#include "app/window/desktop.h"
#include "app/window/display.h"

// Must be outside of any namespace: a static library's resources are not found otherwise.
static void load_icons() {
  Q_INIT_RESOURCE(icons);
}

namespace fovea::app {
namespace {

QIcon program_icon() {
  load_icons();
  QIcon icon;
  for (const int size : {32, 48, 64, 128, 256})
    icon.addFile(QStringLiteral(":/icons/fovea-%1.png").arg(size));
  return icon;
}

bool start_again(const std::vector<std::string>& arguments) {
  QStringList list;
  for (const std::string& argument : arguments) list += QString::fromStdString(argument);
  return QProcess::startDetached(QApplication::applicationFilePath(), list, QDir::currentPath());
}

}  // namespace

std::optional<std::string> window_obstacle() {
  return display_obstacle();
}

int run_window(int argc, char** argv, const WindowRequest& request) {
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("fovea"));
  QApplication::setApplicationDisplayName(QStringLiteral("Fovea"));
  QApplication::setApplicationVersion(QStringLiteral(FOVEA_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("org.fovea.Fovea"));
  QApplication::setWindowIcon(program_icon());
  QApplication::setQuitOnLastWindowClosed(false);  // the threads end first
  std::optional<std::vector<std::string>> again;
  int code = 0;
  {
    Desktop desktop(request);
    QObject::connect(&desktop, &Desktop::closed, &application, &QApplication::quit);
    desktop.start();
    code = QApplication::exec();
    again = desktop.restart();
  }
  if (again && !start_again(*again)) code = 1;
  return code;
}

}  // namespace fovea::app
