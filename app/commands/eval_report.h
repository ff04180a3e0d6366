// What `fovea eval` prints of runs and comparisons.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/api/tasks.h"

namespace fovea::app {

enum class TableForm : std::uint8_t { plain, markdown };

// A table of scores; those of parts only where they are asked for, or were asked for by name.
std::string score_table(const std::vector<TaskScore>& scores, TableForm form, bool parts);
nlohmann::ordered_json score_json(const std::vector<TaskScore>& scores);

// A table of what differs, and a sentence that says what the second run loses and gains.
std::string comparison_table(const std::vector<TaskComparison>& comparisons, TableForm form);
std::string comparison_sentence(const std::vector<TaskComparison>& comparisons);
nlohmann::ordered_json comparison_json(const std::vector<TaskComparison>& comparisons);

// What there is to choose from.
std::string task_table();
nlohmann::ordered_json task_json();

}  // namespace fovea::app
