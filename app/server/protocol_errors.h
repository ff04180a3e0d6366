// Errors as each protocol has them, with their status. Clients are not told where files lie on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/server/http.h"
#include "app/server/json_fields.h"
#include "engine/api/error.h"

namespace fovea::app {

enum class Dialect : std::uint8_t { openai, anthropic, ollama };

// By the path that was asked for; OpenAI's where nothing else is known of it.
Dialect dialect_of(std::string_view path);

int status_of(const Error& error);
Json error_json(Dialect dialect, const Error& error);
HttpResponse error_response(Dialect dialect, const Error& error);
// Of the server's own refusals, which no Error stands for.
HttpResponse refusal_response(Dialect dialect, int status, std::string_view what);

HttpResponse json_response(const Json& json);

}  // namespace fovea::app
