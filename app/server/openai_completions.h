// OpenAI's older interface, a prompt as it stands: /v1/completions.
#pragma once

#include "app/server/answering.h"
#include "app/server/json_fields.h"

namespace fovea::app {

const ParameterKinds& openai_completions_parameters();
Result<ChatRequest> read_openai_completion(const Json& body);
AnswerStyle openai_completions_style();

}  // namespace fovea::app
