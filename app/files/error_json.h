// An error in a file of the program's own, so that it can be said in the window's language later.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/api/error.h"

namespace fovea::app {

nlohmann::ordered_json as_json(const Error& error);

// Nothing where `json` is no object. An unknown kind is ErrorKind::internal, a missing text is empty.
std::optional<Error> as_error(const nlohmann::ordered_json& json);

}  // namespace fovea::app
