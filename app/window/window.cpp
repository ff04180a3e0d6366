#include "app/window/window.h"

#include <QApplication>
#include <QIcon>

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
  Desktop desktop(request);
  QObject::connect(&desktop, &Desktop::closed, &application, &QApplication::quit);
  desktop.start();
  return QApplication::exec();
}

}  // namespace fovea::app
