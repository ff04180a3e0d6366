// A screen of characters, and what a terminal must be told to show it instead of another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/theme/scale/precision_scale.h"

namespace fovea::app {

// What a terminal can show.
enum class Colours : std::uint8_t { none, sixteen, palette, all };

// By TERM, COLORTERM and NO_COLOR as they are given; null: not set.
Colours colours_of(const char* term, const char* colorterm, const char* no_color);

struct Ink {
  std::optional<ui::Rgb> text = {}, ground = {};  // none: the terminal's own
  bool bold = false, faint = false;
  bool operator==(const Ink&) const = default;
};

class Canvas {
 public:
  Canvas(int rows, int columns);

  int rows() const { return rows_; }
  int columns() const { return columns_; }

  // From a column on, as far as there is room before `end`; returns the column behind it. Control characters
  // become "?".
  int put(int row, int column, std::string_view text, const Ink& ink = {}, int end = 1 << 30);
  // So that it ends before this column.
  void put_right(int row, int end, std::string_view text, const Ink& ink = {});

  // The row's text, without blanks at its end.
  std::string text(int row) const;

  // What turns a terminal that shows `before` into this one; nothing where they are the same. Of another
  // size, or none: everything is drawn.
  std::string difference(const Canvas* before, Colours colours) const;

 private:
  struct Cell {
    char32_t character = U' ';
    bool goes_on = false;  // the right half of a wide character
    Ink ink = {};
    bool operator==(const Cell&) const = default;
  };
  const Cell& at(int row, int column) const {
    return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                  static_cast<std::size_t>(column)];
  }
  Cell& at(int row, int column) { return const_cast<Cell&>(std::as_const(*this).at(row, column)); }

  int rows_, columns_;
  std::vector<Cell> cells_;
};

// How many columns a text takes.
int columns_of(std::string_view text);
// Its first columns, with "…" where some are left out.
std::string elided(std::string_view text, int columns);

}  // namespace fovea::app
