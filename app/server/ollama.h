// Ollama's interface: /api/chat, /api/generate, /api/tags, /api/show, /api/ps, /api/version.
#pragma once

#include <chrono>
#include <optional>

#include "app/server/answering.h"
#include "app/server/json_fields.h"

namespace fovea::app {

// Of Ollama's interface, which clients compare with what they need; not Fovea's own.
inline constexpr const char* ollama_interface_version = "0.6.4";

const ParameterKinds& ollama_chat_parameters();
const ParameterKinds& ollama_generate_parameters();
const ParameterKinds& ollama_options();

// "5m", "1h30m", "300", or seconds as a number; below 0: for ever. Nothing: it is no duration.
std::optional<std::chrono::seconds> read_duration(const Json& value);

// What only loads a model, or unloads it, has no messages and no raw prompt.
Result<ChatRequest> read_ollama_chat(const Json& body);
Result<ChatRequest> read_ollama_generate(const Json& body);
bool is_only_loading(const ChatRequest& request);
// Answers that: {"done": true, "done_reason": "load" | "unload"}.
Json ollama_loaded(const ChatRequest& request, const std::string& model, bool chat);

AnswerStyle ollama_chat_style();
AnswerStyle ollama_generate_style();

Json ollama_tags(ServedModels& models, bool only_loaded);
Result<Json> ollama_show(ServedModels& models, const Json& body);

}  // namespace fovea::app
