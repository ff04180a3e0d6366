#include "app/terminal/full_screen.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "app/terminal/screen.h"

namespace fovea::app {
namespace {

// Another screen, without a cursor and without wrapping at its end; and back.
constexpr const char* enter_sequence = "\033[?1049h\033[?25l\033[?7l\033[2J";
constexpr const char* leave_sequence = "\033[0m\033[?7h\033[?25h\033[?1049l";

constexpr int leave_patience_ms = 500;  // a frame may still be on its way

// The thread that handles signals reads it once the screen is taken.
termios mode_before{};
std::atomic<bool> mode_is_known = false;
std::atomic<bool> screen_is_taken = false;

void enter_screen() {
  if (::tcgetattr(STDIN_FILENO, &mode_before) == 0) {
    mode_is_known = true;
    termios mode = mode_before;
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN);
    mode.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR);
    mode.c_cc[VSUSP] = _POSIX_VDISABLE;  // Ctrl-Z is a key, so that the screen can be left first
    mode.c_cc[VQUIT] = _POSIX_VDISABLE;
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  }
  screen_is_taken = true;
  put_on_terminal(enter_sequence);
}

}  // namespace

ScreenSize screen_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.rows = std::min<int>(size.ws_row, 1000), .columns = std::min<int>(size.ws_col, 1000)};
}

FullScreen::FullScreen() {
  enter_screen();
}

FullScreen::~FullScreen() {
  restore_terminal();
}

void FullScreen::restore_terminal() {
  if (mode_is_known.exchange(false)) ::tcsetattr(STDIN_FILENO, TCSANOW, &mode_before);
  if (screen_is_taken.exchange(false)) put_on_terminal_at_once(leave_sequence, leave_patience_ms);
}

void FullScreen::show(std::string_view bytes) {
  if (screen_is_taken) put_on_terminal(bytes);
}

void FullScreen::suspend() {
  restore_terminal();
  std::raise(SIGTSTP);
  enter_screen();
}

}  // namespace fovea::app
