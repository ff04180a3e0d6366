// JSON texts of bounded size and depth, parsed without exceptions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::checkpoint {

struct JsonLimits {
  int depth = 64;
  bool unique_keys = false;  // refuse an object that names a key twice
};

// The error's offset is that of the first byte which does not belong, counted from `base`.
Result<nlohmann::json> parse_json(std::string_view text, const std::filesystem::path& file,
                                  std::size_t base = 0, JsonLimits limits = {});

}  // namespace fovea::checkpoint
