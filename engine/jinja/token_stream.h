// The parser's view of the tokens, and what all of its parts need.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/jinja/failure.h"
#include "engine/jinja/lexer.h"
#include "engine/jinja/syntax.h"

namespace fovea::jinja {

constexpr int max_nesting = 100;  // of blocks and brackets in the source
constexpr int max_height = 200;   // of an expression's tree (long chains of operators count)

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  const Token& next() {
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool at(std::string_view symbol) const { return current().is(symbol); }
  bool at_name(std::string_view name) const { return current().is_name(name); }
  bool at(TokenType type) const { return current().type == type; }
  bool skip(std::string_view symbol) { return at(symbol) && (next(), true); }
  bool skip_name(std::string_view name) { return at_name(name) && (next(), true); }

  void expect(std::string_view symbol) {
    if (!skip(symbol)) unexpected("'" + std::string(symbol) + "'");
  }
  void expect_name(std::string_view name) {
    if (!skip_name(name)) unexpected("'" + std::string(name) + "'");
  }
  void expect(TokenType type) {
    if (!at(type)) unexpected(describe(type));
    next();
  }
  std::string expect_any_name() {
    if (!at(TokenType::name)) unexpected("a name");
    return next().text;
  }

  [[noreturn]] void unexpected(const std::string& wanted) const {
    fail_at(current().line, "found " + describe(current()) + ", expected " + wanted);
  }

  static std::string describe(TokenType type) {
    switch (type) {
      case TokenType::data:
        return "text";
      case TokenType::variable_begin:
        return "'{{'";
      case TokenType::variable_end:
        return "'}}'";
      case TokenType::block_begin:
        return "'{%'";
      case TokenType::block_end:
        return "'%}'";
      case TokenType::name:
        return "a name";
      case TokenType::text:
        return "a string";
      case TokenType::integer:
      case TokenType::real:
        return "a number";
      case TokenType::symbol:
        return "a symbol";
      case TokenType::end:
        return "the end of the template";
    }
    return "?";
  }
  static std::string describe(const Token& token) {
    const bool shown = token.type == TokenType::name || token.type == TokenType::symbol;
    return shown ? "'" + token.text + "'" : describe(token.type);
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

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
    if (++depth_ > max_nesting)
      fail_at(line, "nested more than " + std::to_string(max_nesting) + " levels deep");
  }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& depth_;
};

}  // namespace fovea::jinja
