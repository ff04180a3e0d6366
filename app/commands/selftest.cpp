// fovea selftest: whether a device computes right on this machine.
#include "engine/api/selftest.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct SelfTestFlags {
  SelfTestSettings settings;
  bool json = false;
};

nlohmann::ordered_json as_json(const SelfTestResult& result, double seconds) {
  nlohmann::ordered_json parts = nlohmann::json::array();
  for (const SelfTestPart& part : result.parts)
    parts.push_back({{"name", part.name},
                     {"checks", part.checks},
                     {"failed", part.failed},
                     {"worst", part.worst},
                     {"faults", english(part.faults)}});
  return {{"device", result.device},
          {"instruction_set", result.instruction_set},
          {"passed", result.failed() == 0},
          {"checks", result.checks()},
          {"failed", result.failed()},
          {"seconds", seconds},
          {"parts", parts}};
}

std::string for_people(const SelfTestResult& result, double seconds) {
  std::string text = fmt::format("{}, {}\n", result.device, result.instruction_set);
  for (const SelfTestPart& part : result.parts) {
    text +=
        fmt::format("  {:<16} {:>5} checks  {}{}\n", part.name, part.checks,
                    part.failed == 0 ? "passed" : fmt::format("{} failed", part.failed),
                    part.worst > 0 ? fmt::format("; at most {:.3f} of the allowed error", part.worst) : "");
    for (const Phrase& fault : part.faults) text += fmt::format("    {}\n", english(fault));
  }
  if (result.failed() == 0)
    text += fmt::format("all {} checks passed in {:.1f} s\n", result.checks(), seconds);
  return text;
}

Result<void> print_selftest(const SelfTestFlags& flags, Console& console, Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  const auto start = std::chrono::steady_clock::now();
  FOVEA_TRY(const SelfTestResult result, run_selftest(flags.settings, console.progress(), operation.token()));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  FOVEA_CHECK(flags.json ? write_json(console, as_json(result, seconds.count()))
                         : console.write_text(for_people(result, seconds.count())));
  if (result.failed() == 0) return {};
  return fail(phrases::name_place(result.device), errors::checks_failed(result.failed(), result.checks()));
}

}  // namespace

void add_selftest(Registry& registry) {
  auto flags = std::make_shared<SelfTestFlags>();
  CLI::App* command = add_command(
      registry, "selftest", "Whether a device computes right: operations, whole models, experts on the move",
      flags->json,
      "  device           its name; instruction_set, or a GPU's architecture\n"
      "  passed           whether all did; checks and failed, how many\n"
      "  seconds          that it took\n"
      "  parts            a list; of each: name, checks, failed, worst (of an operation: the largest error ÷ "
      "what is\n"
      "                   allowed), faults (of the first five: where, what came, what was expected)\n");
  add_device(*command, flags->settings.device);
  command
      ->add_option("--threads", flags->settings.threads, "Threads that compute (default: the physical cores)")
      ->check(number_between(1, 1024));
  command->add_flag("--quick", flags->settings.quick, "One case of each operation, and nothing else");
  command->add_option("--seed", flags->settings.seed, "Of the operations' inputs (default: 1)");
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return print_selftest(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
