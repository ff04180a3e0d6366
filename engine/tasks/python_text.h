// What the harness does to texts with Python's str and re: white space is Unicode's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::tasks {

std::string replaced(std::string_view text, std::string_view from, std::string_view to);
std::string_view strip(std::string_view text);

// str.split()
std::vector<std::string_view> words_of(std::string_view text);
// How many pieces re.split(r"\s+", text) gives.
std::int64_t count_pieces(std::string_view text);

// Without white space behind each `open` and before the next `close`, from left to right.
std::string tightened(std::string_view text, char open, char close);

// HellaSwag's texts without the marks of the pages that they come from: "[title]", "[step]" and the like.
std::string without_marks(std::string_view text);

}  // namespace fovea::tasks
