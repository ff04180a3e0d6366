// Sets of stacks: where a text that was read so far may stand in a grammar.
//
// A stack is the state that reads the next byte, and below it the states to which the open rules return. A
// set of stacks is a node: for each state on top, the set of what may lie below it, which is a node again.
// Equal sets are one node, so a node's number tells all that can follow, and each step from it is made only
// once. Readings that differ below a common top share it: an ambiguous grammar does not multiply them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/grammar/rules.h"

namespace fovea::grammar {

class Stacks {
 public:
  using Id = std::uint32_t;
  static constexpr Id dead = 0;     // no stack
  static constexpr Id bottom = 1;   // the empty one: the answer is complete
  static constexpr Id unknown = 2;  // any: what truncated() cut off

  struct Entry {
    std::uint32_t state;
    Id below;
    bool operator==(const Entry&) const = default;
  };
  struct Node {
    std::uint32_t first, count;  // entries
    std::uint32_t distance;      // of the shortest completion; 0 for `unknown`
    std::uint32_t row;           // of steps; `unset`
    std::uint32_t alike;         // the same for all nodes that no token can tell apart
    std::uint16_t depth;
    bool ends;        // holds the empty stack
    bool is_unknown;  // holds `unknown`
  };

  // Both outlive it. classes: states of one class accept the same texts as far as tokens reach; empty: each
  // state is alone.
  Stacks(const Rules& rules, std::span<const std::uint32_t> distance, std::span<const std::uint32_t> classes);

  Id start();
  Id step(Id from, std::uint8_t byte) {
    const std::uint32_t row = nodes_[from].row;
    if (row != unset) {
      const Id known = steps_[row + rules_.class_of_byte[byte]];
      if (known != unset) return known;
    }
    return make_step(from, byte);
  }
  // Only the open rule on top, and the one that it spells a character of. `slack` is how much farther the
  // end is at most than the result's distance says.
  Id truncated(Id id, std::uint32_t& slack);
  // A node of another one, for the same grammar.
  Id adopt(const Stacks& other, Id id);

  const Node& operator[](Id id) const { return nodes_[id]; }
  // Sorted by their states, which differ. Valid until the next step.
  std::span<const Entry> entries(Id id) const { return entries_of(nodes_[id]); }
  std::size_t bytes() const;  // of memory, about
  // True: a step led beyond what is followed (entries of a node, depth, memory) and counts as dead.
  bool overflowed() const { return overflowed_; }

 private:
  static constexpr std::uint32_t unset = ~std::uint32_t{0};

  Id make_step(Id from, std::uint8_t byte);
  void begin_closure();
  void add(std::uint32_t state, Id below);
  void add_all(Id node);
  Id close();
  Id intern(std::span<const Entry> entries, bool ends, bool is_unknown);
  std::uint32_t intern_alike(std::span<const Entry> entries, bool ends, bool is_unknown);
  Id unite(Id a, Id b);
  std::span<const Entry> entries_of(const Node& node) const {
    return {entries_.data() + node.first, node.count};
  }

  const Rules& rules_;
  const std::span<const std::uint32_t> distance_;
  const std::span<const std::uint32_t> classes_;
  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
  std::vector<Id> steps_;
  std::vector<Id> table_;  // of nodes by hash

  // Of what is alike: the same with classes in place of states.
  struct Alike {
    std::uint32_t first, count;
    bool ends, is_unknown;
  };
  std::vector<Alike> alikes_;
  std::vector<Entry> alike_entries_;
  std::vector<std::uint32_t> alike_table_;

  // The closure that is being made.
  std::vector<Entry> open_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> place_;  // of a state in open_; valid where place_round_ is round_
  std::vector<std::uint32_t> place_round_;
  std::uint32_t round_ = 0;
  bool ends_ = false, is_unknown_ = false;
  bool overflowed_ = false;
};

}  // namespace fovea::grammar
