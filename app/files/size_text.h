// Sizes as the command line and the errors of a full disk have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::app {

// "18.61 GB", "512.0 MB", "77.3 kB"; in powers of ten, as file managers have it.
std::string size_text(std::int64_t bytes);

// "8GiB", "8G" and "8192MiB" alike; "8GB" and "500MB" are powers of ten; a number alone is bytes. Fractions
// are allowed, upper and lower case are the same. Nothing when it is none of these, negative, or too large.
std::optional<std::int64_t> parse_size(std::string_view text);

}  // namespace fovea::app
