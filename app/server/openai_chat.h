// OpenAI's chat completions: /v1/chat/completions.
#pragma once

#include "app/server/answering.h"
#include "app/server/json_fields.h"

namespace fovea::app {

const ParameterKinds& openai_chat_parameters();

Result<ChatRequest> read_openai_chat(const Json& body);
AnswerStyle openai_chat_style();

// Shared with the other endpoints of OpenAI.
// One of OpenAI's messages as the engine has it; the names of earlier calls are found by their ids.
void read_openai_messages(const Json& messages, std::optional<Error>& error, std::vector<Message>& into);

}  // namespace fovea::app
