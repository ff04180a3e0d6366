// A terminal of the few sequences that `fovea top` writes: what stands on its screen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::tests {

class ScreenReader {
 public:
  ScreenReader(int rows, int columns);

  void read(std::string_view bytes);
  // What a terminal does that is made larger or smaller; what is drawn then is the program's.
  void resize(int rows, int columns);

  std::string row(int row) const;  // without blanks at its end
  std::string text() const;
  bool shows(std::string_view part) const { return text().find(part) != std::string::npos; }

  int painted() const { return painted_; }                   // characters so far
  bool has_colours() const { return has_colours_; }          // some were asked for
  bool is_other_screen() const { return is_other_screen_; }  // not the shell's
  bool has_cursor() const { return has_cursor_; }
  const std::string& unknown() const { return unknown_; }  // sequences that are none of these

 private:
  void obey(const std::string& parameters, char command);

  int rows_, columns_;
  std::vector<std::string> cells_;
  int row_ = 0, column_ = 0;
  int painted_ = 0;
  bool has_colours_ = false, is_other_screen_ = false, has_cursor_ = true;
  std::string unread_, unknown_;
};

}  // namespace fovea::tests
