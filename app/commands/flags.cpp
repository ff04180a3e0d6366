#include "app/commands/flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/files/size_argument.h"
#include "engine/api/devices.h"
#include "engine/api/limits.h"

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

bool names_gpu(const LoadOptions& options) {
  return !options.device.empty() && options.device != "cpu";
}

void add_device(CLI::App& command, std::string& device, int cards) {
  const auto is_card = [](std::string_view text) {
    const std::string_view number = text.substr(text.starts_with("cuda:") ? 5 : text.size());
    return !number.empty() && number.size() < 4 &&
           number.find_first_not_of("0123456789") == std::string_view::npos;
  };
  command
      .add_option("--device", device,
                  "Where the model runs: cpu, or cuda:N, a GPU of fovea devices (default: " +
                      std::string(automatic_device) + ")" +
                      (cards > 1 ? "; cuda:N,cuda:M: on two, the first layers on the first one" : ""))
      ->type_name(cards > 1 ? "cpu|cuda:N|cuda:N,cuda:M" : "cpu|cuda:N")
      ->check(CLI::Validator(
          [is_card, cards](std::string& text) -> std::string {
            const std::string_view all = text;
            const std::size_t comma = all.find(',');
            const bool two = cards > 1 && comma != std::string_view::npos &&
                             is_card(all.substr(0, comma)) && is_card(all.substr(comma + 1));
            if (text == "cpu" || is_card(all) || two) return {};
            return text + " is neither cpu nor cuda:0, cuda:1 …" + (cards > 1 ? " nor two of these" : "");
          },
          ""));
}

void add_threads(CLI::App& command, LoadOptions& options) {
  command.add_option("--threads", options.threads, "Threads that compute (default: the physical cores)")
      ->check(number_between(1, 1024));
}

void add_context(CLI::App& command, LoadOptions& options, const std::string& description,
                 std::int64_t least) {
  command.add_option("--context", options.context, description)
      ->check(number_between(static_cast<double>(least), static_cast<double>(max_context)));
}

void add_kv(CLI::App& command, LoadOptions& options) {
  const std::string now = name_in(kv_names, options.kv);
  std::vector<std::pair<std::string, int>> names;
  for (const auto& [value, name] : kv_names) names.emplace_back(name, static_cast<int>(value));
  take_one_of(command.add_option("--kv", options.kv, "Type of the KV cache (default: " + now + ")"),
              std::move(names));
}

void add_chunk(CLI::App& command, LoadOptions& options) {
  command
      .add_option("--chunk", options.chunk,
                  "Tokens in one prefill pass (default: 256, with --policy fovea or dynaexq 128; on a GPU "
                  "twice that, or 2048 where experts are kept off it and none move)")
      ->check(number_between(1, static_cast<double>(max_chunk)));
}

void refuse_empty_texts(CLI::App& program) {
  const CLI::Validator not_empty([](std::string& text) { return text.empty() ? "the text is empty" : ""; },
                                 "");
  std::vector<CLI::App*> commands = program.get_subcommands([](const CLI::App*) { return true; });
  commands.push_back(&program);
  for (CLI::App* command : commands) {
    for (CLI::Option* option : command->get_options()) {
      const bool takes_text = option->nonpositional() && option->get_items_expected_max() > 0;
      if (takes_text && !option->check_name("--text") && !option->check_name("--system"))
        option->check(not_empty);
    }
  }
}

CLI::Validator number_between(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        double value = NAN;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        // The parser takes 010 for eight.
        const std::size_t zero = text.starts_with('-') ? 1 : 0;
        const bool is_octal =
            text.size() > zero + 1 && text[zero] == '0' && text[zero + 1] >= '0' && text[zero + 1] <= '9';
        if (error == std::errc() && rest == end && !is_octal && value >= least && value <= most) return {};
        return fmt::format("{} is not a number from {:.15g} to {:.15g}", text, least, most);
      },
      "");
}

void take_one_of(CLI::Option* option, std::vector<std::pair<std::string, int>> choices) {
  std::string type;
  for (const auto& [name, value] : choices) type += (type.empty() ? "" : "|") + name;
  option->type_name(type)->transform(CLI::Validator(
      [choices = std::move(choices)](std::string& text) -> std::string {
        std::string names;
        for (const auto& [name, value] : choices) {
          if (name == text) return text = std::to_string(value), std::string();
          names += (names.empty() ? "" : ", ") + name;
        }
        return text + " is none of " + names;
      },
      ""));
}

void take_size(CLI::Option* option) {
  option->type_name("SIZE")->transform(CLI::Validator(
      [](std::string& text) -> std::string {
        const auto bytes = parse_size(text);
        if (!bytes || *bytes < 1) return text + " is not a size such as 8GiB, 8GB or 500MB";
        text = std::to_string(*bytes);
        return {};
      },
      ""));
}

Result<void> write_json(Console& console, const nlohmann::ordered_json& object) {
  return console.write(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace fovea::app
