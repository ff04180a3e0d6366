#include "app/terminal/line_reader.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "app/terminal/screen.h"

namespace fovea::app {
namespace {

constexpr int ctrl(char letter) {
  return letter & 0x1F;
}
constexpr int key_escape = 27;
constexpr int key_delete = 127;
constexpr int no_byte = -1;
constexpr int escape_wait_ms = 50;  // a lone Escape key has nothing behind it
constexpr const char* paste_begin = "\033[?2004h";
constexpr const char* paste_end = "\033[?2004l";

// The terminal's state before the first reader. The thread that handles signals reads it once it is known.
termios original{};
std::atomic<bool> original_is_known = false;
std::atomic<bool> pastes_are_marked = false;  // the terminal was asked to mark them

void mark_pastes(bool on) {
  put_on_terminal(on ? paste_begin : paste_end);
  pastes_are_marked = on;
}

// Bytes come at once and unechoed.
void set_mode(bool keys_signal) {
  termios mode = original;
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN);
  if (!keys_signal) mode.c_lflag &= ~static_cast<tcflag_t>(ISIG);
  mode.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  return 80;
}

std::string up(int rows) {
  return rows > 0 ? "\033[" + std::to_string(rows) + "A" : "";
}
std::string to_column(int column) {
  return "\r" + (column > 0 ? "\033[" + std::to_string(column) + "C" : "");
}

}  // namespace

LineReader::LineReader(History& history) : history_(history) {
  if (!original_is_known && ::tcgetattr(STDIN_FILENO, &original) == 0) original_is_known = true;
  set_mode(false);
}

LineReader::~LineReader() {
  restore_terminal();
}

LineReader::KeysSignal::KeysSignal() {
  set_mode(true);
}

LineReader::KeysSignal::~KeysSignal() {
  set_mode(false);
}

bool LineReader::possible() {
  const char* term = std::getenv("TERM");
  return term && *term && std::strcmp(term, "dumb") != 0;
}

void LineReader::restore_terminal() {
  if (original_is_known) ::tcsetattr(STDIN_FILENO, TCSANOW, &original);
  if (pastes_are_marked.exchange(false)) put_on_terminal_at_once(paste_end);
}

LineReader::Outcome LineReader::read(const std::string& prompt, std::string& line) {
  prompt_ = prompt;
  buffer_.set("");
  browsed_ = history_.entries().size();
  cursor_row_ = 0;
  mark_pastes(true);
  draw();
  Step step = Step::edit;
  while (step == Step::edit) {
    const int key = next_byte(-1);
    step = key == no_byte ? Step::end : handle(key);
    if (step == Step::edit) draw();
  }
  draw(true);
  put_on_terminal("\r\n");
  mark_pastes(false);
  line = buffer_.text();
  if (step == Step::interrupt) return Outcome::interrupted;
  return step == Step::end ? Outcome::end : Outcome::line;
}

LineReader::Step LineReader::handle(int key) {
  switch (key) {
    case '\r':
    case '\n':
      return Step::accept;
    case ctrl('c'):
      return Step::interrupt;
    case ctrl('d'):
      if (buffer_.text().empty()) return Step::end;
      buffer_.remove();
      break;
    case ctrl('a'):
      buffer_.home();
      break;
    case ctrl('e'):
      buffer_.end();
      break;
    case ctrl('b'):
      buffer_.left();
      break;
    case ctrl('f'):
      buffer_.right();
      break;
    case ctrl('k'):
      buffer_.cut_to_end();
      break;
    case ctrl('u'):
      buffer_.cut_to_begin();
      break;
    case ctrl('w'):
      buffer_.cut_word_left();
      break;
    case ctrl('p'):
      browse(-1);
      break;
    case ctrl('n'):
      browse(+1);
      break;
    case ctrl('l'):
      put_on_terminal("\033[H\033[2J");
      cursor_row_ = 0;
      break;
    case ctrl('z'):
      suspend();
      break;
    case ctrl('h'):
    case key_delete:
      buffer_.backspace();
      break;
    case key_escape:
      return handle_escape();
    default:
      buffer_.insert(character(key));
  }
  return Step::edit;
}

