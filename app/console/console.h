// Standard output and standard error of a command: every write is checked, an error is one line,
// progress is one line that replaces itself.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea::app {

// Opens what the caller closed (0, 1, 2) on /dev/null the wrong way round, so that no file of ours gets such
// a number and a write to a closed output fails; and turns SIGPIPE into an error of write().
void guard_standard_streams();

class Console {
 public:
  Console();

  bool input_is_terminal() const { return input_is_terminal_; }
  bool output_is_terminal() const { return output_is_terminal_; }

  // Straight to standard output. The reader's leaving (EPIPE) is ErrorKind::cancelled: nobody is there to be
  // told.
  Result<void> write(std::string_view bytes);
  // The same for text of a model: to a terminal without control characters, which could command it.
  Result<void> write_text(std::string_view text);

  // A line on standard error, for people; failures to write it are ignored.
  void note(std::string_view line);
  void error(std::string_view context, const Error& error);

  // Shown on standard error when that is a terminal, at most ten times a second.
  ProgressSink progress();
  void clear_progress();

 private:
  void show(const Progress& progress);

  bool input_is_terminal_ = false;
  bool output_is_terminal_ = false;
  bool error_is_terminal_ = false;
  bool progress_is_shown_ = false;
  std::chrono::steady_clock::time_point shown_at_;
};

// Without control characters: what a hostile file or model puts into a terminal must not command it.
std::string printable(std::string_view text, bool keep_newlines);

}  // namespace fovea::app
