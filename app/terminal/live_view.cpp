#include "app/terminal/live_view.h"

#include <algorithm>
#include <atomic>
#include <spdlog/fmt/fmt.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "app/terminal/draw_snapshot.h"
#include "app/terminal/screen.h"

namespace fovea::app {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);
constexpr int max_rows = 13;  // of the view, status line included
constexpr int text_rows = 8;  // that must be left for the text

std::atomic<bool> lines_are_taken = false;  // of the terminal, by some view

}  // namespace

LiveView::LiveView(std::function<bool(Snapshot&)> read) : read_(std::move(read)) {
  read_(snapshot_);  // says that somebody looks
  reserve_lines();
}

LiveView::~LiveView() {
  give_back_lines();
}

void LiveView::restore_terminal() {
  if (lines_are_taken.exchange(false)) put_on_terminal_at_once("\0337\033[r\0338");
}

// The whole screen scrolls again; the view's lines are cleared, and the cursor stays where the text is.
void LiveView::give_back_lines() {
  if (!shown()) return;
  std::string text = "\0337\033[r";
  for (int row = 0; row < rows_; ++row) text += fmt::format("\033[{};1H\033[K", height_ - row);
  put_on_terminal(text + "\0338");
  rows_ = 0;
  lines_are_taken = false;
}

void LiveView::reserve_lines() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_row == height_ && size.ws_col == columns_) return;
  give_back_lines();
  height_ = size.ws_row;
  columns_ = size.ws_col;
  const int rows = std::min(max_rows, height_ - text_rows);
  if (rows < 2 || columns_ < 40) return;
  rows_ = rows;
  // Makes room below the cursor, then lets only the lines above the view scroll.
  std::string text(static_cast<std::size_t>(rows_), '\n');
  lines_are_taken = true;
  put_on_terminal(text + fmt::format("\033[{}A\0337\033[1;{}r\0338", rows_, height_ - rows_));
}

void LiveView::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (!shown() || now - drawn_at_ < interval || !read_(snapshot_)) return;
  drawn_at_ = now;
  reserve_lines();
  if (!shown()) return;
  const std::vector<std::string> lines = draw_snapshot(snapshot_, columns_, rows_);
  std::string text = "\0337";
  for (int row = 0; row < rows_; ++row) {
    text += fmt::format("\033[{};1H\033[K", height_ - rows_ + 1 + row);
    if (row < std::ssize(lines)) text += lines[static_cast<std::size_t>(row)];
  }
  put_on_terminal(text + "\0338");
}

}  // namespace fovea::app
