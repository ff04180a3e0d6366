// What the program finds in fovea_cuda.so (kernels/api/module.h).
#include "kernels/api/module.h"

#include <cuda_runtime_api.h>

#include "kernels/cuda/module/blas.h"
#include "kernels/cuda/module/device.h"
#include "kernels/cuda/module/switches.h"

namespace fovea::kernels::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// A driver serves the modules of its own major version and of older ones.
std::string driver_trouble() {
  int version = 0;
  if (const cudaError_t error = cudaDriverGetVersion(&version); error != cudaSuccess)
    return std::string("the NVIDIA driver cannot be asked for its version: ") + cudaGetErrorString(error);
  if (version == 0) return "there is no NVIDIA driver here";
  if (version / 1000 >= CUDART_VERSION / 1000) return {};
  const char* const wanted = CUDART_VERSION / 1000 == 13 ? "580" : "570";
  return "the NVIDIA driver is too old: it knows CUDA " + version_text(version) + ", this program needs " +
         version_text(CUDART_VERSION) + ", which comes with driver " + wanted;
}

// A device lives as long as the program: streams and memory may be let go while it ends.
ModuleDevice found_device(int ordinal) {
  auto* const device = new CudaDevice(ordinal);
  ModuleDevice found{
      .name = device->name(), .device = nullptr, .facts = device->known_facts(), .reason = device->why_not()};
  if (found.reason.empty()) {
    found.device = device;
  } else {
    delete device;
  }
  return found;
}

void find_devices(ModuleDevices& found) {
  found.reason = driver_trouble();
  if (found.reason.empty()) found.reason = Switches::get().trouble;
  if (found.reason.empty()) found.reason = BlasLibrary::refusal();
  if (!found.reason.empty()) return;
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    found.reason = std::string("the NVIDIA driver finds no GPU: ") + cudaGetErrorString(error);
    return;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) found.devices.push_back(found_device(ordinal));
  if (count == 0) found.reason = "the NVIDIA driver lists no GPU";
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
