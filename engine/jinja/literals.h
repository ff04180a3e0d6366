// Numbers and strings as Python writes and reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/api/error.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

struct NumberLiteral {
  Value value;
  std::size_t size = 0;
};

// The number at the beginning of `text` (which begins with a digit); after a dot only integers count.
Result<NumberLiteral> read_number(std::string_view text, bool after_dot);

// What a string literal with Python's escapes says.
Result<std::string> unescape(std::string_view literal);

// int(text) and float(text), as Python reads them (spaces around, underscores between digits).
enum class ReadError { none, malformed, too_large };
ReadError read_integer(std::string_view text, Int& out);
bool read_real(std::string_view text, double& out);

std::string real_repr(double);
std::string text_repr(std::string_view);

}  // namespace fovea::jinja
