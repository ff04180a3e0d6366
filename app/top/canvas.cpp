#include "app/top/canvas.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <spdlog/fmt/fmt.h>
#include <utf8proc.h>
#include <utility>

namespace fovea::app {
namespace {

using ui::Rgb;

struct Character {
  char32_t code = 0;
  int width = 0;  // columns
};

// The next character of the text, which is taken from it; bytes that are none are "?".
Character take(std::string_view& text) {
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
  const bool is_control = length <= 0 || code < 0x20 || (code >= 0x7F && code < 0xA0);
  if (is_control) return {U'?', 1};
  return {static_cast<char32_t>(code), utf8proc_charwidth(code)};
}

void append(std::string& text, char32_t character) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

int chroma(const Rgb& c) {
  return std::max({c.red, c.green, c.blue}) - std::min({c.red, c.green, c.blue});
}

// A change of hue is seen sooner than one of lightness.
int distance(const Rgb& a, const Rgb& b) {
  const int red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;
  const auto square = [](int x) { return x * x; };
  return square(red) + square(green) + square(blue) + (square(red - green) + square(green - blue)) / 2;
}

// Of the 256 colours the nearest of the cube of 6 × 6 × 6, or of the greys behind it for what is nearly grey;
// the first 16 are what the user likes.
int palette_index(const Rgb& colour) {
  constexpr int nearly_grey = 20;
  if (chroma(colour) < nearly_grey) {
    const int mean = (colour.red + colour.green + colour.blue) / 3;
    return 232 + std::clamp((mean - 3) / 10, 0, 23);
  }
  constexpr std::array<std::uint8_t, 6> levels{0, 95, 135, 175, 215, 255};
  int best = 0, least = std::numeric_limits<int>::max();
  for (int i = 0; i < 216; ++i) {
    const auto level = [&](int place) { return levels[static_cast<std::size_t>(place % 6)]; };
    const int away = distance(colour, {level(i / 36), level(i / 6), level(i)});
    if (away < least) best = i;
    least = std::min(least, away);
  }
  return 16 + best;
}

// Of the first 16: a hue, dark or bright; or a grey.
int basic_index(const Rgb& colour) {
  constexpr int nearly_grey = 40, bright_from = 200;
  const int most = std::max({colour.red, colour.green, colour.blue}), middle = most - chroma(colour) / 2;
  if (chroma(colour) >= nearly_grey)
    return (colour.red > middle ? 1 : 0) + (colour.green > middle ? 2 : 0) + (colour.blue > middle ? 4 : 0) +
           (most > bright_from ? 8 : 0);
  return most < 64 ? 0 : most < 125 ? 8 : most < 220 ? 7 : 15;
}

void append_colour(std::string& codes, const Rgb& colour, Colours colours, bool is_ground) {
  if (colours == Colours::all) {
    codes += fmt::format(";{};2;{};{};{}", is_ground ? 48 : 38, colour.red, colour.green, colour.blue);
  } else if (colours == Colours::palette) {
    codes += fmt::format(";{};5;{}", is_ground ? 48 : 38, palette_index(colour));
  } else if (colours == Colours::sixteen) {
    const int index = basic_index(colour);
    codes += fmt::format(";{}", (index < 8 ? 30 + index : 82 + index) + (is_ground ? 10 : 0));
  }
}

std::string set_ink(const Ink& ink, Colours colours) {
  std::string codes = "\033[0";
  if (ink.bold) codes += ";1";
  if (ink.faint) codes += ";2";
  if (ink.text) append_colour(codes, *ink.text, colours, false);
  if (ink.ground) append_colour(codes, *ink.ground, colours, true);
  return codes + "m";
}

}  // namespace

Colours colours_of(const char* term, const char* colorterm, const char* no_color) {
  const std::string_view name = term != nullptr ? term : "", more = colorterm != nullptr ? colorterm : "";
  if (no_color != nullptr && *no_color != '\0') return Colours::none;
  if (more == "truecolor" || more == "24bit" || name.ends_with("-direct")) return Colours::all;
  if (name.find("256color") != std::string_view::npos) return Colours::palette;
  for (const std::string_view plain : {"vt", "dumb", "ansi-mono"})
    if (name.starts_with(plain)) return Colours::none;
  return name.empty() ? Colours::none : Colours::sixteen;
}

Canvas::Canvas(int rows, int columns)
    : rows_(rows),
      columns_(columns),
      cells_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

int Canvas::put(int row, int column, std::string_view text, const Ink& ink, int end) {
  end = std::min(end, columns_);
  if (row < 0 || row >= rows_ || column < 0) return column;
  while (!text.empty()) {
    const Character next = take(text);
    if (next.width <= 0) continue;
    if (column + next.width > end) break;
    at(row, column) = {.character = next.code, .ink = ink};
    for (int i = 1; i < next.width; ++i)
      at(row, column + i) = {.character = U' ', .goes_on = true, .ink = ink};
    column += next.width;
  }
  return column;
}

void Canvas::put_right(int row, int end, std::string_view text, const Ink& ink) {
  put(row, std::max(0, end - columns_of(text)), text, ink, end);
}

std::string Canvas::text(int row) const {
  std::string line;
  for (int column = 0; column < columns_; ++column)
    if (!at(row, column).goes_on) append(line, at(row, column).character);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Canvas::difference(const Canvas* before, Colours colours) const {
  const bool whole = before == nullptr || before->rows_ != rows_ || before->columns_ != columns_;
  if (!whole && before->cells_ == cells_) return {};
  std::string out = whole ? "\033[0m\033[2J" : "";
  const Ink* ink = nullptr;
  for (int row = 0; row < rows_; ++row) {
    int cursor = -1;  // where the terminal would write next in this row
    for (int column = 0; column < columns_; ++column) {
      const Cell& cell = at(row, column);
      const bool known = whole ? cell == Cell() : cell == before->at(row, column);
      if (known || cell.goes_on) continue;
      if (cursor != column) out += fmt::format("\033[{};{}H", row + 1, column + 1);
      if (ink == nullptr || *ink != cell.ink) out += set_ink(cell.ink, colours);
      ink = &cell.ink;
      append(out, cell.character);
      cursor = column + 1;
      while (cursor < columns_ && at(row, cursor).goes_on) ++cursor;
    }
  }
  return out + "\033[0m";
}

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) columns += std::max(0, take(text).width);
  return columns;
}

std::string elided(std::string_view text, int columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::string shown;
  int used = 1;  // the dots
  while (!text.empty()) {
    const std::string_view before = text;
    const Character next = take(text);
    used += std::max(0, next.width);
    if (used > columns) break;
    shown += before.substr(0, before.size() - text.size());
  }
  return columns > 0 ? shown + "…" : "";
}

}  // namespace fovea::app
