// Pieces of JSON text as automata: white space, numbers, and strings whose characters an automaton holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/api/error.h"
#include "engine/grammar/automaton.h"

namespace fovea::grammar {

// Rules that are made when they are first asked for.
class JsonText {
 public:
  explicit JsonText(Draft& draft) : draft_(draft) {}

  // Nothing, a space, or a line end with up to 32 spaces or 16 tabs: bounded, so that no model goes on with
  // it for ever.
  std::uint32_t white_space();
  std::uint32_t any_string();
  std::uint32_t any_integer();
  std::uint32_t any_number();

  // A string in quotes whose characters, behind all escapes, `characters` accepts (without epsilon or calls).
  // Where it accepts any character, all of JSON's escapes may spell one; otherwise those that need an escape
  // have one.
  void connect_string(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                      std::uint32_t to);
  // As JSON spells it; valid UTF-8.
  void connect_literal(Automaton& automaton, std::uint32_t from, std::string_view text, std::uint32_t to) {
    connect(automaton, draft_.sets, from, text, to);
  }

 private:
  std::uint32_t rule_of_pattern(std::optional<std::uint32_t>& rule, const char* name, const char* pattern);
  std::uint32_t any_escape();
  std::uint32_t escapes_of(std::uint32_t set);

  Draft& draft_;
  std::optional<std::uint32_t> white_space_, string_, integer_, number_, escape_;
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
