// Places and names in errors about files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "engine/checkpoint/errors.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {

// A name from a file as it may be shown: in quotes, as valid UTF-8 without control characters, about 80 bytes
// of it.
std::string in_quotes(std::string_view name);

// Of what a file says, or of its room.
inline Bytes bytes_of(std::uint64_t count) {
  return {static_cast<std::int64_t>(count)};
}

inline std::unexpected<Error> damaged(const std::filesystem::path& file, std::uint64_t offset, Error error) {
  return fail(phrases::offset_place(file, offset), std::move(error).advise(phrases::damaged_or_cut_off()));
}

}  // namespace fovea::checkpoint
