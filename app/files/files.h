// Whole files and standard input as bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::app {

// A regular file, a pipe or a device. Larger than limit_bytes is an error.
Result<std::string> read_file(const std::filesystem::path& path, std::int64_t limit_bytes);
Result<std::string> read_standard_input(std::int64_t limit_bytes);
// "-" is standard input, everything else a file.
Result<std::string> read_input(const std::string& name, std::int64_t limit_bytes);

// The index of the first byte that is not part of valid UTF-8; npos when all is.
std::size_t invalid_utf8(std::string_view text);

}  // namespace fovea::app
