#include "app/terminal/live_view.h"

#include <algorithm>
#include <spdlog/fmt/fmt.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include "app/terminal/draw_snapshot.h"

namespace fovea::app {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);
constexpr int most_rows = 13;  // of the view, status line included
constexpr int text_rows = 8;   // that must be left for the text

}  // namespace

LiveView::LiveView(Engine& engine) : engine_(engine) {
  engine_.read_snapshot(snapshot_);  // says that somebody looks
  reserve_lines();
}

LiveView::~LiveView() {
  if (!shown()) return;
  // The whole screen scrolls again; the view's lines are cleared, and the cursor stays where the text is.
  std::string text = "\0337\033[r";
  for (int row = 0; row < rows_; ++row) text += fmt::format("\033[{};1H\033[K", height_ - row);
  text += "\0338";
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

void LiveView::reserve_lines() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_row == height_ && size.ws_col == columns_) return;
  height_ = size.ws_row;
  columns_ = size.ws_col;
  rows_ = std::min(most_rows, height_ - text_rows);
  if (rows_ < 2 || columns_ < 40) {
    rows_ = 0;
    return;
  }
  // Makes room below the cursor, then lets only the lines above the view scroll.
  std::string text(static_cast<std::size_t>(rows_), '\n');
  text += fmt::format("\033[{}A\0337\033[1;{}r\0338", rows_, height_ - rows_);
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

void LiveView::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (!shown() || now - drawn_at_ < interval || !engine_.read_snapshot(snapshot_)) return;
  drawn_at_ = now;
  reserve_lines();
  if (!shown()) return;
  const std::vector<std::string> lines = draw_snapshot(snapshot_, columns_, rows_);
  std::string text = "\0337";
  for (int row = 0; row < rows_; ++row) {
    text += fmt::format("\033[{};1H\033[K", height_ - rows_ + 1 + row);
    if (row < std::ssize(lines)) text += lines[static_cast<std::size_t>(row)];
  }
  text += "\0338";
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

}  // namespace fovea::app
