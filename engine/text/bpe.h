// Byte-pair encoding: a word's symbols are joined, best-ranked neighbouring pair first, leftmost among
// equals. Over bytes (GPT-2's alphabet), or over characters with unknown tokens and byte fallback
// (SentencePiece).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/vocabulary.h"

namespace fovea::text {

struct BpeOptions {
  bool byte_level = false;     // words are bytes, spelled in GPT-2's alphabet in the vocabulary
  bool ignore_merges = false;  // a word that is a token is that token
  bool byte_fallback = false;  // an unknown character becomes <0xXX> tokens
  bool fuse_unknown = false;   // neighbouring unknown characters share one unknown token
  TokenId unknown = -1;        // -1: unknown characters vanish
  std::string prefix;          // before every symbol of a word but the first
  std::string suffix;          // behind a word's last symbol
};

// What one thread needs while it encodes. Words seen before in the same output are copied from there.
struct BpeScratch {
  struct Symbol {
    TokenId id;
    std::int32_t previous, next;
  };
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t at;  // index of the left symbol
    TokenId left, right, joined;
  };
  struct Remembered {
    std::string_view word;  // stays alive as long as the scratch
    std::size_t at = 0;     // in the output
    std::size_t count = 0;
  };
  explicit BpeScratch(std::size_t text_bytes);

  std::vector<TokenId> ids;
  std::vector<std::uint32_t> ranks;
  std::vector<TokenId> joined;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  std::vector<Remembered> words;  // a power of two
};

class Bpe {
 public:
  struct Merge {
    TokenId left, right, joined;
    std::uint32_t rank;  // smaller first
  };
  // The vocabulary is only used in here and in calls that pass it again.
  Bpe(const Vocabulary&, BpeOptions, const std::vector<Merge>&);

  void encode(const Vocabulary&, std::string_view word, std::vector<TokenId>& out, BpeScratch&) const;

 private:
  struct Pair {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint32_t rank = 0;
    TokenId joined = -1;
  };
  const Pair* find(TokenId left, TokenId right) const;
  void find_junctions(const Vocabulary&, const std::vector<Merge>&);
  void encode_word(const Vocabulary&, std::string_view word, std::vector<TokenId>& out, BpeScratch&) const;
  void encode_pieces(const Vocabulary&, std::string_view word, std::vector<TokenId>& out, BpeScratch&) const;
  void merge(const Vocabulary&, std::string_view piece, std::vector<TokenId>& out, BpeScratch&) const;
  void byte_symbols(const Vocabulary&, std::string_view word, std::vector<TokenId>& ids) const;
  void character_symbols(const Vocabulary&, std::string_view word, std::vector<TokenId>& ids) const;
  void push_unknown(std::vector<TokenId>& ids, bool& fusing) const;
  void merge_short(BpeScratch&) const;
  void merge_long(BpeScratch&) const;

  BpeOptions options_;
  std::vector<Pair> pairs_;                     // open addressing, a power of two
  std::array<TokenId, 256> byte_tokens_{};      // the symbol of a byte (byte level)
  std::array<TokenId, 256> fallback_tokens_{};  // <0xXX>
  // At 256 · a + b: whether some merge joins a token that ends with byte a to one that begins with byte b.
  // Where none does, both sides can be encoded apart. Empty: nothing is known.
  std::vector<bool> junctions_;
};

// The character that stands for a byte in GPT-2's alphabet, and back (-1: none).
char32_t byte_to_character(unsigned char byte);
int character_to_byte(char32_t c);
std::string to_byte_alphabet(std::string_view bytes);
// False when the text holds a character outside the alphabet.
bool from_byte_alphabet(std::string_view text, std::string& bytes);
// The byte of a token spelled <0xXX>, or -1.
int byte_token(std::string_view text);

}  // namespace fovea::text
