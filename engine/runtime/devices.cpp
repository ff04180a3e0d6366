#include "engine/api/devices.h"

#include <algorithm>

#include "engine/core/device_words.h"
#include "engine/core/result.h"
#include "engine/models/no_stream.h"
#include "engine/runtime/main_memory.h"
#include "engine/runtime/processor.h"
#include "kernels/api/gpus.h"
#include "kernels/cpu/ceiling.h"
#include "kernels/cpu/device.h"

namespace fovea {

Result<std::vector<DeviceInfo>> devices() {
  FOVEA_TRY(const kernels::Device* device, runtime::chosen_device({}));
  const runtime::Memory memory = runtime::memory();
  DeviceInfo info{.name = device->name(),
                  .description = runtime::processor_name(),
                  .instruction_set = device->instruction_set(),
                  .instruction_sets = {},
                  .cores = runtime::physical_cores(),
                  .memory_bytes = memory.total_bytes,
                  .memory_free_bytes = memory.free_bytes};
  for (const std::string_view name : kernels::cpu::available_instruction_sets())
    info.instruction_sets.emplace_back(name);
  std::vector<DeviceInfo> all{std::move(info)};
  for (const kernels::ModuleDevice& gpu : kernels::gpus().devices) {
    const kernels::DeviceFacts facts = gpu.device ? gpu.device->facts() : gpu.facts;
    all.push_back({.name = gpu.name,
                   .description = facts.description,
                   .instruction_set = gpu.device ? gpu.device->instruction_set() : "",
                   .instruction_sets = {},
                   .memory_bytes = facts.memory_bytes,
                   .memory_free_bytes = facts.memory_free_bytes,
                   .bandwidth_gb_per_s = facts.bandwidth_gb_per_s,
                   .bf16_products = gpu.device ? phrase_of(gpu.device->bf16_products()) : Phrase(),
                   .switched_off = gpu.device ? gpu.device->switched_off() : "",
                   .unusable = phrase_of(gpu.obstacle)});
  }
  return all;
}

Phrase why_no_gpu() {
  return phrase_of(kernels::gpus().obstacle);
}

DeviceMemory device_memory(std::string_view device) {
  const auto chosen = runtime::chosen_devices(device);
  if (chosen && !chosen->device->memory_is_host()) {
    const kernels::DeviceFacts facts = chosen->device->facts();
    return {.used_bytes = facts.memory_bytes - facts.memory_free_bytes, .total_bytes = facts.memory_bytes};
  }
  const runtime::Memory memory = runtime::memory();
  return {.used_bytes = memory.total_bytes - memory.free_bytes, .total_bytes = memory.total_bytes};
}

Result<DeviceSpeed> measure_speed(std::string_view name) {
  FOVEA_TRY(const runtime::ChosenDevices chosen, runtime::chosen_devices(name));
  const kernels::Device* const device = chosen.device;
  const auto stream = device->make_stream({.threads = runtime::physical_cores()});
  if (!stream) return models::no_stream(*device);
  if (device->memory_is_host())
    return DeviceSpeed{.read_gb_per_s = kernels::cpu::read_bandwidth_gb_per_s(*stream),
                       .gop_per_s = kernels::cpu::peak_gop_per_s(*stream)};
  const kernels::DeviceCeiling found = device->measure_ceiling(*stream);
  return DeviceSpeed{
      .read_gb_per_s = found.read_gb_per_s > 0 ? found.read_gb_per_s : device->facts().bandwidth_gb_per_s,
      .gop_per_s = std::max(found.byte_gop_per_s, found.half_gop_per_s)};
}

}  // namespace fovea
