// Sizes as arguments of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::app {

// "8GiB", "8G" and "8192MiB" alike; "8GB" and "500MB" are powers of ten; a number alone is bytes. Fractions
// are allowed, upper and lower case are the same. Nothing when it is none of these, negative, or too large.
std::optional<std::int64_t> parse_size(std::string_view text);

// What parse_size reads as exactly `bytes`: "8GiB", "8GB", "500MB", else the number of bytes.
std::string size_argument(std::int64_t bytes);

}  // namespace fovea::app
