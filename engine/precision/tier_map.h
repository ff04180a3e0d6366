// The tier map: a text file that says which unit has which tier.
//
//   # comment
//   blk.0.expert.17   q4
//   blk.3.*           q2      `*` stands for any characters, none included
//   default           q4      all units that no other line names
//
// Without a default line every unit must be named; no unit may be named twice.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace fovea::precision {

// Tier numbers [units]. Errors name the file and the line.
Result<std::vector<std::uint8_t>> parse_tier_map(std::string_view text, const std::filesystem::path& file,
                                                 std::span<const std::string> unit_names,
                                                 std::span<const std::string> tier_names);
// Reads at most 16 MiB.
Result<std::vector<std::uint8_t>> read_tier_map(const std::filesystem::path& path,
                                                std::span<const std::string> unit_names,
                                                std::span<const std::string> tier_names);

}  // namespace fovea::precision
