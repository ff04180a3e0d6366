// Flags that several commands share, and the form of --json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/command.h"
#include "engine/api/engine.h"

namespace CLI {
class Option;
class Validator;
}  // namespace CLI

namespace fovea::app {

// A subcommand with --verbose, with what `--json` prints told in its help; json_keys: lines "key  meaning".
CLI::App* add_command(Registry& registry, const std::string& name, const std::string& description, bool& json,
                      const std::string& json_keys);

CLI::Option* add_model(CLI::App& command, std::string& model);

// --device, --threads, --context, --kv, --chunk: how a model is loaded. precision_flags.h has the others.
// One device, or where `cards` is 2 also two cards.
void add_device(CLI::App& command, std::string& device, int cards = 1);
bool names_gpu(const LoadOptions& options);
void add_threads(CLI::App& command, LoadOptions& options);
void add_context(CLI::App& command, LoadOptions& options, const std::string& description,
                 std::int64_t least = 1);
void add_kv(CLI::App& command, LoadOptions& options);
void add_chunk(CLI::App& command, LoadOptions& options);

// A number from least to most; CLI::Range lets "nan" through.
CLI::Validator number_between(double least, double most);
// An empty text, as a shell's unset variable gives it, is an option that would be ignored. For all commands
// but where it says something (tokenize --text, chat --system).
void refuse_empty_texts(CLI::App& program);
// The option takes one of the names; it becomes its number.
void take_one_of(CLI::Option* option, std::vector<std::pair<std::string, int>> choices);

// The option takes a size (app/files/size_argument.h), at least one byte; it becomes its number.
void take_size(CLI::Option* option);

// One object on one line. Bytes that are not UTF-8 become U+FFFD.
Result<void> write_json(Console& console, const nlohmann::ordered_json& object);

}  // namespace fovea::app
