// From a template's source to tokens, with trim_blocks and lstrip_blocks on, and the parser's way through
// them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/jinja/syntax.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

enum class TokenType : std::uint8_t {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  text,
  integer,
  real,
  symbol,
  end
};

Phrase phrase_of(TokenType);

struct Token {
  TokenType type = TokenType::end;
  int line = 1;
  std::string text;  // data, name, the symbol; a string literal's content without its escapes
  Value value;       // of a number

  bool is(std::string_view symbol) const { return type == TokenType::symbol && text == symbol; }
  bool is_name(std::string_view name) const { return type == TokenType::name && text == name; }
};

// Ends with a token of type `end`. Throws Failure.
std::vector<Token> tokenize(std::string_view source);

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
    if (!skip(symbol)) unexpected(phrases::jinja_token(symbol));
  }
  void expect_name(std::string_view name) {
    if (!skip_name(name)) unexpected(phrases::jinja_token(name));
  }
  void expect(TokenType type);
  std::string expect_any_name() {
    if (!at(TokenType::name)) unexpected(phrases::jinja_name());
    return next().text;
  }

  [[noreturn]] void unexpected(Phrase wanted) const {
    fail_at(current().line, errors::jinja_unexpected(describe(current()), std::move(wanted)));
  }

  static Phrase describe(const Token& token);

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace fovea::jinja
