// Unigram language model: of all ways to write a text as pieces, the one with the highest sum of scores.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/text/vocabulary.h"

namespace fovea::text {

struct UnigramPiece {
  TokenId id;
  double score;  // logarithm of its probability
};

class Unigram {
 public:
  // `usable` are the pieces that text may become; their texts are valid UTF-8.
  Unigram(const Vocabulary&, const std::vector<UnigramPiece>& usable, TokenId unknown, bool byte_fallback);

  // Neighbouring unknown characters become one unknown token, or with byte fallback their <0xXX> tokens.
  void encode(std::string_view text, std::vector<TokenId>& out) const;

 private:
  struct Edge {  // of a trie over bytes, open addressing; the key is the parent node and the byte
    std::uint64_t key = ~std::uint64_t{0};
    std::int32_t child = -1;
  };
  struct Step {  // the best way to reach a position
    double score = 0;
    std::size_t from = 0;
    TokenId id = -1;
    bool reached = false;
  };
  std::int32_t child(std::int32_t node, char byte) const;
  std::int32_t insert(std::int32_t node, char byte);
  void grow();
  void push_unknown(std::string_view text, std::vector<TokenId>& out) const;

  std::vector<Edge> edges_ = std::vector<Edge>(1024);
  std::vector<UnigramPiece> pieces_;  // by node; id -1: no piece ends here
  TokenId unknown_;
  double unknown_score_ = 0;
  std::array<TokenId, 256> byte_tokens_{};
  bool byte_fallback_;
};

}  // namespace fovea::text