// ESC [ parameters final, ESC O final, or Alt with a key.
LineReader::Step LineReader::handle_escape() {
  int key = next_byte(escape_wait_ms);
  if (key == '\r' || key == '\n') buffer_.insert("\n");
  if (key == 'b') buffer_.word_left();
  if (key == 'f') buffer_.word_right();
  if (key == key_delete) buffer_.cut_word_left();
  if (key != '[' && key != 'O') return Step::edit;
  std::string parameters;
  for (key = next_byte(escape_wait_ms); key >= 0x20 && key < 0x40; key = next_byte(escape_wait_ms)) {
    parameters += static_cast<char>(key);
  }
  const bool by_word = parameters.ends_with(";5") || parameters.ends_with(";3");
  switch (key) {
    case 'A':
      browse(-1);
      break;
    case 'B':
      browse(+1);
      break;
    case 'C':
      by_word ? buffer_.word_right() : buffer_.right();
      break;
    case 'D':
      by_word ? buffer_.word_left() : buffer_.left();
      break;
    case 'H':
      buffer_.home();
      break;
    case 'F':
      buffer_.end();
      break;
    case '~':
      if (parameters == "1" || parameters == "7") buffer_.home();
      if (parameters == "4" || parameters == "8") buffer_.end();
      if (parameters == "3") buffer_.remove();
      if (parameters == "200") paste();
      break;
    default:
      break;
  }
  return Step::edit;
}

// Everything up to ESC [ 201 ~ is text.
void LineReader::paste() {
  constexpr std::string_view end = "\033[201~";
  std::string text;
  while (!text.ends_with(end)) {
    const int byte = next_byte(-1);
    if (byte == no_byte) break;
    text += static_cast<char>(byte == '\r' ? '\n' : byte);
  }
  if (text.ends_with(end)) text.erase(text.size() - end.size());
  buffer_.insert(text);
}

void LineReader::browse(int direction) {
  const auto& entries = history_.entries();
  const std::size_t newest = entries.size();
  if (direction < 0 ? browsed_ == 0 : browsed_ == newest) return;
  if (browsed_ == newest) unsent_ = buffer_.text();
  browsed_ = direction < 0 ? browsed_ - 1 : browsed_ + 1;
  buffer_.set(browsed_ == newest ? unsent_ : entries[browsed_]);
}

void LineReader::suspend() {
  put_on_terminal("\r\n");
  mark_pastes(false);
  restore_terminal();
  ::raise(SIGTSTP);
  set_mode(false);
  mark_pastes(true);
  cursor_row_ = 0;
}

// Prompt and text anew from the prompt's row on, then the cursor to its place.
void LineReader::draw(bool cursor_at_end) {
  const int columns = terminal_columns();
  const std::string& text = buffer_.text();
  const ScreenPosition begin = advance(prompt_, {}, columns);
  const ScreenPosition end = advance(text, begin, columns);
  const std::size_t cursor = cursor_at_end ? text.size() : buffer_.cursor();
  const ScreenPosition at = advance(std::string_view(text).substr(0, cursor), begin, columns);

  std::string out = up(cursor_row_) + "\r\033[J" + prompt_;
  for (const char byte : text) {
    if (byte == '\n') out += '\r';
    out += byte;
  }
  // A terminal waits at its right edge for the next character; make it go on.
  if (end.column == 0 && end.row > 0 && !text.ends_with('\n')) out += "\r\n";
  out += up(end.row - at.row) + to_column(at.column);
  put_on_terminal(out);
  cursor_row_ = at.row;
}

int LineReader::next_byte(int timeout_ms) {
  for (;;) {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&wait, 1, timeout_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return no_byte;
    unsigned char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    return got == 1 ? byte : no_byte;
  }
}

// The rest of a UTF-8 character whose first byte was read.
std::string LineReader::character(int first) {
  std::string bytes(1, static_cast<char>(first));
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  for (int i = 0; i < more; ++i) {
    const int byte = next_byte(escape_wait_ms);
    if (byte == no_byte) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace fovea::app
