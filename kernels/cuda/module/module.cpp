// What the program finds in fovea_cuda.so (kernels/api/module.h).
#include "kernels/api/module.h"

#include <cuda_runtime_api.h>

#include "kernels/cuda/module/blas.h"
#include "kernels/cuda/module/device.h"
#include "kernels/cuda/module/switches.h"

namespace fovea::kernels::cuda {
namespace {

using Kind = Obstacle::Kind;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// A driver serves the modules of its own major version and of older ones.
Obstacle of_the_driver() {
  int version = 0;
  if (const cudaError_t error = cudaDriverGetVersion(&version); error != cudaSuccess)
    return {.kind = Kind::silent_driver, .said = cudaGetErrorString(error)};
  if (version == 0) return {.kind = Kind::no_driver};
  if (version / 1000 >= CUDART_VERSION / 1000) return {};
  const char* const wanted = CUDART_VERSION / 1000 == 13 ? "580" : "570";
  return {.kind = Kind::old_driver, .names = {version_text(version), version_text(CUDART_VERSION), wanted}};
}

// A device lives as long as the program: streams and memory may be let go while it ends.
ModuleDevice found_device(int ordinal) {
  auto* const device = new CudaDevice(ordinal);
  ModuleDevice found{.name = device->name(),
                     .device = nullptr,
                     .facts = device->known_facts(),
                     .obstacle = device->why_not()};
  if (found.obstacle.empty()) {
    found.device = device;
  } else {
    delete device;
  }
  return found;
}

void find_devices(ModuleDevices& found) {
  found.obstacle = of_the_driver();
  if (found.obstacle.empty()) found.obstacle = Switches::get().obstacle;
  if (found.obstacle.empty()) found.obstacle = BlasLibrary::refusal();
  if (!found.obstacle.empty()) return;
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    found.obstacle = {.kind = Kind::no_device_found, .said = cudaGetErrorString(error)};
    return;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) found.devices.push_back(found_device(ordinal));
  if (count == 0) found.obstacle = {.kind = Kind::no_device};
}

}  // namespace
}  // namespace fovea::kernels::cuda

extern "C" {

[[gnu::visibility("default")]] const char* fovea_module_abi() {
  return FOVEA_KERNELS_ABI;
}

[[gnu::visibility("default")]] void fovea_module_devices(fovea::kernels::ModuleDevices& found) {
  fovea::kernels::cuda::find_devices(found);
}
}
