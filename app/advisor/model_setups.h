// The settings' record of how models are opened, and what the engine is asked with.
#pragma once

#include <vector>

#include "engine/api/load_options.h"

namespace fovea::app {

// Puts what setup_of() names of it first; one model has one for each device.
void keep_setup(std::vector<LoadOptions>& setups, const LoadOptions& options);
// Changes the options as their model was set up for their device; false when it never was.
bool apply_setup(const std::vector<LoadOptions>& setups, LoadOptions& options);

}  // namespace fovea::app
