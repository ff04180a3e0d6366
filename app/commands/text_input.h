// Text that a command gives to a tokeniser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/console/console.h"

namespace fovea::app {

// Of a text that a model reads.
inline constexpr std::int64_t text_limit_bytes = std::int64_t{1} << 30;

// Tokenisers read U+FFFD where a text is not UTF-8: says so on standard error, with the first place.
void note_invalid_utf8(Console& console, const std::string& command, const Phrase& where,
                       std::string_view text);

// What messages call an input: "standard input" for "-".
Phrase place_of(const std::string& input);

}  // namespace fovea::app
