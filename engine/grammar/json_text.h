// Pieces of JSON text, or of what is spelled otherwise, as automata: white space, names, numbers, and strings
// whose characters an automaton holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/api/error.h"
#include "engine/grammar/automaton.h"
#include "engine/grammar/grammar.h"

namespace fovea::grammar {

// Rules that are made when they are first asked for.
class JsonText {
 public:
  JsonText(Draft& draft, const Spelling& spelling) : draft_(draft), spelling_(spelling) {}

  std::uint32_t any_string();
  std::uint32_t any_name();
  std::uint32_t any_integer();
  std::uint32_t any_number();

  // Nothing, a space, or a line end with up to 32 spaces or 16 tabs: bounded, so that no model goes on with
  // it for ever.
  void connect_space(Automaton& automaton, std::uint32_t from, std::uint32_t to);
  void connect_colon(Automaton& automaton, std::uint32_t from, std::uint32_t to);
  // A string in quotes whose characters, behind all escapes, `characters` accepts (without epsilon or calls).
  // In JSON, where it accepts any character, all escapes may spell one; otherwise those that need an escape
  // have one. False: beyond Limits::states.
  bool connect_string(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                      std::uint32_t to);
  bool connect_name(Automaton& automaton, std::uint32_t from, const Automaton& characters, std::uint32_t to);
  // One string, one name; valid UTF-8. False: it cannot be spelled.
  bool connect_string(Automaton& automaton, std::uint32_t from, const std::string& text, std::uint32_t to);
  bool connect_name(Automaton& automaton, std::uint32_t from, const std::string& name, std::uint32_t to);
  // As it stands.
  void connect_literal(Automaton& automaton, std::uint32_t from, std::string_view text, std::uint32_t to) {
    connect(automaton, draft_.sets, from, text, to);
  }

 private:
  std::uint32_t rule_of_pattern(std::optional<std::uint32_t>& rule, const char* name, const char* pattern);
  std::uint32_t white_space();
  std::uint32_t any_escape();
  std::uint32_t escapes_of(std::uint32_t set);
  bool is_json() const { return spelling_.quote.empty(); }
  void connect_escaped(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                       std::uint32_t to);
  void connect_plain(Automaton& automaton, std::uint32_t from, const Automaton& characters, std::uint32_t to);
  void connect_quote(Automaton& automaton, std::uint32_t from, std::uint32_t to);

  Draft& draft_;
  const Spelling spelling_;
  std::optional<std::uint32_t> white_space_, string_, name_, integer_, number_, escape_;
  std::map<std::uint32_t, std::uint32_t> escapes_of_set_;
};

// A bound of a number, not negative: digits before and behind the point.
struct Decimal {
  std::string whole = "0", fraction;
  bool is_negative = false;
};
inline constexpr std::size_t number_digits = 15;  // as many as two numbers of JSON's usual readers differ by
struct NumberRange {
  std::optional<Decimal> least, most;
  bool above = false, below = false;  // the bound itself is not in it
  bool is_integer = false;
};
// Numbers without an exponent, of up to number_digits digits.
void connect_number(Automaton& automaton, CharacterSets& sets, std::uint32_t from, const NumberRange& range,
                    std::uint32_t to);

}  // namespace fovea::grammar
