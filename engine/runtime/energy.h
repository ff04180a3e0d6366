// What the processor and the GPU took, where the system tells it: by Intel's and AMD's running average power
// limit counters (RAPL, /sys/class/powercap), and by NVIDIA's management library (NVML). Both count all
// programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace fovea::runtime {

class EnergyMeter {
 public:
  // Looks below `root` for the processor's counters; `with_gpu`: also for the GPU that this process uses.
  // Counters that may not be read (most systems leave the processor's to root) are left out.
  explicit EnergyMeter(bool with_gpu, const std::filesystem::path& root = "/");
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  // Joules since the meter was made; nothing where none of what computes is told: a GPU's machine needs the
  // GPU's. Any thread.
  std::optional<double> joules();

 private:
  struct Counter {
    std::filesystem::path file;  // of microjoules
    std::int64_t range = 0;      // at which they begin at 0 again
    std::int64_t last = 0, sum = 0;
  };
  class Gpu;

  std::mutex mutex_;
  std::vector<Counter> counters_;
  std::unique_ptr<Gpu> gpu_;
  bool with_gpu_;
};

}  // namespace fovea::runtime
