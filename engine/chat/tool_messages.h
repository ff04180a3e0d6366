// A conversation with calls as chat templates read it: calls in their own field, each with an id, and who
// answers which.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/api/text.h"
#include "engine/chat/tool_calls.h"

namespace fovea::chat {

struct CalledMessage {
  Message message;              // an assistant's without its calls
  std::vector<ToolCall> calls;  // each with an id
};

// `later`: as answer_parts() has it. `syntax`: nothing leaves calls in the text. Mistral's templates want ids
// of nine letters and digits, and get those; harmony's and Llama's take one call a message, so that several
// become messages of their own, each before its answer.
std::vector<CalledMessage> called_messages(const std::vector<Message>& messages, bool later,
                                           std::optional<CallSyntax> syntax);

}  // namespace fovea::chat
