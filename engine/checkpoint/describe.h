// Words for error messages about files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/result.h"

namespace fovea::checkpoint {

inline constexpr const char* damaged_advice = "The file is damaged or cut off: download it again";

// A name from a file as it may be shown: in quotes, as valid UTF-8 without control characters, about 80 bytes
// of it.
std::string in_quotes(std::string_view name);

// "model.gguf, offset 1204"
inline std::string at(const std::string& file, std::uint64_t offset) {
  return file + ", offset " + std::to_string(offset);
}

inline std::unexpected<Error> damaged(const std::string& file, std::uint64_t offset, std::string what) {
  return fail(ErrorKind::format, at(file, offset), std::move(what), damaged_advice);
}

}  // namespace fovea::checkpoint
