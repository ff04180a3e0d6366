// llama.cpp's notation for grammars.
#include <map>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/syntax.h"

namespace fovea::grammar {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class GbnfParser {
 public:
  GbnfParser(std::string_view text, const Phrase& where) : text_(text), where_(where) {}

  Result<Draft> run() {
    rule_named("root");
    skip_space(true);
    while (at_ < text_.size()) {
      FOVEA_CHECK(parse_rule());
    }
    if (!is_defined_[0]) return std::unexpected(errors::gbnf_no_root().at(where_));
    for (std::size_t rule = 0; rule < draft_.rules.size(); ++rule) {
      if (!is_defined_[rule]) {
        return std::unexpected(errors::gbnf_unknown_rule(draft_.rules[rule].name).at(where_));
      }
    }
    return std::move(draft_);
  }

 private:
  std::unexpected<Error> failed(Error error) const {
    std::int64_t line = 1;
    for (const char c : text_.substr(0, at_)) line += c == '\n';
    return std::unexpected(std::move(error).at(phrases::grammar_line(where_, line)));
  }
  template <class What>
  std::unexpected<Error> expected(What what) const {
    return failed(errors::gbnf_expected(std::move(what)));
  }

  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }
  void skip_space(bool over_lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || (over_lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }
  // Over the ends of lines only where another alternative follows them.
  void skip_to_alternative() {
    const std::size_t before = at_;
    skip_space(true);
    if (!next_is("|")) at_ = before;
  }

  std::uint32_t rule_named(std::string_view name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    is_defined_.push_back(false);
    return ids_.emplace(std::string(name), draft_.add_rule(std::string(name))).first->second;
  }
  std::string_view take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<void> parse_rule() {
    const std::string_view name = take_name();
    if (name.empty()) return expected(phrases::gbnf_rule_name());
    const std::uint32_t rule = rule_named(name);
    if (is_defined_[rule]) return failed(errors::gbnf_defined_twice(name));
    is_defined_[rule] = true;
    skip_space(false);
    if (!take("::=")) return expected("::=");
    skip_space(true);
    FOVEA_TRY(const Expression right, parse_alternatives(0));
    skip_space(false);
    if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') {
      return expected(phrases::gbnf_end_of_line());
    }
    skip_space(true);
    Automaton& automaton = draft_.rules[rule].automaton;
    const std::uint32_t end = automaton.add_state();
    automaton.states[end].accepting = true;
    if (!connect(automaton, 0, right, end)) {
      return failed(errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges));
    }
    states_ += automaton.states.size();
    if (states_ > Limits::states || draft_.rules.size() > Limits::rules) {
      return failed(errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges));
    }
    return {};
  }

  // Within brackets an expression may go on in the next line.
  Result<Expression> parse_alternatives(std::size_t depth) {
    if (depth > Limits::nesting) return failed(errors::grammar_nested(Limits::nesting));
    Expression all{Expression::Kind::alternatives, 0, 0, 0, {}};
    do {
      skip_space(true);
      FOVEA_TRY(Expression part, parse_sequence(depth));
      all.parts.push_back(std::move(part));
      depth > 0 ? skip_space(true) : skip_to_alternative();
    } while (take("|"));
    return all;
  }

  Result<Expression> parse_sequence(std::size_t depth) {
    Expression all;
    while (true) {
      skip_space(depth > 0);
      if (at_ == text_.size()) break;
      const char c = text_[at_];
      if (c == '"') {
        FOVEA_TRY(Expression literal, parse_literal());
        all.parts.push_back(std::move(literal));
      } else if (c == '[') {
        FOVEA_TRY(const CharacterSet set, parse_class());
        all.parts.push_back(Expression::of_characters(draft_.sets.intern(set)));
      } else if (c == '.') {
        ++at_;
        all.parts.push_back(Expression::of_characters(draft_.sets.intern(CharacterSet::all())));
      } else if (c == '(') {
        ++at_;
        FOVEA_TRY(Expression group, parse_alternatives(depth + 1));
        if (!take(")")) return expected(")");
        all.parts.push_back(std::move(group));
      } else if (is_name_character(c)) {
        all.parts.push_back(Expression::of_call(rule_named(take_name())));
      } else if (c == '<' || c == '!') {
        return failed(errors::gbnf_token());
      } else {
        break;
      }
      FOVEA_CHECK(parse_repetitions(all.parts.back()));
    }
    return all;
  }

  Result<Expression> parse_literal() {
    Expression literal;
    ++at_;
    while (!take("\"")) {
      FOVEA_TRY(const char32_t c, parse_character());
      literal.parts.push_back(Expression::of_characters(draft_.sets.intern(c)));
    }
    return literal;
  }

  Result<CharacterSet> parse_class() {
    CharacterSet set;
    ++at_;
    const bool is_negated = take("^");
    while (!take("]")) {
      FOVEA_TRY(const char32_t first, parse_character());
      char32_t last = first;
      if (next_is("-") && !next_is("-]")) {
        ++at_;
        FOVEA_TRY(last, parse_character());
      }
      if (last < first) return failed(errors::grammar_range());
      set.add(first, last);
    }
    return is_negated ? set.complement() : set;
  }

  Result<char32_t> parse_character() {
    if (at_ == text_.size() || text_[at_] == '\n') return expected(phrases::gbnf_closing());
    if (!take("\\")) return take_code_point(text_, at_);
    if (at_ == text_.size()) return expected(phrases::gbnf_escape());
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case '"':
      case '\\':
      case '[':
      case ']':
      case '-':
      case '^':
        return static_cast<char32_t>(c);
      case 'x':
        return parse_hex(2);
      case 'u':
        return parse_hex(4);
      case 'U':
        return parse_hex(8);
      default:
        --at_;
        return expected(phrases::gbnf_escape());
    }
  }
  Result<char32_t> parse_hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
      if (digit < 0) return expected(phrases::gbnf_escape());
      value = value << 4 | static_cast<char32_t>(digit);
      ++at_;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return expected(phrases::code_point());
    return value;
  }

  Result<void> parse_repetitions(Expression& what) {
    for (std::size_t depth = 0;; ++depth) {
      skip_space(false);
      const auto [found, counts] = take_repetition(text_, at_);
      if (found == Repetition::Found::none) return {};
      if (found == Repetition::Found::no_counts) return expected(phrases::repetition_counts(largest_count));
      if (counts.most < counts.least) return failed(errors::grammar_repetition(counts.least, counts.most));
      if (depth == Limits::nesting) return failed(errors::grammar_nested(Limits::nesting));
      what = Expression::of_repetition(std::move(what), counts.least, counts.most);
    }
  }

  const std::string_view text_;
  const Phrase& where_;
  std::size_t at_ = 0;
  Draft draft_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::vector<bool> is_defined_;
  std::size_t states_ = 0;
};

}  // namespace

Result<Draft> draft_of_gbnf(std::string_view text, const Phrase& where) {
  return GbnfParser(text, where).run();
}

}  // namespace fovea::grammar
