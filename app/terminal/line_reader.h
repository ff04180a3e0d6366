// Reads lines from a terminal with editing and history.
#pragma once

#include <cstdint>
#include <string>
#include <termios.h>

#include "app/terminal/history.h"
#include "app/terminal/line_buffer.h"

namespace fovea::app {

class LineReader {
 public:
  enum class Outcome : std::uint8_t {
    line,
    interrupted,
    end
  };  // interrupted: Ctrl-C; end: Ctrl-D, or the terminal is gone

  // Standard input and output must be a terminal. While the reader lives the terminal does not echo; what is
  // typed outside read() waits for the next one.
  explicit LineReader(History& history);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // The terminal has what editing needs (TERM is not "dumb").
  static bool possible();
  // As it was before. Safe to call from any thread, more than once.
  static void restore_terminal();

  // Enter ends the line; Alt-Enter, and line breaks in pasted text, stay in it.
  Outcome read(const std::string& prompt, std::string& line);

  // While it lives, Ctrl-C is the signal that it usually is and not a key. Not within read().
  class KeysSignal {
   public:
    KeysSignal();
    ~KeysSignal();
    KeysSignal(const KeysSignal&) = delete;
    KeysSignal& operator=(const KeysSignal&) = delete;
  };

 private:
  enum class Step : std::uint8_t { edit, accept, interrupt, end };
  Step handle(int key);
  Step handle_escape();
  void paste();
  void browse(int direction);
  void suspend();
  void draw(bool cursor_at_end = false);
  int next_byte(int timeout_ms);
  std::string character(int first);

  History& history_;
  LineBuffer buffer_;
  std::string prompt_;
  std::string unsent_;       // what was being typed before browsing
  std::size_t browsed_ = 0;  // index into the history; its size: the line being typed
  int cursor_row_ = 0;       // on the screen, counted from the prompt's row
};

}  // namespace fovea::app
