// An error in a file of the program's own, so that it can be said in the window's language later.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "engine/api/error.h"

namespace fovea::app {

// Every code of the program, by its id.
std::span<const Code> error_table();

nlohmann::ordered_json as_json(const Error& error);

// Nothing where `json` is no object, or says what no code of this version does.
std::optional<Error> as_error(const nlohmann::ordered_json& json);

}  // namespace fovea::app
