// Regular expressions of ECMAScript with the flag u, as far as they are regular.
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/syntax.h"

namespace fovea::grammar {
namespace {

CharacterSet digits() {
  return CharacterSet::of({{'0', '9'}});
}
CharacterSet word_characters() {
  return CharacterSet::of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
}
CharacterSet spaces() {
  return CharacterSet::of({{'\t', '\r'},
                           {' ', ' '},
                           {0xA0, 0xA0},
                           {0x1680, 0x1680},
                           {0x2000, 0x200A},
                           {0x2028, 0x2029},
                           {0x202F, 0x202F},
                           {0x205F, 0x205F},
                           {0x3000, 0x3000},
                           {0xFEFF, 0xFEFF}});
}
CharacterSet line_ends() {
  return CharacterSet::of({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
}

class PatternParser {
 public:
  PatternParser(std::string_view text, CharacterSets& sets, const Phrase& where)
      : text_(text), sets_(sets), where_(where) {}

  Result<Expression> run() {
    FOVEA_TRY(Expression all, parse_alternatives(0));
    if (at_ < text_.size()) return expected(phrases::pattern_end());
    return all;
  }

 private:
  std::unexpected<Error> failed(Error error) const {
    return std::unexpected(std::move(error).at(phrases::pattern_byte(where_, at_)));
  }
  std::unexpected<Error> expected(Phrase what) const {
    return failed(errors::pattern_expected(std::move(what)));
  }
  std::unexpected<Error> unsupported(Phrase what) const {
    return failed(errors::pattern_unsupported(std::move(what)));
  }

  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }

  Result<Expression> parse_alternatives(std::size_t depth) {
    if (depth > Limits::nesting) return failed(errors::grammar_nested(Limits::nesting));
    Expression all{Expression::Kind::alternatives, 0, 0, 0, {}};
    do {
      FOVEA_TRY(Expression part, parse_sequence(depth));
      all.parts.push_back(std::move(part));
    } while (take("|"));
    return all;
  }

  Result<Expression> parse_sequence(std::size_t depth) {
    Expression all;
    while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') {
      FOVEA_TRY(Expression term, parse_term(depth));
      const bool is_assertion =
          term.kind == Expression::Kind::at_start || term.kind == Expression::Kind::at_end;
      if (!is_assertion) {
        FOVEA_TRY(term, parse_repetition(std::move(term)));
      }
      all.parts.push_back(std::move(term));
    }
    return all;
  }

  Result<Expression> parse_term(std::size_t depth) {
    if (take("^")) return Expression{Expression::Kind::at_start, 0, 0, 0, {}};
    if (take("$")) return Expression{Expression::Kind::at_end, 0, 0, 0, {}};
    if (take(".")) return of(line_ends().complement());
    if (take("(")) return parse_group(depth);
    if (take("[")) {
      FOVEA_TRY(const CharacterSet set, parse_class());
      return of(set);
    }
    for (const std::string_view sign : {"*", "+", "?", "{"}) {
      if (next_is(sign)) return expected(phrases::pattern_what_is_repeated(sign));
    }
    if (take("\\")) {
      FOVEA_TRY(const CharacterSet set, parse_escape());
      return of(set);
    }
    return Expression::of_characters(sets_.intern(take_code_point(text_, at_)));
  }
  Expression of(const CharacterSet& set) { return Expression::of_characters(sets_.intern(set)); }

  Result<Expression> parse_group(std::size_t depth) {
    if (next_is("?=") || next_is("?!") || next_is("?<=") || next_is("?<!")) {
      return unsupported(phrases::pattern_look_around(text_.substr(at_ - 1, 3)));
    }
    if (take("?<")) {
      const std::size_t end = text_.find('>', at_);
      if (end == text_.npos) return expected(phrases::pattern_closing_group());
      at_ = end + 1;
    } else if (!take("?:") && next_is("?")) {
      return unsupported(phrases::pattern_modifiers(text_.substr(at_ - 1, 3)));
    }
    FOVEA_TRY(Expression group, parse_alternatives(depth + 1));
    if (!take(")")) return expected(phrases::pattern_closing_group());
    return group;
  }

  // Lazy repetitions accept the same texts.
  Result<Expression> parse_repetition(Expression what) {
    const auto [found, counts] = take_repetition(text_, at_);
    if (found == Repetition::Found::none) return what;
    if (found == Repetition::Found::no_counts) return expected(phrases::repetition_counts(largest_count));
    if (counts.most < counts.least) return failed(errors::grammar_repetition(counts.least, counts.most));
    take("?");
    return Expression::of_repetition(std::move(what), counts.least, counts.most);
  }

  Result<CharacterSet> parse_class() {
    CharacterSet set;
    const bool is_negated = take("^");
    while (!take("]")) {
      if (at_ == text_.size()) return expected(phrases::pattern_closing_class());
      FOVEA_TRY(const CharacterSet first, parse_class_atom());
      if (!next_is("-") || next_is("-]")) {
        set.add(first);
        continue;
      }
      ++at_;
      if (at_ == text_.size()) return expected(phrases::pattern_closing_class());
      FOVEA_TRY(const CharacterSet last, parse_class_atom());
      if (!is_single(first) || !is_single(last) || last.ranges()[0].first < first.ranges()[0].first) {
        return failed(errors::grammar_range());
      }
      set.add(first.ranges()[0].first, last.ranges()[0].first);
    }
    return is_negated ? set.complement() : set;
  }
  static bool is_single(const CharacterSet& set) {
    return set.ranges().size() == 1 && set.ranges()[0].first == set.ranges()[0].last;
  }
  Result<CharacterSet> parse_class_atom() {
    if (take("\\b")) return single('\b');
    if (take("\\-")) return single('-');
    if (take("\\")) return parse_escape();
    return single(take_code_point(text_, at_));
  }
  static CharacterSet single(char32_t c) { return CharacterSet::of({{c, c}}); }

  Result<CharacterSet> parse_escape() {
    if (at_ == text_.size()) return expected(phrases::pattern_escape());
    const std::string_view shown = text_.substr(at_ - 1, 2);
    const char c = text_[at_++];
    switch (c) {
      case 'd':
        return digits();
      case 'D':
        return digits().complement();
      case 'w':
        return word_characters();
      case 'W':
        return word_characters().complement();
      case 's':
        return spaces();
      case 'S':
        return spaces().complement();
      case 't':
        return single('\t');
      case 'n':
        return single('\n');
      case 'v':
        return single('\v');
      case 'f':
        return single('\f');
      case 'r':
        return single('\r');
      case 'x':
        return parse_hex(2);
      case 'u':
        return parse_unicode();
      case 'b':
      case 'B':
        return unsupported(phrases::pattern_word_boundary(shown));
      case 'p':
      case 'P':
        return unsupported(phrases::pattern_property(shown));
      case 'k':
        return unsupported(phrases::pattern_back_reference(shown));
      default:
        break;
    }
    if (c >= '1' && c <= '9') return unsupported(phrases::pattern_back_reference(shown));
    if (c == '0' && (at_ == text_.size() || text_[at_] < '0' || text_[at_] > '9')) return single(0);
    if (c == 'c' && at_ < text_.size() && ((text_[at_] | 0x20) >= 'a' && (text_[at_] | 0x20) <= 'z')) {
      return single(static_cast<char32_t>(text_[at_++] & 0x1F));
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      return expected(phrases::pattern_escape());
    }
    --at_;
    return single(take_code_point(text_, at_));
  }

  Result<CharacterSet> parse_unicode() {
    if (!take("{")) {
      FOVEA_TRY(const char32_t high, hex(4));
      if (high < 0xD800 || high > 0xDFFF) return single(high);
      if (high > 0xDBFF || !take("\\u")) return expected(phrases::code_point());
      FOVEA_TRY(const char32_t low, hex(4));
      if (low < 0xDC00 || low > 0xDFFF) return expected(phrases::code_point());
      return single(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
    }
    const std::size_t end = text_.find('}', at_);
    if (end == text_.npos || end - at_ > 6) return expected(phrases::code_point());
    FOVEA_TRY(const CharacterSet set, parse_hex(end - at_));
    ++at_;
    return set;
  }
  Result<CharacterSet> parse_hex(std::size_t digits) {
    FOVEA_TRY(const char32_t value, hex(digits));
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return expected(phrases::code_point());
    return single(value);
  }
  Result<char32_t> hex(std::size_t digits) {
    char32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
      if (digit < 0) return expected(phrases::code_point());
      value = value << 4 | static_cast<char32_t>(digit);
    }
    if (digits == 0) return expected(phrases::code_point());
    return value;
  }

  const std::string_view text_;
  CharacterSets& sets_;
  const Phrase& where_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Automaton> automaton_of_pattern(std::string_view text, bool whole, CharacterSets& sets,
                                       const Phrase& where) {
  FOVEA_TRY(const Expression expression, PatternParser(text, sets, where).run());
  Automaton automaton;
  const std::uint32_t from = automaton.add_state(), to = automaton.add_state();
  automaton.states[to].accepting = true;
  // An assertion of the start is passed in state 0 alone: without what may stand before it.
  bool fits = connect(automaton, 0, expression, to);
  if (!whole) {
    const std::uint32_t any = sets.intern(CharacterSet::all());
    automaton.add(0, Edge::Kind::characters, any, from);
    automaton.add(from, Edge::Kind::characters, any, from);
    fits = fits && connect(automaton, from, expression, to);
    automaton.add(to, Edge::Kind::characters, any, to);
  }
  if (auto result = fits ? without_epsilon(automaton) : std::nullopt) return *std::move(result);
  return std::unexpected(errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges).at(where));
}

}  // namespace fovea::grammar
