#include "engine/grammar/json_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "engine/api/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/plain_tokens.h"

namespace fovea::grammar {
namespace {

// The digits of numbers between two bounds that are not negative.
class Digits {
 public:
  Digits(Automaton& automaton, CharacterSets& sets, const NumberRange& range, std::uint32_t to)
      : automaton_(automaton), sets_(sets), range_(range), to_(to) {}

  void connect(std::uint32_t from) {
    for (length_ = 1; length_ <= number_digits; ++length_) {
      if (range_.least && range_.least->whole.size() > length_) continue;
      if (range_.most && range_.most->whole.size() < length_) break;
      states_.clear();
      const bool at_least = range_.least && range_.least->whole.size() == length_;
      const bool at_most = range_.most && range_.most->whole.size() == length_;
      automaton_.add_epsilon(from, state({0, at_least, at_most}));
    }
  }

 private:
  // So many digits read, and whether all are the bound's.
  using Place = std::tuple<std::size_t, bool, bool>;

  std::uint32_t state(const Place& place) {
    const auto [at, is_new] = states_.try_emplace(place, 0);
    if (!is_new) return at->second;
    const std::uint32_t id = at->second = automaton_.add_state();
    const auto& [read, at_least, at_most] = place;
    if (read >= length_ && is_within(read, at_least, at_most)) {
      automaton_.add_epsilon(id, to_);
    }
    if (read == length_) {
      if (range_.is_integer || length_ == number_digits) return id;
      const std::uint32_t point = automaton_.add_state();
      automaton_.add(id, Edge::Kind::characters, sets_.intern(U'.'), point);
      add_digits(point, place);
    } else if (read < number_digits) {
      add_digits(id, place);
    }
    return id;
  }

  static char digit_of(const Decimal& bound, std::size_t at) {
    if (at < bound.whole.size()) return bound.whole[at];
    at -= bound.whole.size();
    return at < bound.fraction.size() ? bound.fraction[at] : '0';
  }

  void add_digits(std::uint32_t from, const Place& place) {
    const auto& [read, at_least, at_most] = place;
    std::map<Place, CharacterSet> next;
    for (char digit = read == 0 && length_ > 1 ? '1' : '0'; digit <= '9'; ++digit) {
      bool on_least = false, on_most = false;
      if (at_least) {
        const char bound = digit_of(*range_.least, read);
        if (digit < bound) continue;
        on_least = digit == bound;
      }
      if (at_most) {
        const char bound = digit_of(*range_.most, read);
        if (digit > bound) continue;
        on_most = digit == bound;
      }
      next[{read + 1, on_least, on_most}].add(static_cast<char32_t>(digit));
    }
    for (const auto& [to, set] : next) {
      automaton_.add(from, Edge::Kind::characters, sets_.intern(set), state(to));
    }
  }

  // With the digits that were read, the number is in the range.
  bool is_within(std::size_t read, bool at_least, bool at_most) const {
    const auto is_rest_zero = [&](const Decimal& bound) {
      for (std::size_t at = read; at < bound.whole.size() + bound.fraction.size(); ++at) {
        if (digit_of(bound, at) != '0') return false;
      }
      return true;
    };
    if (at_least && (range_.above || !is_rest_zero(*range_.least))) return false;
    return !at_most || !range_.below || !is_rest_zero(*range_.most);
  }

