// How a model likes to be sampled when the user does not say.
#pragma once

#include "engine/api/model_info.h"
#include "engine/api/request.h"
#include "engine/api/sentence.h"

namespace fovea::app {

struct SamplingDefaults {
  SamplingSettings sampling = {};
  Phrase source;  // where they come from, shown to the user
};

// From generation_config.json in a model's folder; else what suits the model's size.
SamplingDefaults sampling_defaults(const ModelInfo& info);

}  // namespace fovea::app
