// Hand-written scanners for the splitting patterns that nearly all byte-level tokenisers use. Each is equal
// to its regular expression on all valid UTF-8 (tests compare them) and about ten times faster.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fovea::text {

// The family of patterns that a scanner knows, in the order of their alternatives:
//   contraction | prefix letters+ | digits | ` ?` other+ tail | space* newline+ | space+ not before a word |
//   space+
struct WordPattern {
  enum class Letters : std::uint8_t {
    spaced,    // ` ?\p{L}+`                       gpt-2
    prefixed,  // `[^\r\n\p{L}\p{N}]?\p{L}+`       llama-3, qwen2
    marked,    // the same with `[\p{L}\p{M}]+`    qwen3.5
  } letters = Letters::prefixed;
  enum class Contraction : std::uint8_t { none, exact, any_case } contraction = Contraction::any_case;
  std::uint8_t digits = 1;     // at most that many in a word; 0: ` ?\p{N}+`
  bool newline_tail = true;    // `[\r\n]*` behind punctuation
  bool newline_groups = true;  // `\s*[\r\n]+`
};

// The pattern of GPT-2, which ByteLevel means by "use_regex".
extern const std::string_view gpt2_pattern;

// Nothing when the expression is not one of the known ones.
std::optional<WordPattern> known_pattern(std::string_view expression);

// The end of the word that begins at `at` (at < end, valid UTF-8). Every text splits without gaps.
const char* next_word(const WordPattern&, const char* at, const char* end);

}  // namespace fovea::text
