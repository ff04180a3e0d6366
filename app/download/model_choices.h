// What can be chosen in a repository: its GGUF files by quantisation, parts together, or the whole folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/download/hub_types.h"
#include "engine/api/error.h"

namespace fovea::app {

// Sorted by size, smallest first. Files that are no model of text by themselves (mmproj, imatrix) are left
// out.
std::vector<ModelChoice> model_choices(const HubRepository& repository);

// "Q4_K_M" of "Qwen3-30B-A3B-UD-Q4_K_M.gguf" with "UD-" before it where it stands there; empty: it does not
// say.
std::string quantization_in(std::string_view file_name);

// What a user writes after the repository: a quantisation, a file (any part of a split one), or a choice's
// name; upper and lower case are the same. Nothing written means the only choice. Otherwise the error lists
// what there is.
Result<ModelChoice> choose(const HubRepository& repository, const std::string& wanted);

}  // namespace fovea::app
