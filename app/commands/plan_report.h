// A plan as `fovea plan` prints it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/api/plan.h"

namespace fovea::app {

// prompt_tokens: of the prompt behind which the first token is predicted.
nlohmann::ordered_json plan_json(const LoadPlan& plan, std::int64_t prompt_tokens);
// The same on one line, as the server gives it.
std::string served_plan(const LoadPlan& plan);
extern const char* const plan_keys;  // of that object, for the help
std::string plan_text(const LoadPlan& plan, std::int64_t prompt_tokens);

// Of the plan that does not fit: what is too much, and what would do.
Result<void> check_fits(const LoadPlan& plan);

}  // namespace fovea::app
