// Names of tiers, which the command line and files know them by, in words.
#pragma once

#include <QString>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::app {

// "q4" is "4 bits", "file" is "the file's precision". A name that is not known stays as it is.
QString tier_words(std::string_view tier);
QString tier_words(const std::vector<std::string>& tiers);  // "4 bits, 2 bits"

// A published model's name: "Qwen3-4B, 4 bits", as the catalogue has it, in the window's language.
QString published_name(const std::string& name);

}  // namespace fovea::app
