// A vocabulary's tokens divided into plain characters and what follows them. Plain are all that a JSON string
// may hold without an escape: from U+0020 on, but " and \. Most tokens are nothing else, so where a grammar
// takes any of them a mask is put together from ready ones, and only what follows is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/grammar/characters.h"

namespace fovea::grammar {

const CharacterSet& plain_characters();

class PlainTokens {
 public:
  // Characters beyond these count as what follows them.
  static constexpr std::uint16_t most_characters = 32;

  // The bytes of each token by id; empty: it is in no mask.
  explicit PlainTokens(std::span<const std::string> tokens);

  // Sets the bits of tokens that are nothing but `first` to `last` plain characters; 1 <= first.
  void allow(std::size_t first, std::size_t last, std::span<std::uint32_t> bits) const;
  std::size_t longest() const { return longest_; }  // plain characters before anything else

  // What follows, as a prefix tree in the order in which a walk comes by.
  struct Node {
    std::uint32_t end;           // behind the last node below this one
    std::uint32_t first, count;  // entries whose bytes end here
    std::uint16_t depth;         // bytes, from 1
    std::uint8_t byte;
  };
  struct Entry {
    std::uint32_t token;
    std::uint16_t characters;  // before it; in rising order at a node
  };
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Entry> entries_of(const Node& node) const {
    return {entries_.data() + node.first, node.count};
  }
  std::size_t deepest() const { return deepest_; }  // bytes

 private:
  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
  // up_to_[n]: a bit for each token that is nothing but 1 to n plain characters.
  std::vector<std::vector<std::uint32_t>> up_to_;
  std::size_t longest_ = 0, deepest_ = 0;
};

}  // namespace fovea::grammar
