// Grammars that are put together from texts, control tokens and other grammars.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/grammar/automaton.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/grammar.h"

namespace fovea::grammar {

// How a control token is spelled for grammars, and in the vocabulary that they are matched with: no other
// token and no text has bytes like these.
std::string control_spelling(std::string_view name);

class Composer {
 public:
  Composer() { draft_.add_rule("root"); }

  Expression text(std::string_view text);  // valid UTF-8
  // name: in ASCII
  Expression control(std::string_view name);
  Expression text_without(std::string_view mark);  // as the function has it
  // What a grammar or a schema allows. The spelling is a schema's.
  Result<Expression> part(Notation notation, std::string_view text, const Phrase& where,
                          const Spelling& spelling = {});
  static Expression sequence(std::vector<Expression> parts);
  static Expression any_of(std::vector<Expression> parts);
  static Expression optional(Expression what);

  // Errors as Grammar's.
  Result<Grammar> grammar(const Expression& root, const Phrase& where) &&;

 private:
  Draft draft_;
};

}  // namespace fovea::grammar
