// The devices that a plan is for, as JSON: of the server's /props and of fovea plan.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/api/plan.h"

namespace fovea::app {

// Of each name, layers, total_bytes and budget_bytes; of two cards the one with the first layers first.
// `layers`: of the model; 0: not known, and then only those of the first of two cards are told.
nlohmann::ordered_json devices_json(const LoadPlan& plan, std::int64_t layers = 0);

}  // namespace fovea::app
