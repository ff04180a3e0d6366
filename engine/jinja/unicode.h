// Code points of UTF-8 text, and the character classes and case mappings of Python's str.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::jinja {

bool valid_utf8(std::string_view);
std::int64_t count_points(std::string_view);
// Reads the code point at byte `at` and moves `at` past it.
char32_t next_point(std::string_view, std::size_t& at);
// Where the code point before byte `at` (> 0) begins.
std::size_t previous_start(std::string_view, std::size_t at);
// The byte where code point `index` begins (the size if there are fewer).
std::size_t byte_offset(std::string_view, std::int64_t index);
void append_point(std::string&, char32_t);

bool is_space(char32_t);      // str.isspace, and what strip and split take away
bool is_printable(char32_t);  // what repr shows as it is

std::string_view strip_left(std::string_view);  // white space only
std::string_view strip_right(std::string_view);
std::vector<std::string_view> lines_of(std::string_view, bool keep_ends);  // str.splitlines

std::string upper(std::string_view);
std::string lower(std::string_view);
std::string capitalize(std::string_view);
std::string title(std::string_view);

}  // namespace fovea::jinja
