#include "engine/runtime/processor.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

#include "engine/api/devices.h"
#include "engine/core/device_words.h"
#include "engine/core/errors.h"
#include "engine/core/result.h"
#include "engine/runtime/errors.h"
#include "kernels/api/gpus.h"
#include "kernels/cpu/device.h"

namespace fovea::runtime {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of "key : value" in a file of /proc; empty when it is not there.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && value != std::string::npos) return line.substr(value);
  }
  return {};
}

bool may_run_on([[maybe_unused]] unsigned processor) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && processor < CPU_SETSIZE)
    return CPU_ISSET(processor, &set);
#endif
  return true;
}

// Processors that share a core are siblings; each group counts once.
int cores_of_topology() {
  std::set<std::string> groups;
  for (unsigned processor = 0; processor < 4096; ++processor) {
    const std::filesystem::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(processor);
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) break;
    const std::string siblings = first_line(folder / "topology/thread_siblings_list");
    if (!siblings.empty() && may_run_on(processor)) groups.insert(siblings);
  }
  return static_cast<int>(groups.size());
}

// Whole processors of a container's quota; 0 where there is none.
int cores_of_quota() {
  std::istringstream line(first_line("/sys/fs/cgroup/cpu.max"));
  double quota = 0;
  double period = 0;
  if (!(line >> quota >> period) || period <= 0) return 0;
  return std::max(1, static_cast<int>(quota / period + 0.5));
}

}  // namespace

std::string processor_name() {
  const std::string name = proc_value("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

int physical_cores() {
  int cores = cores_of_topology();
  if (cores == 0) cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int quota = cores_of_quota();
  return quota > 0 ? std::min(cores, quota) : cores;
}

namespace {

Result<const kernels::Device*> gpu(std::string_view name) {
  const kernels::ModuleDevices& found = kernels::gpus();
  std::vector<std::string> names{"cpu"};
  for (const kernels::ModuleDevice& each : found.devices) {
    names.push_back(each.name);
    if (each.name != name) continue;
    if (each.device) return each.device;
    return fail(phrases::name_place(each.name),
                errors::device_unusable(each.facts.description, phrase_of(each.obstacle)));
  }
  return fail(phrases::device_place(name),
              found.devices.empty() ? errors::no_gpu_here(phrase_of(found.obstacle), std::move(names))
                                    : errors::no_such_device(std::move(names)));
}

}  // namespace

Result<const kernels::Device*> chosen_device(std::string_view name) {
  if (name.empty()) name = automatic_device;
  if (name != "cpu") return gpu(name);
  if (const kernels::Device* device = kernels::cpu::default_device()) return device;
  const char* wanted = std::getenv("FOVEA_CPU");
  const auto sets = kernels::cpu::available_instruction_sets();
  return fail(phrases::name_place("FOVEA_CPU"),
              errors::unknown_instruction_set(wanted == nullptr ? "" : wanted,
                                              std::vector<std::string>(sets.begin(), sets.end())));
}

Result<ChosenDevices> chosen_devices(std::string_view names) {
  const std::size_t comma = names.find(',');
  if (comma == std::string_view::npos) {
    FOVEA_TRY(const kernels::Device* const device, chosen_device(names));
    return ChosenDevices{.device = device};
  }
  const std::string_view first = names.substr(0, comma), second = names.substr(comma + 1);
  if (first == second || first == "cpu" || second == "cpu" || second.find(',') != std::string_view::npos)
    return fail(phrases::device_place(names), errors::not_two_cards());
  ChosenDevices chosen;
  FOVEA_TRY(chosen.first, chosen_device(first));
  FOVEA_TRY(chosen.device, chosen_device(second));
  return chosen;
}

}  // namespace fovea::runtime
