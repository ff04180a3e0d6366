// A module with one device that can be used and one that cannot.
#include "kernels/api/module.h"
#include "kernels/reference/device.h"

extern "C" const char* fovea_module_abi() {
  return PLANTED_ABI;
}

extern "C" void fovea_module_devices(fovea::kernels::ModuleDevices& found) {
  found.devices = {
      {.name = "planted:0", .device = &fovea::kernels::reference::device(), .facts = {}, .obstacle = {}},
      {.name = "planted:1",
       .device = nullptr,
       .facts = {},
       .obstacle = {.kind = fovea::kernels::Obstacle::Kind::architecture, .names = {"old", "new"}}}};
}
