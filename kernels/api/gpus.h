// GPUs: the devices of the module fovea_cuda.so, which lies beside the program or in its lib/fovea folder.
#pragma once

#include <filesystem>
#include <span>

#include "kernels/api/module.h"

namespace fovea::kernels {

// Looks once, at the first call; from then on the same. Takes a moment where there is a driver.
const ModuleDevices& gpus();

// The same from elsewhere: the driver's library, without which no module is loaded, and where the module
// may lie; the first that is there counts. What was loaded stays loaded.
ModuleDevices load_module(const std::string& driver, std::span<const std::filesystem::path> paths);

}  // namespace fovea::kernels
