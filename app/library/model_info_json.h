// What a model holds, as JSON: what `fovea inspect --json` prints and the library's cache keeps.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/api/model_info.h"

namespace fovea::app {

nlohmann::ordered_json as_json(const ModelInfo& info);
// Fields that are missing or of another kind stay empty; so does `conversion`, written as a sentence.
ModelInfo as_model_info(const nlohmann::ordered_json& object);

}  // namespace fovea::app
