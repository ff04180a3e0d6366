// Text files that go into the prompt with a message.
#pragma once

#include <string>
#include <vector>

#include "app/history/types.h"
#include "engine/api/error.h"

namespace fovea::app {

inline constexpr std::int64_t attachment_limit_bytes = 8 << 20;

// A text file in UTF-8 (a byte order mark is left out). Anything else is refused by name.
Result<history::Attachment> read_attachment(const std::string& path);

// What the model reads of a user's message: each file under its name, then the message.
std::string prompt_text(const std::string& message, const std::vector<history::Attachment>& attachments);

}  // namespace fovea::app
