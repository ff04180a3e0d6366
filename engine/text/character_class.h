// Unicode properties of code points, as the regular expressions of tokenisers ask for them. The table is that
// of Hugging Face tokenizers (Oniguruma, Unicode 16), whatever Unicode version this system's libraries know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

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

inline bool is_space(char32_t c) {
  return (character_classes()[c] & class_space) != 0;
}

// Assigned after Unicode 14, so that a regular expression library may not know it.
bool is_recent_character(char32_t c);

bool is_word_character(char32_t c);  // \w: letters, marks, decimal digits, connector punctuation

struct CodeRange {
  char32_t first, last;
};
// Whether one of these ranges, in order and apart, has it.
inline bool in_ranges(std::span<const CodeRange> ranges, char32_t c) {
  const auto range = std::ranges::lower_bound(ranges, c, {}, &CodeRange::last);
  return range != ranges.end() && c >= range->first;
}

}  // namespace fovea::text
