#include "app/terminal/screen.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace fovea::app {

void put_on_terminal(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void put_on_terminal_at_once(std::string_view bytes) {
  pollfd screen{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&screen, 1, 0) > 0 && (screen.revents & POLLOUT) != 0) put_on_terminal(bytes);
}

}  // namespace fovea::app
