// Conversations in JSON values, one at a time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/history/types.h"
#include "engine/api/error.h"

namespace fovea::app::history {

nlohmann::ordered_json json_of(const Archive& archive);

// One conversation of our own JSON. The error has no place.
Result<Archive> archive_of(const nlohmann::ordered_json& value);
// One element of ChatGPT's conversations.json: its mapping of nodes becomes a tree without the hidden ones.
Result<Archive> archive_of_chatgpt(const nlohmann::ordered_json& value);

// A member's value, or empty / 0 when it is missing or of another type.
std::string string_in(const nlohmann::ordered_json& object, const char* key);
std::int64_t integer_in(const nlohmann::ordered_json& object, const char* key);

}  // namespace fovea::app::history
