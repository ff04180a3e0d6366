// What happens to text before it is cut into words. Steps as tokenizer.json names them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/text/bert.h"
#include "engine/text/character_map.h"
#include "engine/text/regex.h"

namespace fovea::text {

struct UnicodeForm {
  enum class Form : std::uint8_t { nfc, nfd, nfkc, nfkd } form;
};
struct LowercaseStep {};
struct StripAccentsStep {
  bool nonspacing_only = false;
};
struct StripStep {
  bool left, right;
};
struct PrependStep {
  std::string text;
};
struct ReplaceTextStep {
  std::string from, to;
};
struct ReplaceRegexStep {
  Regex from;
  std::string to;
};
// SentencePiece's own rules. SentencePiece replaces the longest key at each place; tokenizers looks at one
// grapheme at a time, and of a short one only at the shortest key that it begins with.
struct CharacterMapStep {
  CharacterMap map;
  bool by_grapheme;
};

using NormalizeStep =
    std::variant<UnicodeForm, LowercaseStep, StripAccentsStep, StripStep, PrependStep, ReplaceTextStep,
                 ReplaceRegexStep, CharacterMapStep, CleanTextStep, SeparateHanStep, DropNonspacingStep>;

struct BertNormalizer {
  bool clean = true;
  bool han = true;
  bool strip_accents = true;
  bool lowercase = true;
};
void add_bert_normalizer(const BertNormalizer&, std::vector<NormalizeStep>&);

// Valid UTF-8 in, valid UTF-8 out. True when `out` holds the result, false when the text stays as it is.
bool normalize(const std::vector<NormalizeStep>&, std::string_view text, std::string& out);

std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace fovea::text
