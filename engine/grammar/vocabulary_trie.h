// The prefix tree of a vocabulary's tokens, made once for a model and shared by all grammars.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/grammar/plain_tokens.h"

namespace fovea::grammar {

class VocabularyTrie {
 public:
  // The bytes of each token by id; empty for those that no grammar allows: control tokens, holes.
  explicit VocabularyTrie(std::span<const std::string> tokens);

  // Nodes in the order in which a walk comes by: a node, then all below it.
  struct Node {
    std::uint32_t end;    // behind the last node below this one
    std::uint32_t token;  // whose bytes end here; `none`
    std::uint16_t depth;  // bytes, from 1
    std::uint8_t byte;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::span<const Node> nodes() const { return nodes_; }
  std::uint32_t parent(std::uint32_t node) const { return parents_[node]; }  // none: the root
  std::size_t size() const { return size_; }                                 // tokens
  std::size_t mask_words() const { return (size_ + 31) / 32; }
  std::size_t longest() const { return longest_; }  // bytes
  std::string_view bytes(std::uint32_t token) const { return tokens_[token]; }
  bool has_byte(std::uint8_t byte) const { return has_byte_[byte]; }  // as a token of its own
  const std::array<bool, 256>& single_bytes() const { return has_byte_; }
  // Tokens with the same bytes as another one: first that other one, which stands in the nodes.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> twins() const { return twins_; }
  const PlainTokens& plain() const { return plain_; }

 private:
  std::vector<std::string> tokens_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> twins_;
  std::array<bool, 256> has_byte_{};
  std::size_t size_ = 0, longest_ = 0;
  PlainTokens plain_;
};

}  // namespace fovea::grammar
