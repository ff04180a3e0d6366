// Rows of text files: lines, values separated by commas, JSON lines. `file` names them in errors.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::tasks {

using Json = nlohmann::ordered_json;

// Without their ends; what stands behind the last end is a line unless it is empty.
std::vector<std::string> lines_of(std::string_view text);

// RFC 4180: values in double quotes may hold commas, line ends and, doubled, quotes. No header.
std::vector<std::vector<std::string>> comma_separated(std::string_view text);

// One object a line; empty lines are skipped. Each of `keys` holds a text; a number becomes one.
// ErrorKind::format names the first line that is no object, or that lacks one of these.
Result<std::vector<Json>> json_lines(std::string_view text, const std::filesystem::path& file,
                                     const std::vector<std::string>& keys);

}  // namespace fovea::tasks
