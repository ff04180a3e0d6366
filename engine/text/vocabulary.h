// Tokens and their ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"

namespace fovea::text {

// Hash of a token's or a word's bytes; quick, not against an adversary: tables that use it stop growing
// chains by comparing whole strings only on equal hashes.
std::uint64_t hash_bytes(std::string_view bytes);

class Vocabulary {
 public:
  void reserve(std::size_t tokens, std::size_t bytes);
  // Ids ascend; holes may be filled later with set(). A text that is there already keeps its first id for
  // find().
  TokenId add(std::string_view text);
  void set(TokenId id, std::string_view text);  // grows the vocabulary as needed
  void index();                                 // call once when all tokens are there

  TokenId find(std::string_view text) const;  // -1: none
  std::string_view text(TokenId id) const { return texts_[static_cast<std::size_t>(id)]; }
  std::int64_t size() const { return static_cast<std::int64_t>(texts_.size()); }
  bool has(TokenId id) const { return id >= 0 && id < size(); }
  bool is_hole(TokenId id) const { return texts_[static_cast<std::size_t>(id)].data() == nullptr; }

 private:
  std::string_view keep(std::string_view text);

  std::vector<std::vector<char>> blocks_;
  std::size_t used_ = 0;  // of the last block
  std::vector<std::string_view> texts_;
  std::vector<TokenId> slots_;
  std::vector<std::uint32_t> tags_;
};

}  // namespace fovea::text
