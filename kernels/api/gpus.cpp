#include "kernels/api/gpus.h"

#include <cstring>

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace fovea::kernels {

#if defined(__linux__)

namespace {

using Kind = Obstacle::Kind;

ModuleDevices none(Kind kind, std::vector<std::string> names, std::string said = {}) {
  return {.devices = {}, .obstacle = {.kind = kind, .names = std::move(names), .said = std::move(said)}};
}

std::string last_error() {
  const char* const text = dlerror();
  return text == nullptr ? "" : text;
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
    return none(Kind::no_driver, {}, last_error());
  std::filesystem::path module;
  std::vector<std::string> looked;
  for (const std::filesystem::path& path : paths) {
    std::error_code error;
    if (module.empty() && std::filesystem::exists(path, error)) module = path;
    looked.push_back(path.string());
  }
  if (module.empty()) return none(Kind::no_module, std::move(looked));
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return none(Kind::unloadable_module, {}, last_error());
  auto* const abi = find<ModuleAbi>(library, module_abi_name);
  auto* const devices = find<FindModuleDevices>(library, module_devices_name);
  if (abi == nullptr || devices == nullptr) return none(Kind::foreign_module, {module.string()});
  if (std::strcmp(abi(), FOVEA_KERNELS_ABI) != 0)
    return none(Kind::other_build, {module.string(), abi(), FOVEA_KERNELS_ABI});
  ModuleDevices found;
  devices(found);
  if (found.devices.empty() && found.obstacle.empty()) found.obstacle.kind = Kind::no_device;
  return found;
}

const ModuleDevices& gpus() {
  static const ModuleDevices found = load_module("libcuda.so.1", usual_paths());
  return found;
}

#else

ModuleDevices load_module(const std::string&, std::span<const std::filesystem::path>) {
  return {.devices = {}, .obstacle = {.kind = Obstacle::Kind::other_system}};
}
const ModuleDevices& gpus() {
  static const ModuleDevices found = load_module({}, {});
  return found;
}

#endif

}  // namespace fovea::kernels
