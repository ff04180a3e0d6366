// One moment as text, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/top/top_model.h"

namespace fovea::app {

// What the screen shows, as wide, with each layer in a row of its own.
std::string top_text(const TopModel& model, const std::string& source, int columns);

// The keys of `fovea top --json`.
nlohmann::ordered_json top_json(const TopModel& model, const std::string& source);

}  // namespace fovea::app
