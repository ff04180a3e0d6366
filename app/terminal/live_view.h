// What the experts do, drawn in the terminal's last lines while text scrolls above them.
#pragma once

#include <chrono>
#include <functional>

#include "engine/api/snapshot.h"

namespace fovea::app {

class LiveView {
 public:
  // Takes lines from the bottom of the terminal on standard output; none when that is no terminal or too
  // small.
  // `read`: the newest snapshot, false where there is no other (Engine::read_snapshot).
  explicit LiveView(std::function<bool(Snapshot&)> read);
  ~LiveView();  // gives them back
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  bool shown() const { return rows_ > 0; }
  // For a program that ends in the middle: the terminal scrolls as a whole again.
  static void restore_terminal();
  // Draws anew when there is news, at most ten times a second. Between two writes of text, on their thread.
  void refresh();

 private:
  void reserve_lines();
  void give_back_lines();

  std::function<bool(Snapshot&)> read_;
  Snapshot snapshot_;
  int rows_ = 0;    // of the view
  int height_ = 0;  // of the terminal
  int columns_ = 0;
  std::chrono::steady_clock::time_point drawn_at_;
};

}  // namespace fovea::app
