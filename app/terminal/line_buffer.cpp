#include "app/terminal/line_buffer.h"

#include <algorithm>
#include <utf8proc.h>
#include <utility>

namespace fovea::app {
namespace {

// One code point at the beginning of text; -1 where that is no UTF-8. `bytes` is never 0 for a text that is
// not empty.
utf8proc_int32_t decode(std::string_view text, std::size_t& bytes) {
  utf8proc_int32_t point = -1;
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto used = utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(text.size()), &point);
  bytes = used > 0 ? static_cast<std::size_t>(used) : 1;
  return used > 0 ? point : -1;
}

bool is_space(char byte) {
  return byte == ' ' || byte == '\n';
}

}  // namespace

void LineBuffer::set(std::string text) {
  text_.clear();
  cursor_ = 0;
  insert(text);
}

void LineBuffer::insert(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    std::size_t bytes = 0;
    const utf8proc_int32_t point = decode(text, bytes);
    if (point == '\t') {
      clean += ' ';
    } else if (point == '\n' || (point >= 0 && utf8proc_category(point) != UTF8PROC_CATEGORY_CC)) {
      clean += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  text_.insert(cursor_, clean);
  cursor_ += clean.size();
}

std::size_t LineBuffer::after(std::size_t position) const {
  if (position >= text_.size()) return text_.size();
  const std::string_view view(text_);
  std::size_t bytes = 0;
  utf8proc_int32_t previous = decode(view.substr(position), bytes);
  utf8proc_int32_t state = 0;
  for (position += bytes; position < text_.size(); position += bytes) {
    const utf8proc_int32_t next = decode(view.substr(position), bytes);
    if (utf8proc_grapheme_break_stateful(previous, next, &state)) break;
    previous = next;
  }
  return position;
}

std::size_t LineBuffer::before(std::size_t position) const {
  std::size_t found = 0;
  for (std::size_t next = 0; next < position; next = after(next)) found = next;
  return found;
}

void LineBuffer::backspace() {
  const std::size_t begin = before(cursor_);
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
}

void LineBuffer::remove() {
  text_.erase(cursor_, after(cursor_) - cursor_);
}
void LineBuffer::left() {
  cursor_ = before(cursor_);
}
void LineBuffer::right() {
  cursor_ = after(cursor_);
}

void LineBuffer::word_left() {
  while (cursor_ > 0 && is_space(text_[cursor_ - 1])) --cursor_;
  while (cursor_ > 0 && !is_space(text_[cursor_ - 1])) --cursor_;
}

void LineBuffer::word_right() {
  while (cursor_ < text_.size() && is_space(text_[cursor_])) ++cursor_;
  while (cursor_ < text_.size() && !is_space(text_[cursor_])) ++cursor_;
}

void LineBuffer::cut_to_begin() {
  text_.erase(0, cursor_);
  cursor_ = 0;
}

void LineBuffer::cut_word_left() {
  const std::size_t end = cursor_;
  word_left();
  text_.erase(cursor_, end - cursor_);
}

ScreenPosition advance(std::string_view text, ScreenPosition from, int columns) {
  while (!text.empty()) {
    std::size_t bytes = 0;
    const utf8proc_int32_t point = decode(text, bytes);
    text.remove_prefix(bytes);
    if (point == '\n') {
      from = {from.row + 1, 0};
      continue;
    }
    const int width = point < 0 ? 1 : std::max(0, utf8proc_charwidth(point));
    if (from.column + width > columns) from = {from.row + 1, 0};
    from.column += width;
  }
  if (from.column >= columns) from = {from.row + 1, 0};
  return from;
}

}  // namespace fovea::app
