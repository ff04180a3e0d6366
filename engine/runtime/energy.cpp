#include "engine/runtime/energy.h"

#include <algorithm>
#include <fstream>
#include <string>

#if defined(__linux__)
#include <dlfcn.h>
#include <unistd.h>
#endif

namespace fovea::runtime {
namespace {

std::optional<std::int64_t> count_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value && value >= 0) return value;
  return std::nullopt;
}

// "package-0" and the memory below it ("dram"); not the cores, which the package counts, nor the whole
// machine, which counts both.
bool is_counted(const std::filesystem::path& folder) {
  std::ifstream file(folder / "name");
  std::string name;
  return std::getline(file, name) && (name.starts_with("package") || name == "dram");
}

}  // namespace

// --- NVML, as its documentation gives it (NVIDIA Management Library API, version 12)

#if defined(__linux__)

class EnergyMeter::Gpu {
 public:
  // Null where there is no library, or where it does not say which GPU is this process's.
  static std::unique_ptr<Gpu> find() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    std::unique_ptr<Gpu> gpu(new Gpu);
    const auto load = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    int (*init)() = nullptr;
    int (*count_of)(unsigned*) = nullptr;
    int (*device_of)(unsigned, void**) = nullptr;
    int (*processes_of)(void*, unsigned*, Process*) = nullptr;
    if (!load("nvmlInit_v2", init) || !load("nvmlDeviceGetCount_v2", count_of) ||
        !load("nvmlDeviceGetHandleByIndex_v2", device_of) ||
        !load("nvmlDeviceGetTotalEnergyConsumption", gpu->energy_of_) || init() != 0)
      return nullptr;
    unsigned count = 0;
    if (count_of(&count) != 0 || count == 0) return nullptr;
    if (count > 1 && !load("nvmlDeviceGetComputeRunningProcesses_v3", processes_of)) return nullptr;
    for (unsigned index = 0; index < count; ++index) {
      void* device = nullptr;
      if (device_of(index, &device) != 0) continue;
      if (count > 1 && !uses(processes_of, device)) continue;
      gpu->device_ = device;
      const std::optional<double> begin = gpu->total();
      if (!begin) return nullptr;
      gpu->begin_ = *begin;
      return gpu;
    }
    return nullptr;
  }

  std::optional<double> joules() const {
    const std::optional<double> now = total();
    return now ? std::optional(*now - begin_) : std::nullopt;
  }

 private:
  struct Process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned instance, compute_instance;
  };

  static bool uses(int (*processes_of)(void*, unsigned*, Process*), void* device) {
    std::vector<Process> processes(256);
    auto count = static_cast<unsigned>(processes.size());
    if (processes_of(device, &count, processes.data()) != 0) return false;
    processes.resize(std::min<std::size_t>(count, processes.size()));
    return std::ranges::any_of(
        processes, [](const Process& each) { return each.pid == static_cast<unsigned>(getpid()); });
  }

  std::optional<double> total() const {
    unsigned long long millijoules = 0;
    if (energy_of_(device_, &millijoules) != 0) return std::nullopt;
    return 1e-3 * static_cast<double>(millijoules);
  }

  void* device_ = nullptr;
  int (*energy_of_)(void*, unsigned long long*) = nullptr;
  double begin_ = 0;
};

#else

class EnergyMeter::Gpu {
 public:
  static std::unique_ptr<Gpu> find() { return nullptr; }
  std::optional<double> joules() const { return std::nullopt; }
};

#endif

EnergyMeter::EnergyMeter(bool with_gpu, const std::filesystem::path& root)
    : gpu_(with_gpu ? Gpu::find() : nullptr), with_gpu_(with_gpu) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root / "sys/class/powercap", error)) {
    const std::filesystem::path& folder = entry.path();
    if (!folder.filename().string().starts_with("intel-rapl:") || !is_counted(folder)) continue;
    const std::optional<std::int64_t> now = count_in(folder / "energy_uj");
    if (!now) continue;
    counters_.push_back({.file = folder / "energy_uj",
                         .range = count_in(folder / "max_energy_range_uj").value_or(0),
                         .last = *now});
  }
}

EnergyMeter::~EnergyMeter() = default;

std::optional<double> EnergyMeter::joules() {
  const std::lock_guard lock(mutex_);
  std::optional<double> of_gpu = gpu_ ? gpu_->joules() : std::nullopt;
  if (with_gpu_ ? !of_gpu : counters_.empty()) return std::nullopt;
  double sum = of_gpu.value_or(0);
  for (Counter& counter : counters_) {
    const std::optional<std::int64_t> now = count_in(counter.file);
    if (!now) return std::nullopt;
    counter.sum += *now >= counter.last ? *now - counter.last : *now + counter.range - counter.last;
    counter.last = *now;
    sum += 1e-6 * static_cast<double>(counter.sum);
  }
  return sum;
}

}  // namespace fovea::runtime
