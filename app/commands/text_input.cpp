#include "app/commands/text_input.h"

#include "app/files/errors.h"
#include "app/files/files.h"

namespace fovea::app {

void note_invalid_utf8(Console& console, const std::string& command, const Phrase& where,
                       std::string_view text) {
  const std::size_t at = invalid_utf8(text);
  if (at == std::string_view::npos) return;
  console.note("fovea " + command + ": " + english(where) + ", byte " + std::to_string(at) +
               ": the text is not UTF-8; U+FFFD stands for what is wrong. Convert it, for example with "
               "iconv -t UTF-8");
}

Phrase place_of(const std::string& input) {
  return input == "-" ? phrases::files_standard_input() : phrases::file_place(std::filesystem::path(input));
}

}  // namespace fovea::app
