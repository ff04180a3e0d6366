#include "engine/grammar/composer.h"

#include <utility>

#include "engine/core/result.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/rules.h"

namespace fovea::grammar {

std::string control_spelling(std::string_view name) {
  std::string spelling(1, static_cast<char>(control_mark));
  spelling += name;
  return spelling += static_cast<char>(control_mark);
}

Expression Composer::text(std::string_view text) {
  Expression sequence;
  for (std::size_t at = 0; at < text.size();)
    sequence.parts.push_back(Expression::of_characters(draft_.sets.intern(take_code_point(text, at))));
  return sequence;
}

Expression Composer::control(std::string_view name) {
  Expression spelled = text(name);
  const Expression mark{Expression::Kind::byte, control_mark, 0, 0, {}};
  spelled.parts.insert(spelled.parts.begin(), mark);
  spelled.parts.push_back(mark);
  return spelled;
}

Expression Composer::text_without(std::string_view mark) {
  const std::uint32_t rule = draft_.add_rule("text");
  draft_.rules[rule].automaton = grammar::text_without(draft_.sets, mark);
  return Expression::of_call(rule);
}

Result<Expression> Composer::part(Notation notation, std::string_view text, const Phrase& where,
                                  const Spelling& spelling) {
  FOVEA_TRY(const Draft draft, draft_of(notation, text, where, spelling));
  if (draft_.rules.size() + draft.rules.size() > Limits::rules)
    return std::unexpected(errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges).at(where));
  return Expression::of_call(draft_.append(draft));
}

Expression Composer::sequence(std::vector<Expression> parts) {
  return {Expression::Kind::sequence, 0, 0, 0, std::move(parts)};
}

Expression Composer::any_of(std::vector<Expression> parts) {
  return {Expression::Kind::alternatives, 0, 0, 0, std::move(parts)};
}

Expression Composer::optional(Expression what) {
  return Expression::of_repetition(std::move(what), 0, 1);
}

Result<Grammar> Composer::grammar(const Expression& root, const Phrase& where) && {
  Automaton& automaton = draft_.rules[0].automaton;
  const std::uint32_t end = automaton.add_state();
  automaton.states[end].accepting = true;
  if (!connect(automaton, 0, root, end))
    return std::unexpected(errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges).at(where));
  return Grammar::of(compile(draft_, where));
}

}  // namespace fovea::grammar
