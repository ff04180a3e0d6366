#include "engine/grammar/grammar.h"

#include "engine/core/result.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/rules.h"
#include "engine/text/utf8.h"

namespace fovea::grammar {
namespace {

Result<void> check_text(std::string_view text, const Phrase& where) {
  if (text.size() > Limits::text_bytes) return fail(where, errors::grammar_text_too_long(Limits::text_bytes));
  if (text::valid_utf8_prefix(text) != text.size()) return fail(where, errors::grammar_not_utf8());
  return {};
}

}  // namespace

Result<Draft> draft_of(Notation notation, std::string_view text, const Phrase& where,
                       const Spelling& spelling) {
  FOVEA_CHECK(check_text(text, where));
  if (notation == Notation::gbnf) return draft_of_gbnf(text, where);
  if (notation == Notation::json_schema) return draft_of_json_schema(text, where, spelling);
  Draft draft;
  draft.add_rule("root");
  FOVEA_TRY(draft.rules[0].automaton, automaton_of_pattern(text, true, draft.sets, where));
  return draft;
}

Result<Grammar> Grammar::of(Result<Rules> rules) {
  if (!rules) return std::unexpected(std::move(rules).error());
  return Grammar(std::make_shared<const Rules>(*std::move(rules)));
}

Result<Grammar> Grammar::from(Notation notation, std::string_view text, const Phrase& where) {
  FOVEA_TRY(const Draft draft, draft_of(notation, text, where));
  return of(compile(draft, where));
}

Result<Grammar> Grammar::from_gbnf(std::string_view text, const Phrase& where) {
  return from(Notation::gbnf, text, where);
}

Result<Grammar> Grammar::from_regex(std::string_view text, const Phrase& where) {
  return from(Notation::regex, text, where);
}

Result<Grammar> Grammar::from_json_schema(std::string_view text, const Phrase& where) {
  return from(Notation::json_schema, text, where);
}

}  // namespace fovea::grammar
