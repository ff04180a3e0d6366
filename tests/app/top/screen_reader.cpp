#include "screen_reader.h"

#include <algorithm>
#include <cstdlib>

namespace fovea::tests {

ScreenReader::ScreenReader(int rows, int columns) : rows_(rows), columns_(columns) {
  resize(rows, columns);
}

void ScreenReader::resize(int rows, int columns) {
  rows_ = rows;
  columns_ = columns;
  cells_.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), " ");
}

void ScreenReader::obey(const std::string& parameters, char command) {
  if (command == 'H') {
    const std::size_t mark = parameters.find(';');
    row_ = std::max(1, std::atoi(parameters.c_str())) - 1;
    column_ = mark == std::string::npos ? 0 : std::max(1, std::atoi(parameters.c_str() + mark + 1)) - 1;
  } else if (command == 'J' && parameters == "2") {
    std::ranges::fill(cells_, " ");
  } else if (command == 'm') {
    for (const char* const colour : {";3", ";4", ";9", ";10"})
      has_colours_ |= parameters.find(colour) != std::string::npos;
  } else if (parameters == "?1049") {
    is_other_screen_ = command == 'h';
  } else if (parameters == "?25") {
    has_cursor_ = command == 'h';
  } else if (parameters != "?7") {
    unknown_ += parameters + command + " ";
  }
}

void ScreenReader::read(std::string_view bytes) {
  unread_ += bytes;
  std::size_t at = 0;
  while (at < unread_.size()) {
    const auto byte = static_cast<unsigned char>(unread_[at]);
    if (byte == 27) {
      const std::size_t end = unread_.find_first_of("ABCDEFGHJKSTfhlmnr", at + 2);
      if (end == std::string::npos) break;
      obey(unread_.substr(at + 2, end - at - 2), unread_[end]);
      at = end + 1;
      continue;
    }
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (at + length > unread_.size()) break;
    if (byte >= 0x20) {
      ++painted_;
      if (row_ < rows_ && column_ < columns_)
        cells_[static_cast<std::size_t>(row_) * static_cast<std::size_t>(columns_) +
               static_cast<std::size_t>(column_)] = unread_.substr(at, length);
      ++column_;
    } else if (byte == '\n') {
      ++row_;
    } else if (byte == '\r') {
      column_ = 0;
    }
    at += length;
  }
  unread_.erase(0, at);
}

std::string ScreenReader::row(int row) const {
  std::string text;
  for (int column = 0; column < columns_; ++column)
    text += cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                   static_cast<std::size_t>(column)];
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string ScreenReader::text() const {
  std::string all;
  for (int row = 0; row < rows_; ++row) all += this->row(row) + "\n";
  return all;
}

}  // namespace fovea::tests
