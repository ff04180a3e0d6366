// Calls as grammars: what a model writes of them, in the syntax of its family, each of a function that there
// is and with its arguments under the function's schema.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/api/request.h"
#include "engine/chat/call_reader.h"
#include "engine/chat/form_masks.h"
#include "engine/grammar/matcher.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

// Where such a grammar begins and what it may be of.
enum class CallForm : std::uint8_t {
  required,          // an answer that is one call; of harmony from its role on
  begun,             // from the token on that begins a call (call_opening()), to its end
  begun_in_role,     // of harmony, from "to=" on: in a head's role …
  begun_in_channel,  // … or behind its channel's name
  behind_channel     // of harmony, from behind the mark of its channel on
};

// The control token that begins a call and nothing else; -1: there is none, as in Llama's and harmony's
// syntax.
TokenId call_opening(CallSyntax syntax, const text::Tokenizer& tokenizer);

// `required`: the function's name; empty: any of them. With Qwen's tags a call that is required is in their
// JSON. ErrorKind::unsupported where a schema is not supported: but in a call that the model chooses to make,
// whose arguments are then any object.
Result<std::shared_ptr<grammar::TokenMasks>> call_masks(CallForm form, const CallReading& calls,
                                                        const std::string& required,
                                                        const text::Tokenizer& tokenizer, FormMasks& forms);

// An answer of a form, or calls, of any syntax but harmony's.
Result<std::shared_ptr<grammar::TokenMasks>> form_or_calls(const AnswerForm& form, const CallReading& calls,
                                                           const text::Tokenizer& tokenizer,
                                                           FormMasks& forms);

}  // namespace fovea::chat
