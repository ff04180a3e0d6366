#include "app/terminal/screen.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fovea::app {

int terminal_columns(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string wrapped(std::string_view text, int columns) {
  const auto width = [](std::string_view part) {
    return std::ranges::count_if(part, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  };
  std::string lines;
  std::size_t line = 0;  // where the last one begins
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n", word), text.size());
    const bool fits =
        width(std::string_view(lines).substr(line)) + width(text.substr(at, end - at)) <= columns;
    if (columns <= 0 || fits || line == lines.size()) {
      lines += text.substr(at, end - at);
    } else if (word < end) {
      lines += '\n';
      line = lines.size();
      lines += text.substr(word, end - word);
    }
    at = end;
    if (at < text.size() && text[at] == '\n') {
      lines += text[at++];
      line = lines.size();
    }
  }
  return lines;
}

void put_on_terminal(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void put_on_terminal_at_once(std::string_view bytes, int patience_ms) {
  pollfd screen{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&screen, 1, patience_ms) > 0 && (screen.revents & POLLOUT) != 0) put_on_terminal(bytes);
}

}  // namespace fovea::app
