// Expressions, with jinja2's precedences, and what the parser of statements shares with it.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/jinja/lexer.h"
#include "engine/jinja/syntax.h"

namespace fovea::jinja {

constexpr int max_nesting = 100;  // of blocks and brackets in the source
constexpr int max_height = 200;   // of an expression's tree (long chains of operators count)

class Names {
 public:
  int number(const std::string& name) {
    const auto [entry, fresh] = numbers_.try_emplace(name, static_cast<int>(names_.size()));
    if (fresh) names_.push_back(name);
    return entry->second;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_map<std::string, int> numbers_;
  std::vector<std::string> names_;
};

// Counts nesting while it lives.
class Nested {
 public:
  Nested(int& depth, int line) : depth_(depth) {
    if (++depth_ > max_nesting) fail_at(line, errors::jinja_nested(max_nesting));
  }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& depth_;
};

class ExpressionParser {
 public:
  ExpressionParser(TokenStream& tokens, Names& names) : tokens_(tokens), names_(names) {}

  ExpressionPointer expression(bool with_condition = true);
  // Expressions with commas between them are a tuple; `end_name` is a keyword that ends it.
  ExpressionPointer tuple(bool with_condition = true, std::string_view end_name = {});
  // What may stand left of '=' or between `for` and `in`.
  ExpressionPointer target(bool with_namespace, std::string_view end_name = {});
  // The chain of filters of a filter block or a block set (`first` without its '|'); null if there is none.
  ExpressionPointer filter_chain(bool first_is_named);
  int nesting = 0;  // shared with the statements

 private:
  using Parse = ExpressionPointer (ExpressionParser::*)();

  ExpressionPointer make(Operation operation, int line, std::vector<ExpressionPointer> parts = {}) const;
  ExpressionPointer binary(Operation operation, int line, ExpressionPointer left,
                           ExpressionPointer right) const;
  void grow(Expression& e, const Expression& part) const;
  ExpressionPointer condition();
  ExpressionPointer disjunction();
  ExpressionPointer conjunction();
  ExpressionPointer negation();
  ExpressionPointer comparison();
  ExpressionPointer sum();
  ExpressionPointer concatenation();
  ExpressionPointer product();
  ExpressionPointer power();
  ExpressionPointer unary(bool with_filter);
  ExpressionPointer primary(bool with_namespace);
  ExpressionPointer name(bool with_namespace);
  ExpressionPointer tuple_of(bool simple, bool with_condition, std::string_view end_name, bool parentheses,
                             bool with_namespace);
  ExpressionPointer list();
  ExpressionPointer dict();
  ExpressionPointer postfix(ExpressionPointer e);
  ExpressionPointer filters_and_tests(ExpressionPointer e);
  ExpressionPointer subscript(ExpressionPointer e);
  ExpressionPointer index();
  ExpressionPointer call(ExpressionPointer e);
  ExpressionPointer filter(ExpressionPointer e, int line);
  ExpressionPointer test(ExpressionPointer e);
  std::unique_ptr<CallArguments> arguments(Expression& of);
  void argument(CallArguments& a, Expression& of);
  void check_target(const Expression& e) const;

  TokenStream& tokens_;
  Names& names_;
};

}  // namespace fovea::jinja
