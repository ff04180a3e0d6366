// A call that is required: what must be written of it, in the syntax of the model's family, and between that
// which function it is and its arguments, under the function's schema.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/chat/form_masks.h"
#include "engine/chat/tool_calls.h"
#include "engine/grammar/matcher.h"

namespace fovea::chat {

struct CallForm {
  std::vector<TokenId> opening;                                 // then one of the names, …
  std::shared_ptr<grammar::TokenMasks> names;                   // each with what follows it as text
  std::vector<std::string> spelled;                             // of each function: what the masks allow
  std::vector<TokenId> middle;                                  // … then this, …
  std::vector<std::shared_ptr<grammar::TokenMasks>> arguments;  // … then those of that function, …
  std::vector<TokenId> closing;                                 // … then this

  std::int64_t longest_arguments() const;  // tokens that suffice for the arguments of any function
};

// `required`: the function's name; empty: any of them. A model of Qwen's tags is held to their JSON.
// ErrorKind:: unsupported for Gemma's syntax, whose arguments are no JSON, and where a schema is not
// supported.
Result<CallForm> call_form(const ToolSet& tools, const std::string& required, CallSyntax syntax,
                           const text::Tokenizer& tokenizer, FormMasks& forms);

}  // namespace fovea::chat
