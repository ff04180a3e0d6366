// What the front ends make of a text; errors are as Grammar's.
#pragma once

#include <string_view>

#include "engine/api/error.h"
#include "engine/grammar/automaton.h"
#include "engine/grammar/grammar.h"

namespace fovea::grammar {

// Of a text from outside.
Result<Draft> draft_of(Notation notation, std::string_view text, const Phrase& where,
                       const Spelling& spelling = {});

Result<Draft> draft_of_gbnf(std::string_view text, const Phrase& where);
Result<Draft> draft_of_json_schema(std::string_view text, const Phrase& where, const Spelling& spelling);

// A regular expression of ECMAScript over code points, without epsilon. whole: it is the whole text;
// otherwise it may stand anywhere in it.
Result<Automaton> automaton_of_pattern(std::string_view text, bool whole, CharacterSets& sets,
                                       const Phrase& where);

}  // namespace fovea::grammar
