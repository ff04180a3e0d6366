#include "app/commands/text_input.h"

#include "app/files/files.h"

namespace fovea::app {

void note_invalid_utf8(Console& console, const std::string& command, const std::string& where,
                       std::string_view text) {
  const std::size_t at = invalid_utf8(text);
  if (at == std::string_view::npos) return;
  console.note("fovea " + command + ": " + where + ", byte " + std::to_string(at) +
               ": the text is not UTF-8; U+FFFD stands for what is wrong. Convert it, for example with "
               "iconv -t UTF-8");
}

std::string place_of(const std::string& input) {
  return input == "-" ? "standard input" : input;
}

}  // namespace fovea::app
