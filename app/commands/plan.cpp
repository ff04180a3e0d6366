// fovea plan MODEL: what a model would take on a device, and what more or less memory would change.
#include "engine/api/plan.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands/loading.h"
#include "app/commands/plan_report.h"
#include "app/commands/precision_flags.h"
#include "app/library/stores.h"
#include "engine/api/devices.h"
#include "engine/api/limits.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct PlanFlags {
  std::string model, shape;
  LoadOptions load;
  MachineFacts machine;
  std::string dense = "bf16";
  std::int64_t prompt_tokens = 1024;
  bool json = false;
};

bool has_card(const PlanFlags& flags) {
  return flags.machine.device_memory_bytes > 0 || names_gpu(flags.load);
}

Result<LoadPlan> plan_for(const PlanFlags& flags, LoadOptions options, const MachineFacts& machine) {
  if (!flags.shape.empty())
    return plan_shape({.name = flags.shape, .dense_tier = flags.dense}, options, machine);
  FOVEA_TRY(options.model, find_model(flags.model));
  return plan_model(options, machine);
}

// The speeds that nobody gave, of what is here and used.
Result<void> measure(const LoadOptions& options, const LoadPlan& plan, MachineFacts& machine) {
  const bool here = machine.device_memory_bytes == 0;
  const bool device_missing = here && (machine.device_gb_per_s == 0 || machine.device_gop_per_s == 0);
  DeviceSpeed device, processor;
  if (plan.host_part.bytes() > 0 || (device_missing && !names_gpu(options))) {
    FOVEA_TRY(processor, measure_speed());
  }
  device = processor;
  if (device_missing && names_gpu(options)) {
    FOVEA_TRY(device, measure_speed(options.device));
  }
  machine.main_memory_gb_per_s = processor.read_gb_per_s;
  machine.processor_gop_per_s = processor.gop_per_s;
  if (here && machine.device_gb_per_s == 0) machine.device_gb_per_s = device.read_gb_per_s;
  if (here && machine.device_gop_per_s == 0) machine.device_gop_per_s = device.gop_per_s;
  return {};
}

Result<void> print_plan(const PlanFlags& flags, Console& console) {
  LoadOptions options = flags.load;
  if (options.precision.budget_bytes == 0) options.precision.budget_bytes = flags.machine.device_memory_bytes;
  FOVEA_TRY(options.precision, precision_request(options.precision, has_card(flags)));
  options.precision.stores_folder = stores_folder();
  FOVEA_TRY(LoadPlan plan, plan_for(flags, options, flags.machine));
  MachineFacts machine = flags.machine;
  FOVEA_CHECK(measure(options, plan, machine));
  FOVEA_TRY(plan, plan_for(flags, options, machine));
  FOVEA_CHECK(flags.json ? write_json(console, plan_json(plan, flags.prompt_tokens))
                         : console.write_text(plan_text(plan, flags.prompt_tokens)));
  return check_fits(plan);
}

}  // namespace

void add_plan(Registry& registry) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command =
      add_command(registry, "plan", "What a model would take on a device, byte by byte; reads no weights",
                  flags->json, plan_keys);
  add_model(*command, flags->model);
  std::string names;
  for (const std::string& name : shape_names()) names += (names.empty() ? "" : ", ") + name;
  CLI::Option* shape = command->add_option("--shape", flags->shape,
                                           "A published model instead of MODEL, without its file: " + names);
  add_device(*command, flags->load.device, 2);
  take_size(command->add_option(
      "--device-memory", flags->machine.device_memory_bytes,
      "Plan for a card with this memory, as 32GiB; the processor computes what is offloaded"));
  take_size(command->add_option(
      "--main-memory", flags->machine.main_memory_bytes,
      "Main memory that is free beside the card, as 48GiB (default: what this machine has free; "
      "with --device-memory it is not looked at)"));
  command
      ->add_option(
          "--device-bandwidth", flags->machine.device_gb_per_s,
          "How fast the device reads its memory in GB/s, as 1792, for the predicted times (default: measured "
          "where it is here)")
      ->check(number_between(1, 1e6));
  command
      ->add_option(
          "--device-gops", flags->machine.device_gop_per_s,
          "How much the device computes in 10^9 operations per second, a multiply-add being two, for "
          "the predicted time to the first token (default: measured where it is here)")
      ->check(number_between(1, 1e9));
  command
      ->add_option("--prompt-tokens", flags->prompt_tokens,
                   "Tokens of the prompt for which the time to the first token is predicted (default: 1024)")
      ->check(number_between(1, static_cast<double>(max_context)));
  command
      ->add_option("--dense", flags->dense,
                   "With --shape: format of everything that is no expert, bf16, q8 or q4 (default: bf16)")
      ->needs(shape);
  add_context(*command, flags->load, "Tokens of context (default: the model's, at most 8192)");
  add_kv(*command, flags->load);
  add_chunk(*command, flags->load);
  add_precision(*command, flags->load.precision, false);
  command->callback([&registry, flags] {
    if (flags->model.empty() && flags->shape.empty()) throw CLI::RequiredError("MODEL or --shape");
    if (!flags->model.empty() && !flags->shape.empty()) throw CLI::ExcludesError("MODEL", "--shape");
    if (flags->machine.main_memory_bytes > 0 && !has_card(*flags))
      throw CLI::RequiresError("--main-memory", "--device-memory or --device cuda:N");
    registry.chosen = [flags](Console& console, Interrupts&) { return print_plan(*flags, console); };
  });
}

}  // namespace fovea::app
