// What a model should be asked with, by its info: sampling defaults differ between models.
#pragma once

#include <functional>

#include "engine/api/model_info.h"
#include "engine/api/request.h"

namespace fovea::app {

using RequestDefaults = std::function<GenerateRequest(const ModelInfo&)>;

}  // namespace fovea::app
