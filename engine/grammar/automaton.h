// Automata over code points, which the front ends write grammars as: one for each rule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/grammar/characters.h"

namespace fovea::grammar {

// What front ends may ask for; beyond it they refuse a grammar.
struct Limits {
  static constexpr std::size_t text_bytes = 1 << 20;
  static constexpr std::size_t nesting = 200;  // of groups in an expression, of schemas in a schema
  static constexpr std::size_t rules = 1 << 14;
  static constexpr std::size_t states = 1 << 17;  // of the whole grammar
  static constexpr std::size_t edges = 1 << 20;
};

struct Edge {
  enum class Kind : std::uint8_t {
    epsilon,
    at_start,    // passed where no character was read yet
    at_end,      // passed where none follows
    characters,  // value: a set
    byte,        // value: one that no text in UTF-8 has
    call,        // value: a rule
  };
  Kind kind;
  std::uint32_t value;
  std::uint32_t to;
};

// The start is state 0, to which no edge leads.
struct Automaton {
  struct State {
    std::vector<Edge> edges;
    bool accepting = false;
  };
  std::vector<State> states{State{}};

  std::uint32_t add_state() {
    states.emplace_back();
    return static_cast<std::uint32_t>(states.size() - 1);
  }
  void add(std::uint32_t from, Edge::Kind kind, std::uint32_t value, std::uint32_t to) {
    states[from].edges.push_back({kind, value, to});
  }
  void add_epsilon(std::uint32_t from, std::uint32_t to) { add(from, Edge::Kind::epsilon, 0, to); }
};

// A regular expression, or the right side of a rule.
struct Expression {
  enum class Kind : std::uint8_t {
    at_start,
    at_end,
    characters,
    byte,
    call,
    sequence,
    alternatives,
    repetition
  };
  static constexpr std::uint32_t unbounded = ~std::uint32_t{0};

  Kind kind = Kind::sequence;  // of nothing: the empty text
  std::uint32_t value = 0;     // the set, the byte, the rule
  std::uint32_t least = 0, most = 0;
  std::vector<Expression> parts;

  static Expression of_characters(std::uint32_t set) { return {Kind::characters, set, 0, 0, {}}; }
  static Expression of_repetition(Expression what, std::uint32_t least, std::uint32_t most) {
    Expression repetition{Kind::repetition, 0, least, most, {}};
    repetition.parts.push_back(std::move(what));
    return repetition;
  }
  static Expression of_call(std::uint32_t rule) { return {Kind::call, rule, 0, 0, {}}; }
};

// Adds states so that `expression` leads from `from` to `to`. False: beyond Limits::states.
bool connect(Automaton& automaton, std::uint32_t from, const Expression& expression, std::uint32_t to);
// Likewise for a text, which is valid UTF-8.
void connect(Automaton& automaton, CharacterSets& sets, std::uint32_t from, std::string_view text,
             std::uint32_t to);

// Likewise for a control token's name, in ASCII (Composer::control()).
void connect_control(Automaton& automaton, CharacterSets& sets, std::uint32_t from, std::string_view name,
                     std::uint32_t to);
// Before and behind such a name: a byte that no text has.
inline constexpr std::uint8_t control_mark = 0xFF;

// Any text in which a mark is not spelled: in ASCII, of two characters or more, the first of which stands in
// it once. Without epsilon.
Automaton text_without(CharacterSets& sets, std::string_view mark);

// The same without edges that read nothing but calls, and without states that are not reached. Nothing:
// beyond Limits::edges.
std::optional<Automaton> without_epsilon(const Automaton& automaton);

// What both accept; both are without epsilon and without calls. Nothing: beyond Limits::states.
std::optional<Automaton> intersection(const Automaton& left, const Automaton& right, CharacterSets& sets);

// A grammar as it is written; rule 0 is the root.
struct Draft {
  struct Rule {
    std::string name;
    Automaton automaton;
    bool inlined = false;  // spells one character of the rule that calls it
  };
  CharacterSets sets;
  std::vector<Rule> rules;

  std::uint32_t add_rule(std::string name) {
    rules.push_back({std::move(name), {}, false});
    return static_cast<std::uint32_t>(rules.size() - 1);
  }
  // Another grammar's rules behind these. Returns what its root is here.
  std::uint32_t append(const Draft& other);
};

}  // namespace fovea::grammar
