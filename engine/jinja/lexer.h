// From a template's source to tokens, with trim_blocks and lstrip_blocks on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace fovea::jinja
