// A grammar as it is matched: for each rule an automaton over bytes whose edges read a byte or call a rule.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/grammar/automaton.h"

namespace fovea::grammar {

struct Rules {
  struct ByteEdge {
    std::uint8_t first, last;
    std::uint32_t to;
  };
  struct Call {
    std::uint32_t rule;
    std::uint32_t to;  // where the rule returns to
  };
  struct State {
    std::uint32_t edges = 0, edge_count = 0;
    std::uint32_t calls = 0, call_count = 0;
    std::uint32_t rule = 0;
    bool accepting = false;
  };
  struct Rule {
    std::uint32_t start = 0;
    bool inlined = false;  // Draft::Rule
    bool nullable = false;
  };

  std::vector<State> states;  // every one can come to the end of its rule
  std::vector<ByteEdge> edges;
  std::vector<Call> calls;
  std::vector<Rule> rules;                        // rule 0 is the root
  std::array<std::uint8_t, 256> class_of_byte{};  // bytes of one class are on the same edges
  std::size_t byte_classes = 0;

  std::span<const ByteEdge> edges_of(std::uint32_t state) const {
    return {edges.data() + states[state].edges, states[state].edge_count};
  }
  std::span<const Call> calls_of(std::uint32_t state) const {
    return {calls.data() + states[state].calls, states[state].call_count};
  }
  // A return to it is the end of the rule at once.
  bool only_ends(std::uint32_t state) const {
    return states[state].accepting && states[state].edge_count == 0 && states[state].call_count == 0;
  }
};

// A way that takes one token over several bytes.
struct Jump {
  std::uint32_t from, to;
};

inline constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();

// What it costs at least to come from each state to the end of its rule, where a byte of `bytes` and a jump
// cost one; `unreachable`: there is no way.
std::vector<std::uint32_t> distances(const Rules& rules, const std::array<bool, 256>& bytes,
                                     std::span<const Jump> jumps);

// Refuses grammars with left recursion, without any answer, or beyond Limits.
Result<Rules> compile(const Draft& draft, const Phrase& where);

}  // namespace fovea::grammar
