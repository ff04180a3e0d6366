#include "app/window/display.h"

#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace fovea::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool answers(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return connected;
}

bool x11_answers(const std::string& display) {
  if (display.empty()) return false;
  if (!display.starts_with(':')) return true;  // on another host, or a forwarded one: Qt will see
  const std::string number = display.substr(1, display.find('.') - 1);
  return answers("/tmp/.X11-unix/X" + number);
}

bool wayland_answers(const std::string& display) {
  if (display.empty()) return false;
  return answers(display.starts_with('/') ? display : variable("XDG_RUNTIME_DIR") + "/" + display);
}

}  // namespace

std::optional<std::string> display_obstacle() {
  if (!variable("QT_QPA_PLATFORM").empty()) return std::nullopt;  // the user chose where to draw
  const std::string x11 = variable("DISPLAY");
  const std::string wayland = variable("WAYLAND_DISPLAY");
  if (x11.empty() && wayland.empty()) {
    return "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)";
  }
  if (x11_answers(x11) || wayland_answers(wayland)) return std::nullopt;
  return "the display " + (x11.empty() ? wayland : x11) + " cannot be reached";
}

}  // namespace fovea::app
