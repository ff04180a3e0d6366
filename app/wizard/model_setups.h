// The settings' record of how models are opened, and what the engine is asked with.
#pragma once

#include <filesystem>
#include <vector>

#include "app/settings/settings.h"
#include "app/wizard/setup.h"

namespace fovea::app {

ModelSetup kept_setup(const LoadRequest& request);
// Puts it first; one model has one for each device.
void keep_setup(std::vector<ModelSetup>& setups, const LoadRequest& request);
// Changes the request as its model was set up for the request's device; false when it never was.
bool apply_setup(const std::vector<ModelSetup>& setups, LoadRequest& request);

}  // namespace fovea::app
