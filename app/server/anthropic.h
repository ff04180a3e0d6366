// Anthropic's messages: /v1/messages and /v1/messages/count_tokens.
#pragma once

#include "app/server/answering.h"
#include "app/server/json_fields.h"

namespace fovea::app {

const ParameterKinds& anthropic_parameters();
const ParameterKinds& anthropic_count_parameters();

// count_only: max_tokens need not be there.
Result<ChatRequest> read_anthropic(const Json& body, bool count_only = false);
AnswerStyle anthropic_style();

}  // namespace fovea::app
