#include "app/commands/flags.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

namespace fovea::app {

CLI::App* add_command(Registry& registry, const std::string& name, const std::string& description, bool& json,
                      const std::string& json_keys) {
  CLI::App* command = registry.program.add_subcommand(name, description);
  command->add_flag("--json", json, "Print one JSON object (keys below)");
  command->add_flag("--verbose", registry.verbose, "Write the log to standard error");
  command->footer("--json prints one object:\n" + json_keys +
                  "\nExit codes: 0 done, 1 failed, 2 wrong usage. Errors are one line on standard error.");
  return command;
}

CLI::Option* add_model(CLI::App& command, std::string& model) {
  return command.add_option("MODEL", model,
                            "A GGUF file, a Hugging Face folder, or a name in the model library");
}

void add_threads(CLI::App& command, LoadFlags& flags) {
  command.add_option("--threads", flags.threads, "Threads that compute (default: the physical cores)")
      ->check(number_between(1, 1024));
}

void add_context(CLI::App& command, LoadFlags& flags, const std::string& description) {
  command.add_option("--context", flags.context, description)->check(number_between(1, 1 << 30));
}

void add_kv(CLI::App& command, LoadFlags& flags) {
  const char* now = flags.kv == KvType::f32 ? "f32" : "f16";
  command
      .add_option("--kv", flags.kv, std::string("Type of the KV cache: f32, f16, q8 (default: ") + now + ")")
      ->transform(one_of({{"f32", int(KvType::f32)}, {"f16", int(KvType::f16)}, {"q8", int(KvType::q8)}}));
}

void add_chunk(CLI::App& command, LoadFlags& flags) {
  command.add_option("--chunk", flags.chunk, "Tokens in one prefill pass (default: 256)")
      ->check(number_between(1, 1 << 20));
}

CLI::Validator number_between(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        double value = NAN;
        if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
        return fmt::format("{} is not a number from {:.15g} to {:.15g}", text, least, most);
      },
      "");
}

CLI::Validator one_of(std::vector<std::pair<std::string, int>> choices) {
  return CLI::Validator(
      [choices = std::move(choices)](std::string& text) -> std::string {
        std::string names;
        for (const auto& [name, value] : choices) {
          if (name == text) return text = std::to_string(value), std::string();
          names += (names.empty() ? "" : ", ") + name;
        }
        return text + " is none of " + names;
      },
      "");
}

Result<void> write_json(Console& console, const nlohmann::ordered_json& object) {
  return console.write(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace fovea::app
