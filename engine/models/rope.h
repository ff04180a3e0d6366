// The rotary part of a configuration.
#pragma once

#include "engine/models/families.h"

namespace fovea::models {

// From GGUF's rope.* keys and rope_freqs tensor; from config.json's rope_parameters (transformers 5) or
// rope_theta and rope_scaling (transformers 4); which layer has which table as well.
Result<void> read_rope(const Keys&, const checkpoint::Checkpoint&, const Family&, ModelConfig&);

}  // namespace fovea::models
