// Log-probabilities as OpenAI's interfaces have them.
#pragma once

#include <vector>

#include "app/server/json_fields.h"
#include "engine/api/request.h"

namespace fovea::app {

// [{"token", "logprob", "bytes", "top_logprobs": [{"token", "logprob", "bytes"}]}]
Json choices_json(const std::vector<TokenChoice>& choices, const TextModel& text);

// The older form: {"tokens", "token_logprobs", "top_logprobs", "text_offset"}. offset: of the first, in bytes
// of the tokens; then of what follows them.
Json choices_by_column(const std::vector<TokenChoice>& choices, const TextModel& text, std::size_t& offset);

}  // namespace fovea::app
