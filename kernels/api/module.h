// A module of kernels: a shared library beside the program that is loaded only where its hardware may be. The
// program asks fovea_module_abi() first; what it says must be what the program was built with, since
// everything else that crosses is C++.
#pragma once

#include <string>
#include <vector>

#include "kernels/api/device.h"

namespace fovea::kernels {

struct ModuleDevice {
  std::string name;                // "cuda:0"
  const Device* device = nullptr;  // lives as long as the program; null where it cannot be used
  DeviceFacts facts;
  Obstacle obstacle;  // why it cannot be used
};

struct ModuleDevices {
  std::vector<ModuleDevice> devices;
  Obstacle obstacle;  // why there is none
};

// The names and types of what a module exports.
inline constexpr char module_abi_name[] = "fovea_module_abi";
inline constexpr char module_devices_name[] = "fovea_module_devices";
using ModuleAbi = const char*();
using FindModuleDevices = void(ModuleDevices& found);

}  // namespace fovea::kernels
