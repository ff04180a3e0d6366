// Strings and names, as JSON and as Gemma's calls spell them.
#include <nlohmann/json.hpp>

#include "engine/api/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/json_text.h"

namespace fovea::grammar {
namespace {

// What a bare name is made of where a schema does not name it.
constexpr const char* bare_name = "[A-Za-z0-9_.-]{1,64}";
constexpr std::size_t longest_bare_name = 64;

bool is_bare_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_bare_name &&
         name.find_first_of(":,{}[]<>|\"' \t\r\n") == std::string_view::npos;
}

// Any text.
Automaton any_characters(CharacterSets& sets) {
  Automaton characters;
  const std::uint32_t loop = characters.add_state();
  const std::uint32_t any = sets.intern(CharacterSet::all());
  for (const std::uint32_t state : {0U, loop}) {
    characters.states[state].accepting = true;
    characters.add(state, Edge::Kind::characters, any, loop);
  }
  return characters;
}

}  // namespace

std::uint32_t JsonText::any_string() {
  if (!string_) {
    string_ = draft_.add_rule("string");
    Automaton automaton;
    const std::uint32_t end = automaton.add_state();
    automaton.states[end].accepting = true;
    connect_string(automaton, 0, any_characters(draft_.sets), end);  // small
    draft_.rules[*string_].automaton = std::move(automaton);
  }
  return *string_;
}

std::uint32_t JsonText::any_name() {
  return is_json() ? any_string() : rule_of_pattern(name_, "name", bare_name);
}

bool JsonText::connect_string(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                              std::uint32_t to) {
  if (is_json()) {
    connect_escaped(automaton, from, characters, to);
    return true;
  }
  const auto plain = intersection(characters, text_without(draft_.sets, spelling_.quote), draft_.sets);
  if (!plain) return false;
  const std::uint32_t begin = automaton.add_state(), end = automaton.add_state();
  connect_quote(automaton, from, begin);
  connect_plain(automaton, begin, *plain, end);
  connect_quote(automaton, end, to);
  return true;
}

bool JsonText::connect_name(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                            std::uint32_t to) {
  if (is_json()) return connect_string(automaton, from, characters, to);
  // The expression is right.
  const Automaton bare =
      automaton_of_pattern(bare_name, true, draft_.sets, phrases::name_place("name")).value();
  const auto plain = intersection(characters, bare, draft_.sets);
  if (plain) connect_plain(automaton, from, *plain, to);
  return plain.has_value();
}

bool JsonText::connect_string(Automaton& automaton, std::uint32_t from, const std::string& text,
                              std::uint32_t to) {
  if (is_json()) {
    connect_literal(automaton, from, nlohmann::json(text).dump(), to);
    return true;
  }
  if (text.contains(spelling_.quote)) return false;
  const std::uint32_t begin = automaton.add_state(), end = automaton.add_state();
  connect_quote(automaton, from, begin);
  connect_literal(automaton, begin, text, end);
  connect_quote(automaton, end, to);
  return true;
}

bool JsonText::connect_name(Automaton& automaton, std::uint32_t from, const std::string& name,
                            std::uint32_t to) {
  if (is_json()) return connect_string(automaton, from, name, to);
  if (!is_bare_name(name)) return false;
  connect_literal(automaton, from, name, to);
  return true;
}

void JsonText::connect_quote(Automaton& automaton, std::uint32_t from, std::uint32_t to) {
  if (spelling_.is_control) {
    connect_control(automaton, draft_.sets, from, spelling_.quote, to);
  } else {
    connect_literal(automaton, from, spelling_.quote, to);
  }
}

void JsonText::connect_plain(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                             std::uint32_t to) {
  const auto first = static_cast<std::uint32_t>(automaton.states.size());
  for (std::size_t i = 0; i < characters.states.size(); ++i) automaton.add_state();
  automaton.add_epsilon(from, first);
  for (std::uint32_t state = 0; state < characters.states.size(); ++state) {
    if (characters.states[state].accepting) automaton.add_epsilon(first + state, to);
    for (const Edge& edge : characters.states[state].edges)
      automaton.add(first + state, edge.kind, edge.value, first + edge.to);
  }
}

}  // namespace fovea::grammar
