// Tokens that are found in the text before anything else happens to it: control tokens, and what a model's
// authors added to the vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"

namespace fovea::text {

struct AddedToken {
  std::string text;
  TokenId id = -1;
  bool special = false;      // a control token: found only when the caller parses special tokens
  bool normalized = false;   // looked for in the normalised text
  bool single_word = false;  // not inside a word
  bool strip_left = false;   // swallows white space before it
  bool strip_right = false;
};

class AddedTokens {
 public:
  static constexpr std::size_t longest_bytes = 512;

  void add(AddedToken token);  // the text is not empty and not longer than longest_bytes

  struct Part {
    std::string_view text;
    TokenId id;  // -1: ordinary text
  };
  // Leftmost, longest tokens. A control token that is not to be parsed still hides tokens inside it.
  void split(std::string_view text, bool parse_special, std::vector<Part>& parts) const;

  bool empty() const { return tokens_.empty(); }

 private:
  struct Node {  // of a trie over bytes
    std::int32_t token = -1;
    std::int32_t child = -1;
    std::int32_t sibling = -1;
    char byte = 0;
  };
  std::int32_t child(std::int32_t node, char byte) const;
  std::int32_t longest_match(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  bool first_[256] = {};
};

}  // namespace fovea::text
