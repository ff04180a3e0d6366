// fovea devices: what this machine can compute with.
#include "engine/api/devices.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/flags.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

nlohmann::ordered_json as_json(const DeviceInfo& device) {
  nlohmann::ordered_json object = {{"name", device.name},
                                   {"description", device.description},
                                   {"instruction_set", device.instruction_set},
                                   {"instruction_sets", device.instruction_sets},
                                   {"cores", device.cores},
                                   {"memory_bytes", device.memory_bytes},
                                   {"memory_free_bytes", device.memory_free_bytes},
                                   {"unusable", english(device.unusable)}};
  if (device.bandwidth_gb_per_s > 0) object["bandwidth_gb_per_s"] = device.bandwidth_gb_per_s;
  if (!device.bf16_products.empty()) object["bf16_products"] = english(device.bf16_products);
  if (!device.switched_off.empty()) object["switched_off"] = device.switched_off;
  return object;
}

std::string gpu_for_people(const DeviceInfo& device) {
  if (!device.unusable.empty())
    return fmt::format("{}: {}\n  cannot be used: {}\n", device.name, device.description,
                       english(device.unusable));
  std::string text =
      fmt::format("{}: {}\n  {}, {} memory, {} free", device.name, device.description, device.instruction_set,
                  size_text(device.memory_bytes), size_text(device.memory_free_bytes));
  if (device.bandwidth_gb_per_s > 0) text += fmt::format(", {:.0f} GB/s", device.bandwidth_gb_per_s);
  if (!device.bf16_products.empty())
    text +=
        fmt::format("\n  multiplies matrices of BF16 with many tokens by {}", english(device.bf16_products));
  if (!device.switched_off.empty())
    text += fmt::format("\n  without {}, which FOVEA_CUDA_OFF turns off", device.switched_off);
  return text + "\n";
}

std::string for_people(const DeviceInfo& device) {
  if (device.cores == 0) return gpu_for_people(device);
  return fmt::format("{}: {}\n  {} cores, {} memory, {} free\n  computes with {} (could use: {})\n",
                     device.name, device.description, device.cores, size_text(device.memory_bytes),
                     size_text(device.memory_free_bytes), device.instruction_set,
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
  const std::string no_gpu = english(why_no_gpu());
  if (!no_gpu.empty()) text += "no GPU: " + no_gpu + "\n";
  return json ? write_json(console, {{"devices", list}, {"no_gpu", no_gpu}}) : console.write_text(text);
}

}  // namespace

void add_devices(Registry& registry) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = add_command(
      registry, "devices", "The processor and the GPUs, their architectures and memory", *json,
      "  devices  a list; of each: name, description, instruction_set (the one in use), instruction_sets,\n"
      "           cores (physical; 0 of a GPU), memory_bytes, memory_free_bytes, unusable (why it cannot be\n"
      "           used; empty: it can), and of a GPU bandwidth_gb_per_s by its clock and width (the\n"
      "           processor's is measured by fovea bench) and bf16_products (what multiplies matrices of "
      "BF16\n"
      "           with many tokens: cuBLAS, or Fovea's own kernels) and switched_off (what FOVEA_CUDA_OFF "
      "names "
      "of\n"
      "           pdl, graph and prefetch: programmatic launch, captured passes, hints of weights)\n"
      "  no_gpu   why there is no GPU among them; empty when there is one\n");
  command->callback([&registry, json] {
    registry.chosen = [json](Console& console, Interrupts&) { return print_devices(*json, console); };
  });
}

}  // namespace fovea::app
