// fovea template MODEL --messages F: the prompt that a chat template makes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/text_input.h"
#include "app/files/files.h"
#include "engine/api/text.h"
#include "engine/core/json_depth.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t input_limit_bytes = 256 << 20;

struct TemplateFlags {
  std::string model;
  std::string messages;
  std::string source;
  std::string tools;
  std::vector<std::string> variables;
  bool no_generation_prompt = false;
  bool json = false;
};

// What a template is rendered with, as JSON texts.
struct Conversation {
  std::string messages, tools;
  Json variables = Json::object();
  bool generation_prompt = true;
};

std::string too_deep() {
  return "lists and objects are nested more than " + std::to_string(fovea::max_json_depth) + " levels deep";
}

Result<Json> read_json(const std::string& name) {
  FOVEA_TRY(auto text, read_input(name, input_limit_bytes));
  if (json_depth(text) > fovea::max_json_depth)
    return fail(place_of(name), errors::input_too_deep(fovea::max_json_depth));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = std::string_view(text).substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const std::size_t line_begin = before.rfind('\n') + 1;  // 0 where there is no line before
    return fail(phrases::column_of_input(place_of(name), 1 + std::ranges::count(before, '\n'),
                                         before.size() - line_begin + 1),
                text.empty() ? errors::input_empty_json() : errors::input_no_json());
  }
}

Result<Conversation> read_conversation(const TemplateFlags& flags) {
  FOVEA_TRY(auto value, read_json(flags.messages));
  Conversation conversation;
  if (value.is_object()) {
    if (!value.contains("messages")) {
      return fail(place_of(flags.messages), errors::object_without_messages());
    }
    for (const auto& [key, member] : value.items()) {
      if (key == "messages") continue;
      if (key == "tools" && !member.is_null()) {
        conversation.tools = member.dump();
      } else if (key == "add_generation_prompt" && member.is_boolean()) {
        conversation.generation_prompt = member.get<bool>();
      } else if (key != "tools") {
        conversation.variables[key] = member;
      }
    }
    Json messages = value["messages"];
    value = std::move(messages);
  }
  if (!value.is_array()) return fail(place_of(flags.messages), errors::messages_no_list());
  conversation.messages = value.dump();

  if (!flags.tools.empty()) {
    FOVEA_TRY(auto tools, read_json(flags.tools));
    if (!tools.is_array()) return fail(place_of(flags.tools), errors::tools_no_list());
    conversation.tools = tools.dump();
  }
  for (const std::string& variable : flags.variables) {
    const std::size_t equals = variable.find('=');
    conversation.variables[variable.substr(0, equals)] = Json::parse(variable.substr(equals + 1));
  }
  if (flags.no_generation_prompt) conversation.generation_prompt = false;
  return conversation;
}

std::string variables_of(const Conversation& conversation) {
  return conversation.variables.empty() ? "" : conversation.variables.dump();
}

// With a file's template; errors name the file.
Result<std::string> render_file(const TemplateFlags& flags, const TextModel* model,
                                const Conversation& conversation) {
  FOVEA_TRY(const std::string source, read_input(flags.source, input_limit_bytes));
  const auto& [messages, tools, ignored, prompt] = conversation;
  const std::string variables = variables_of(conversation);
  return model ? model->render_with(source, messages, prompt, tools, variables, place_of(flags.source))
               : render_template(source, messages, prompt, tools, variables, place_of(flags.source));
}

Result<std::string> render(const TemplateFlags& flags, const Conversation& conversation) {
  if (flags.model.empty()) return render_file(flags, nullptr, conversation);
  FOVEA_TRY(auto path, find_model(flags.model));
  FOVEA_TRY(auto model, TextModel::open(path));
  if (!flags.source.empty()) return render_file(flags, model.get(), conversation);
  if (!model->has_chat_template()) {
    return fail(phrases::file_place(path), errors::model_without_template());
  }
  return model->render(conversation.messages, conversation.generation_prompt, conversation.tools,
                       variables_of(conversation));
}

Result<void> print_prompt(const TemplateFlags& flags, Console& console) {
  FOVEA_TRY(auto conversation, read_conversation(flags));
  FOVEA_TRY(auto prompt, render(flags, conversation));
  return flags.json ? write_json(console, {{"prompt", prompt}}) : console.write(prompt);
}

// "name=JSON" with a JSON value.
std::string check_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return text + " is not name=JSON";
  if (json_depth(text) > fovea::max_json_depth) return text.substr(0, equals) + ": " + too_deep();
  if (Json::accept(text.substr(equals + 1))) return {};
  return "the value of " + text.substr(0, equals) +
         " is not JSON (a string needs its quotes: name='\"text\"')";
}

}  // namespace

void add_template(Registry& registry) {
  auto flags = std::make_shared<TemplateFlags>();
  CLI::App* command =
      add_command(registry, "template", "The prompt that the model's chat template makes, raw", flags->json,
                  "  prompt  the rendered text\n");
  CLI::Option* model = add_model(*command, flags->model);
  command
      ->add_option(
          "--messages", flags->messages,
          "JSON file, - for standard input: a list of messages, or an object with messages, tools and "
          "further variables")
      ->required();
  CLI::Option* source =
      command->add_option("--template", flags->source, "A Jinja file instead of the model's template");
  command->add_option("--tools", flags->tools, "JSON file with a list of tools");
  command->add_flag("--no-generation-prompt", flags->no_generation_prompt,
                    "Do not end with the beginning of an answer");
  command->add_option("--var", flags->variables, "A further variable, name=JSON (may be repeated)")
      ->allow_extra_args(false)
      ->check(CLI::Validator([](std::string& text) { return check_variable(text); }, ""));
  command->callback([&registry, flags, model, source] {
    if (model->count() == 0 && source->count() == 0) {
      throw CLI::RequiredError("MODEL or --template");
    }
    registry.chosen = [flags](Console& console, Interrupts&) { return print_prompt(*flags, console); };
  });
}

}  // namespace fovea::app
