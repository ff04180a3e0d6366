// Models over whole words: WordPiece (BERT) cuts a word into the longest pieces from left to right, WordLevel
// knows words only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/vocabulary.h"

namespace fovea::text {

struct WordPieceOptions {
  TokenId unknown = -1;       // for a word that cannot be cut
  std::string start;          // before a word's first piece in the vocabulary
  std::string continuation;   // before its other pieces
  std::size_t longest = 100;  // characters; a longer word is unknown
};

class WordPiece {
 public:
  WordPiece(const Vocabulary&, WordPieceOptions);
  void encode(const Vocabulary&, std::string_view word, std::vector<TokenId>& out) const;

 private:
  TokenId longest_piece(const Vocabulary&, const std::string& prefix, std::string_view rest,
                        std::size_t& bytes) const;

  WordPieceOptions options_;
  std::size_t longest_bytes_ = 0;  // of a token, its prefix included
};

class WordLevel {
 public:
  explicit WordLevel(TokenId unknown) : unknown_(unknown) {}
  void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out) const {
    const TokenId id = vocabulary.find(word);
    out.push_back(id >= 0 ? id : unknown_);
  }

 private:
  TokenId unknown_;
};

}  // namespace fovea::text
