// The whole terminal for one program, given back as it was: also after errors, signals and Ctrl-Z.
#pragma once

#include <string_view>

namespace fovea::app {

struct ScreenSize {
  int rows = 24, columns = 80;
  bool operator==(const ScreenSize&) const = default;
};
// Of the terminal on standard output, within what one draws at all.
ScreenSize screen_size();

class FullScreen {
 public:
  // Standard output must be a terminal. The keys of one on standard input come at once and unechoed; Ctrl-C
  // stays a signal.
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  // As it was before. Safe to call from any thread, more than once.
  static void restore_terminal();

  void show(std::string_view bytes);  // nothing once the terminal was given back
  // The shell has it until the program goes on; then the screen is empty.
  void suspend();
};

}  // namespace fovea::app
