// fovea devices: what this machine can compute with.
#include "engine/api/devices.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/flags.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

nlohmann::ordered_json as_json(const DeviceInfo& device) {
  return {{"name", device.name},
          {"description", device.description},
          {"instruction_set", device.instruction_set},
          {"instruction_sets", device.instruction_sets},
          {"cores", device.cores},
          {"memory_bytes", device.memory_bytes},
          {"memory_free_bytes", device.memory_free_bytes}};
}

std::string for_people(const DeviceInfo& device) {
  return fmt::format(
      "{}: {}\n  {} cores, {:.1f} GB memory, {:.1f} GB free\n  computes with {} (could use: {})\n",
      device.name, device.description, device.cores, static_cast<double>(device.memory_bytes) / 1e9,
      static_cast<double>(device.memory_free_bytes) / 1e9, device.instruction_set,
      fmt::join(device.instruction_sets, ", "));
}

Result<void> print_devices(bool json, Console& console) {
  FOVEA_TRY(auto found, devices());
  nlohmann::ordered_json list = nlohmann::json::array();
  std::string text;
  for (const DeviceInfo& device : found) {
    list.push_back(as_json(device));
    text += for_people(device);
  }
  return json ? write_json(console, {{"devices", list}}) : console.write_text(text);
}

}  // namespace

void add_devices(Registry& registry) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = add_command(
      registry, "devices", "The processor, its instruction sets and memory", *json,
      "  devices  a list; of each: name, description, instruction_set (the one in use), instruction_sets,\n"
      "           cores (physical), memory_bytes, memory_free_bytes\n");
  command->callback([&registry, json] {
    registry.chosen = [json](Console& console, Interrupts&) { return print_devices(*json, console); };
  });
}

}  // namespace fovea::app
