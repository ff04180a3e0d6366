// What an answer must look like: compiled once, immutable, shared by copies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::grammar {

struct Rules;

enum class Notation : std::uint8_t { gbnf, regex, json_schema };

// How the values of a schema are written.
struct Spelling {
  // What strings stand between. Empty: all is JSON. Else names are bare, strings have no escapes, and there
  // is no white space, as in Gemma's calls. Its first character stands in it once.
  std::string quote = {};
  bool is_control = false;  // the quote is a control token
};

class Grammar {
 public:
  static Result<Grammar> from(Notation notation, std::string_view text, const Phrase& where);
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
  friend class Composer;
  static Result<Grammar> of(Result<Rules> rules);

  std::shared_ptr<const Rules> rules_;
};

}  // namespace fovea::grammar
