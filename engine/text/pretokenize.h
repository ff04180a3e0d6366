// The step between normalising and the model: text is cut into words. Steps as tokenizer.json names them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/text/regex.h"
#include "engine/text/word_scanner.h"

namespace fovea::text {

struct Word {
  std::string_view text;
  bool at_start;  // the first word of the whole input
};

// Words, and the text of those that a step had to change.
struct Words {
  std::vector<Word> list;
  std::deque<std::string> changed;
};

enum class SplitBehavior : std::uint8_t {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous
};

// What a Split step looks for.
struct Scan {
  WordPattern pattern;
};
struct Expression {
  Regex regex;
};
struct Literal {
  std::string text;
};
struct CharacterTest {
  bool (*matches)(char32_t);
  bool runs;
};  // runs: neighbouring matches are one

struct SplitStep {
  std::variant<Scan, Expression, Literal, CharacterTest> pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;
};
// Replaces blanks by `replacement`, puts one in front, and cuts before each.
struct MetaspaceStep {
  enum class Prepend : std::uint8_t { always, first, never };
  std::string replacement = "\xE2\x96\x81";
  Prepend prepend = Prepend::always;
  bool before_blanks = false;  // put one in front of a text that begins with a blank, too
  bool split = true;
};
struct PrefixSpaceStep {};  // a blank before each word that does not begin with one
struct FixedLengthStep {
  std::size_t characters;
};

using PretokenizeStep = std::variant<SplitStep, MetaspaceStep, PrefixSpaceStep, FixedLengthStep>;

void apply(const PretokenizeStep&, Words&);

// BERT's: white space ends a word, a punctuation mark is one of its own.
void add_bert_words(std::vector<PretokenizeStep>&);

// A split by a regular expression, by a scanner where one equals it.
Result<SplitStep> split_by(std::string_view expression, const Phrase& where);

}  // namespace fovea::text
