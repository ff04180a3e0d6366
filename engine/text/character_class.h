// Unicode properties of code points, as the regular expressions of tokenisers ask for them. The table is that
// of Hugging Face tokenizers (Oniguruma, Unicode 16), whatever Unicode version this system's libraries know.
#pragma once

#include <cstdint>

namespace fovea::text {

// Bits of a code point's class.
enum CharacterClass : std::uint8_t {
  class_letter = 1,        // \p{L}
  class_number = 2,        // \p{N}
  class_space = 4,         // \s
  class_mark = 8,          // \p{M}
  class_punctuation = 16,  // \p{P}
  class_symbol = 32,       // \p{S}
  class_upper = 64,        // \p{Lu} or \p{Lt}
  class_lower = 128,       // \p{Ll}
};

// Indexed by code point below 0x110000.
const std::uint8_t* character_classes();

// Assigned after Unicode 14, so that a regular expression library may not know it.
bool is_recent_character(char32_t c);

bool is_word_character(char32_t c);  // \w: letters, marks, decimal digits, connector punctuation

}  // namespace fovea::text
