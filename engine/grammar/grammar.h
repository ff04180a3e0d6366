// What an answer must look like: compiled once, immutable, shared by copies.
#pragma once

#include <memory>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::grammar {

struct Rules;

class Grammar {
 public:
  // llama.cpp's notation; the answer is the rule "root".
  static Result<Grammar> from_gbnf(std::string_view text, const Phrase& where);
  // A regular expression of ECMAScript, as JSON Schema's "pattern" has it, for the whole answer.
  static Result<Grammar> from_regex(std::string_view text, const Phrase& where);
  // JSON text that is valid under a schema of JSON Schema 2020-12. docs/grammar.md says what of it is
  // supported.
  static Result<Grammar> from_json_schema(std::string_view text, const Phrase& where);

  const Rules& rules() const { return *rules_; }

 private:
  explicit Grammar(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  static Result<Grammar> of(Result<Rules> rules);

  std::shared_ptr<const Rules> rules_;
};

}  // namespace fovea::grammar
