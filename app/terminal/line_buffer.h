// The text of a line that is being edited, and its cursor. No terminal in sight.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fovea::app {

class LineBuffer {
 public:
  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }  // a byte offset at the beginning of a character
  void set(std::string text);                     // cursor at the end

  // Invalid UTF-8 and control characters other than line breaks are left out; a tab becomes a space.
  void insert(std::string_view text);
  void backspace();
  void remove();  // the character under the cursor
  void left();
  void right();
  void word_left();
  void word_right();
  void home() { cursor_ = 0; }
  void end() { cursor_ = text_.size(); }
  void cut_to_end() { text_.erase(cursor_); }
  void cut_to_begin();
  void cut_word_left();

 private:
  // A character as a person sees it: with its accents, an emoji with all its parts.
  std::size_t before(std::size_t position) const;
  std::size_t after(std::size_t position) const;

  std::string text_;
  std::size_t cursor_ = 0;
};

// Where the cursor stands after `text` was written from column `column` on a terminal that is `columns` wide.
struct ScreenPosition {
  int row = 0, column = 0;
};
ScreenPosition advance(std::string_view text, ScreenPosition from, int columns);

}  // namespace fovea::app