  Automaton& automaton_;
  CharacterSets& sets_;
  const NumberRange& range_;
  const std::uint32_t to_;
  std::size_t length_ = 0;  // digits before the point
  std::map<Place, std::uint32_t> states_;
};

bool is_zero(const Decimal& number) {
  return number.whole == "0" && number.fraction.find_first_not_of('0') == std::string::npos;
}

}  // namespace

std::uint32_t JsonText::rule_of_pattern(std::optional<std::uint32_t>& rule, const char* name,
                                        const char* pattern) {
  if (!rule) {
    rule = draft_.add_rule(name);
    // The patterns here are right.
    draft_.rules[*rule].automaton =
        automaton_of_pattern(pattern, true, draft_.sets, phrases::name_place(name)).value();
  }
  return *rule;
}

std::uint32_t JsonText::white_space() {
  return rule_of_pattern(white_space_, "white space", "(?: |\\n(?: {0,32}|\\t{1,16}))?");
}

std::uint32_t JsonText::any_integer() {
  return rule_of_pattern(integer_, "integer", "-?(?:0|[1-9][0-9]{0,14})");
}

std::uint32_t JsonText::any_number() {
  return rule_of_pattern(number_, "number",
                         "-?(?:0|[1-9][0-9]{0,14})(?:\\.[0-9]{1,15})?(?:[eE][+-]?[0-9]{1,2})?");
}

std::uint32_t JsonText::any_escape() {
  const std::uint32_t rule =
      rule_of_pattern(escape_, "escape",
                      "\\\\(?:[\"\\\\/bfnrt]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}|"
                      "[Dd][89ABab][0-9A-Fa-f]{2}\\\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}))");
  draft_.rules[rule].inlined = true;
  return rule;
}

std::uint32_t JsonText::escapes_of(std::uint32_t set) {
  const auto known = escapes_of_set_.find(set);
  if (known != escapes_of_set_.end()) return known->second;
  const std::uint32_t rule = draft_.add_rule("escape");
  draft_.rules[rule].inlined = true;
  escapes_of_set_[set] = rule;
  Automaton automaton;
  const std::uint32_t end = automaton.add_state();
  automaton.states[end].accepting = true;
  static constexpr std::string_view plain = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  const CharacterSet escaped = draft_.sets[set] & plain_characters().complement();
  for (const CharacterRange& range : escaped.ranges()) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      const std::size_t at = plain.find(static_cast<char>(c));
      if (at != plain.npos) {
        connect(automaton, draft_.sets, 0, std::string{'\\', letters[at]}, end);
      } else {
        constexpr std::string_view hex = "0123456789abcdef";
        connect(automaton, draft_.sets, 0, std::string("\\u00") + hex[c >> 4] + hex[c & 15], end);
      }
    }
  }
  draft_.rules[rule].automaton = std::move(automaton);
  return rule;
}

void JsonText::connect_space(Automaton& automaton, std::uint32_t from, std::uint32_t to) {
  if (is_json()) {
    automaton.add(from, Edge::Kind::call, white_space(), to);
  } else {
    automaton.add_epsilon(from, to);
  }
}

void JsonText::connect_colon(Automaton& automaton, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t behind = automaton.add_state();
  connect_literal(automaton, from, ":", behind);
  automaton.add_epsilon(behind, to);
  if (is_json()) connect_literal(automaton, behind, " ", to);
}

void JsonText::connect_escaped(Automaton& automaton, std::uint32_t from, const Automaton& characters,
                               std::uint32_t to) {
  const std::uint32_t quote = draft_.sets.intern(U'"');
  const auto first = static_cast<std::uint32_t>(automaton.states.size());
  for (std::size_t i = 0; i < characters.states.size(); ++i) automaton.add_state();
  automaton.add(from, Edge::Kind::characters, quote, first);
  for (std::uint32_t state = 0; state < characters.states.size(); ++state) {
    if (characters.states[state].accepting) {
      automaton.add(first + state, Edge::Kind::characters, quote, to);
    }
    for (const Edge& edge : characters.states[state].edges) {
      const CharacterSet set = draft_.sets[edge.value];
      const std::uint32_t raw = draft_.sets.intern(set & plain_characters());
      if (!draft_.sets[raw].empty()) {
        automaton.add(first + state, Edge::Kind::characters, raw, first + edge.to);
      }
      if (set == CharacterSet::all()) {
        automaton.add(first + state, Edge::Kind::call, any_escape(), first + edge.to);
      } else if (!(set & plain_characters().complement()).empty()) {
        automaton.add(first + state, Edge::Kind::call, escapes_of(edge.value), first + edge.to);
      }
    }
  }
}

void connect_number(Automaton& automaton, CharacterSets& sets, std::uint32_t from, const NumberRange& range,
                    std::uint32_t to) {
  // Not below zero.
  if (!range.most || !range.most->is_negative || is_zero(*range.most)) {
    NumberRange part = range;
    if (part.least && part.least->is_negative && !is_zero(*part.least))
      part.least.reset(), part.above = false;
    Digits(automaton, sets, part, to).connect(from);
  }
  // Behind a minus the bounds change places.
  if (range.least && !(range.least->is_negative || is_zero(*range.least))) return;
  NumberRange part;
  part.is_integer = range.is_integer;
  if (range.most && (range.most->is_negative || is_zero(*range.most))) {
    part.least = range.most;
    part.above = range.below;
  }
  if (range.least) {
    part.most = range.least;
    part.below = range.above;
  }
  const std::uint32_t minus = automaton.add_state();
  automaton.add(from, Edge::Kind::characters, sets.intern(U'-'), minus);
  Digits(automaton, sets, part, to).connect(minus);
}

}  // namespace fovea::grammar
