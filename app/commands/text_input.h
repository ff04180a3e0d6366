// Text that a command gives to a tokeniser.
#pragma once

#include <string>
#include <string_view>

#include "app/console/console.h"

namespace fovea::app {

// Tokenisers read U+FFFD where a text is not UTF-8: says so on standard error, with the first place.
void note_invalid_utf8(Console& console, const std::string& command, const std::string& where,
                       std::string_view text);

// What messages call an input: "standard input" for "-".
std::string place_of(const std::string& input);

}  // namespace fovea::app
