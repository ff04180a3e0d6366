// Goes through a vocabulary with a set of stacks: which tokens lead where.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/grammar/plain_steps.h"
#include "engine/grammar/stacks.h"
#include "engine/grammar/vocabulary_trie.h"

namespace fovea::grammar {

inline void set_bit(std::span<std::uint32_t> bits, std::uint32_t id) {
  bits[id / 32] |= std::uint32_t{1} << (id % 32);
}

// What does not depend on more than the open rule on top of the stacks.
struct TopMask {
  std::vector<std::uint32_t> bits;       // of tokens that are allowed whatever lies below
  std::vector<std::uint32_t> undecided;  // nodes of the vocabulary; what is below them, too
  std::uint32_t distance = 0;            // the largest after an allowed token, without what was cut off
};

class Walk {
 public:
  Walk(Stacks& stacks, const VocabularyTrie& vocabulary)
      : stacks_(stacks), vocabulary_(vocabulary), path_(vocabulary.longest() + 1), open_(path_.size()) {}

  // From truncated stacks.
  TopMask top(Stacks::Id from);
  // Decides what TopMask left open: tokens after which the end is at most so far. Returns the largest
  // distance after one that it allowed.
  std::uint32_t decide(Stacks::Id from, std::span<const std::uint32_t> undecided, std::uint32_t distance,
                       std::span<std::uint32_t> bits);
  // Tokens after which the end is at most so far.
  void within(Stacks::Id from, std::uint32_t distance, std::span<std::uint32_t> bits);

  // The same where plain characters all lead to one place, as long as they lead anywhere: without a look at
  // each token. Returns as decide() does; nothing, and bits are as they were: here they differ.
  std::optional<std::uint32_t> within_plain(Stacks::Id from, PlainSteps& steps, std::uint32_t distance,
                                            std::span<std::uint32_t> bits);

 private:
  // Over some nodes, with path_ made up to there: allow(token, where it leads).
  template <class Allow>
  void walk(std::uint32_t begin, std::uint32_t end, Allow allow);

  // Where tokens with `first` to `last` plain characters stand.
  struct Place {
    Stacks::Id at;
    std::uint16_t first, last;
  };
  static void add_place(std::vector<Place>& places, const Place& place);
  std::uint32_t allow_plain(std::span<const Stacks::Id> chain, std::uint32_t distance,
                            std::span<std::uint32_t> bits) const;
  std::uint32_t allow_entries(std::span<const PlainTokens::Entry> entries, std::span<const Place> places,
                              std::uint32_t distance, std::span<std::uint32_t> bits) const;

  Stacks& stacks_;
  const VocabularyTrie& vocabulary_;
  std::vector<Stacks::Id> path_;  // by depth
  std::vector<char> open_;        // stacks that were cut off may go on
};

}  // namespace fovea::grammar
