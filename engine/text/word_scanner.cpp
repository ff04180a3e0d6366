#include "engine/text/word_scanner.h"

#include <array>
#include <utility>

#include "engine/text/character_class.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

struct Scanner {
  const WordPattern& pattern;
  const char* end;
  const std::uint8_t* classes = character_classes();

  // The class of the character at `at`, which moves behind it.
  std::uint8_t take(const char*& at) const { return classes[next_code_point(at)]; }

  // Behind the run of characters with any bit of `wanted`.
  const char* run(const char* at, std::uint8_t wanted) const {
    while (at < end) {
      const char* next = at;
      if (!(take(next) & wanted)) break;
      at = next;
    }
    return at;
  }
  // Behind the run of characters with no bit of `unwanted`.
  const char* run_without(const char* at, std::uint8_t unwanted) const {
    while (at < end) {
      const char* next = at;
      if (take(next) & unwanted) break;
      at = next;
    }
    return at;
  }
  const char* newlines(const char* at) const {
    while (at < end && (*at == '\r' || *at == '\n')) ++at;
    return at;
  }

  // 0, or the bytes behind the apostrophe: s t d m, re ve ll. U+017F folds to s.
  std::size_t contraction(const char* at) const {
    const bool fold = pattern.contraction == WordPattern::Contraction::any_case;
    const auto letter = [&](const char* p) -> char {
      if (p >= end) return 0;
      return fold && *p >= 'A' && *p <= 'Z' ? static_cast<char>(*p + 32) : *p;
    };
    const char first = letter(at);
    if (first == 's' || first == 't' || first == 'd' || first == 'm') return 1;
    const char second = letter(at + 1);
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l'))
      return 2;
    if (fold && end - at >= 2 && at[0] == '\xC5' && at[1] == '\xBF') return 2;
    return 0;
  }

  const char* numbers(const char* at) const {
    for (int i = 0; i < pattern.digits && at < end; ++i) {
      const char* next = at;
      if (!(take(next) & class_number)) break;
      at = next;
    }
    return at;
  }

  // The word that begins with white space at `at` (a word or punctuation behind one blank was tried before).
  const char* spaces(const char* at) const {
    const char* last_begin = at;  // of the run's last character
    const char* after_newline = nullptr;
    const char* p = at;
    while (p < end) {
      const char* next = p;
      if (!(take(next) & class_space)) break;
      if (*p == '\r' || *p == '\n') after_newline = next;
      last_begin = p;
      p = next;
    }
    if (pattern.newline_groups && after_newline) return after_newline;
    if (p == end || last_begin == at) return p;
    return last_begin;  // the last blank belongs to the word behind it
  }

  const char* spaced_word(const char* at) const {
    const char* p = at;
    if (*p == '\'' && pattern.contraction != WordPattern::Contraction::none) {
      if (const std::size_t bytes = contraction(at + 1)) return at + 1 + bytes;
    }
    if (*p == ' ' && p + 1 < end) ++p;
    const char* next = p;
    const std::uint8_t kind = take(next);
    if (kind & class_letter) return run(next, class_letter);
    if (kind & class_number) return run(next, class_number);
    if (kind & class_space) return spaces(at);
    return run_without(next, class_letter | class_number | class_space);
  }

  const char* prefixed_word(const char* at) const {
    if (*at == '\'' && pattern.contraction != WordPattern::Contraction::none) {
      if (const std::size_t bytes = contraction(at + 1)) return at + 1 + bytes;
    }
    const std::uint8_t letters = pattern.letters == WordPattern::Letters::marked
                                     ? std::uint8_t{class_letter | class_mark}
                                     : std::uint8_t{class_letter};
    const char* second = at;
    const std::uint8_t kind = take(second);
    if (kind & class_letter) return run(second, letters);
    if (kind & class_number) return numbers(at);
    // Anything but a newline may stand before letters.
    if (*at != '\r' && *at != '\n' && second < end) {
      const char* third = second;
      if (take(third) & letters) return run(third, letters);
    }
    if (kind & letters) return run(second, letters);
    const std::uint8_t not_other = letters | class_number | class_space;
    if (*at == ' ' && second < end) {
      const char* third = second;
      if (!(take(third) & not_other)) return tail(run_without(third, not_other));
    }
    if (kind & class_space) return spaces(at);
    return tail(run_without(second, not_other));
  }

  const char* tail(const char* at) const { return pattern.newline_tail ? newlines(at) : at; }
};

}  // namespace

const std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::optional<WordPattern> known_pattern(std::string_view expression) {
  using enum WordPattern::Letters;
  using enum WordPattern::Contraction;
  static constexpr std::string_view qwen2 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  static constexpr std::string_view llama3 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  static constexpr std::string_view qwen35 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  if (expression == gpt2_pattern)
    return WordPattern{
        .letters = spaced, .contraction = exact, .digits = 0, .newline_tail = false, .newline_groups = false};
  if (expression == qwen2) return WordPattern{.letters = prefixed, .digits = 1};
  if (expression == llama3) return WordPattern{.letters = prefixed, .digits = 3};
  if (expression == qwen35) return WordPattern{.letters = marked, .digits = 1};
  return std::nullopt;
}

const char* next_word(const WordPattern& pattern, const char* at, const char* end) {
  const Scanner scanner{pattern, end};
  return pattern.letters == WordPattern::Letters::spaced ? scanner.spaced_word(at)
                                                         : scanner.prefixed_word(at);
}

}  // namespace fovea::text
