// Two answers to one question, token by token: where they differ.
#pragma once

#include <QByteArray>
#include <vector>

namespace fovea::ui {

struct TokenText {
  QByteArray utf8 = {};
  std::vector<qint64> ends = {};  // of its tokens, in bytes; may stand behind what has come of the text
};

// Of `answer` the numbers of the tokens that are none of the longest row of tokens which both have in this
// order. Tokens of the same bytes are the same.
std::vector<std::size_t> differing_tokens(const TokenText& answer, const TokenText& other);

struct TokenRange {
  int begin = 0, length = 0;  // UTF-16, as a QTextDocument counts
  bool operator==(const TokenRange&) const = default;
};
// Where these tokens are seen, by rising numbers: whole characters, also of a token that is a part of one;
// one range for neighbours, without the space that a word's first token begins with.
std::vector<TokenRange> places_of(const TokenText& answer, const std::vector<std::size_t>& tokens);

}  // namespace fovea::ui
