// The module of a machine with two cards, which are none: the processor computes, in memory that the host
// cannot touch.
#include "kernels/api/module.h"

#include "kernels/cpu/device.h"
#include "tests/engine/models/apart_device.h"

namespace {

using fovea::kernels::DeviceFacts;
using fovea::kernels::ModuleDevice;

// As long as the program lives.
ModuleDevice card(std::string name, DeviceFacts facts) {
  static const fovea::kernels::Device& processor = *fovea::kernels::cpu::default_device();
  const auto* const device = new fovea::tests::ApartDevice(processor, name, facts);
  return {.name = std::move(name), .device = device, .facts = std::move(facts), .obstacle = {}};
}

}  // namespace

extern "C" const char* fovea_module_abi() {
  return FOVEA_KERNELS_ABI;
}

extern "C" void fovea_module_devices(fovea::kernels::ModuleDevices& found) {
  found.devices.push_back(card("cuda:0", {.description = "NVIDIA GeForce RTX 5090",
                                          .memory_bytes = 34'190'917'632,
                                          .memory_free_bytes = 32'400'000'000,
                                          .bandwidth_gb_per_s = 1792}));
  found.devices.push_back(card("cuda:1", {.description = "NVIDIA RTX A6000",
                                          .memory_bytes = 51'527'024'640,
                                          .memory_free_bytes = 50'100'000'000,
                                          .bandwidth_gb_per_s = 768}));
}
