#include "kernels/api/gpus.h"

#include <cstring>

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace fovea::kernels {

#if defined(__linux__)

namespace {

ModuleDevices none(std::string reason) {
  return {.devices = {}, .reason = std::move(reason)};
}

std::string last_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::vector<std::filesystem::path> usual_paths() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path folder = program.parent_path();
  return {folder / "fovea_cuda.so", folder.parent_path() / "lib/fovea/fovea_cuda.so"};
}

}  // namespace

ModuleDevices load_module(const std::string& driver, std::span<const std::filesystem::path> paths) {
  if (dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    return none("there is no NVIDIA driver here (" + last_error() + ")");
  std::filesystem::path module;
  std::string looked;
  for (const std::filesystem::path& path : paths) {
    std::error_code error;
    if (module.empty() && std::filesystem::exists(path, error)) module = path;
    looked += (looked.empty() ? "" : ", ") + path.string();
  }
  if (module.empty())
    return none("this program was built without its GPU module (it would be one of " + looked +
                "); build it again where nvcc is, see README.md");
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return none("the GPU module cannot be loaded: " + last_error());
  auto* const abi = find<ModuleAbi>(library, module_abi_name);
  auto* const devices = find<FindModuleDevices>(library, module_devices_name);
  if (abi == nullptr || devices == nullptr) return none(module.string() + " is no module of Fovea");
  if (std::strcmp(abi(), FOVEA_KERNELS_ABI) != 0)
    return none(module.string() + " is of another build (" + abi() +
                ", expected " FOVEA_KERNELS_ABI "); build or install both together");
  ModuleDevices found;
  devices(found);
  if (found.devices.empty() && found.reason.empty()) found.reason = "the driver lists no GPU";
  return found;
}

const ModuleDevices& gpus() {
  static const ModuleDevices found = load_module("libcuda.so.1", usual_paths());
  return found;
}

#else

ModuleDevices load_module(const std::string&, std::span<const std::filesystem::path>) {
  return {.devices = {}, .reason = "GPUs are used on Linux only"};
}
const ModuleDevices& gpus() {
  static const ModuleDevices found = load_module({}, {});
  return found;
}

#endif

}  // namespace fovea::kernels
