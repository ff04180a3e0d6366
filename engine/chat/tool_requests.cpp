// Which tools a request gives, and how its model writes calls.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/chat/errors.h"
#include "engine/chat/tool_calls.h"
#include "engine/core/json_depth.h"
#include "engine/core/result.h"

namespace fovea::chat {
namespace {

using nlohmann::ordered_json;

bool is_plain_name(std::string_view name) {
  constexpr std::size_t longest = 128;
  return !name.empty() && name.size() <= longest && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

Result<Tool> tool_of(const ordered_json& json, std::int64_t number) {
  const Phrase where = phrases::tool_place(number);
  if (!json.is_object() || !json.contains("function") || !json["function"].is_object())
    return fail(where, errors::tool_is_no_function());
  const ordered_json& function = json["function"];
  if (!function.contains("name") || !function["name"].is_string() ||
      !is_plain_name(function["name"].get_ref<const std::string&>()))
    return fail(where, errors::tool_name_not_plain());
  Tool tool{function["name"].get<std::string>(), nullptr};
  if (function.contains("parameters")) tool.parameters = function["parameters"];
  if (!tool.parameters.is_null() && !tool.parameters.is_object())
    return fail(where, errors::tool_parameters_no_schema());
  return tool;
}

// What the template writes for this call tells its syntax.
constexpr const char* probe_name = "fovea_probe";

std::string tools_named(const char* name) {
  const ordered_json key = {{"type", "string"}, {"description", "x"}};
  const ordered_json parameters = {
      {"type", "object"}, {"properties", {{"key", key}}}, {"required", ordered_json::array({"key"})}};
  const ordered_json function = {{"name", name}, {"description", "x"}, {"parameters", parameters}};
  return ordered_json::array({{{"type", "function"}, {"function", function}}}).dump();
}

// Whether a tool changes what the template makes of a question. Where it fails, the real one says why.
bool shows_tools(const TextModel& text) {
  const std::string question = ordered_json::array({{{"role", "user"}, {"content", "x"}}}).dump();
  const auto with = text.render(question, true, tools_named(probe_name));
  const auto without = text.render(question, true);
  return !with || !without || *with != *without;
}

std::optional<CallSyntax> syntax_in(std::string_view rendered) {
  const auto has = [&](const std::string& words) { return rendered.contains(words); };
  const std::string name = probe_name;
  if (has("<function=" + name + ">")) return CallSyntax::qwen_xml;
  if (has("to=functions." + name)) return CallSyntax::harmony;
  if (has("<|tool_call>call:" + name + "{")) return CallSyntax::gemma;
  if (has("[TOOL_CALLS]" + name)) return CallSyntax::mistral_name;
  if (has("[TOOL_CALLS]"))
    return has("\"" + name + "\"") ? std::optional(CallSyntax::mistral_list) : std::nullopt;
  const std::size_t at = rendered.find("\"name\": \"" + name + "\"");
  if (at == std::string_view::npos) return {};
  const auto trimmed_end = [](std::string_view words) {
    return words.substr(0, words.find_last_not_of(" \t\r\n") + 1);
  };
  std::string_view before = trimmed_end(rendered.substr(0, at));
  if (!before.ends_with('{')) return {};
  before.remove_suffix(1);
  if (trimmed_end(before).ends_with(call_open)) return CallSyntax::hermes;
  constexpr std::size_t next_key = 80;  // bytes behind the name
  if (rendered.substr(at, next_key).contains("\"parameters\"")) return CallSyntax::llama;
  return {};
}

}  // namespace

Result<ToolSet> tools_of(const GenerateRequest& request, const TextModel& text,
                         std::optional<CallSyntax> syntax) {
  ToolSet set;
  const bool required = request.tool_choice == ToolChoice::required;
  const Phrase where = phrases::given_tools();
  if (!request.tools.empty()) {
    if (json_depth(request.tools) > max_json_depth) return fail(where, errors::given_nested(max_json_depth));
    set.list = ordered_json::parse(request.tools, nullptr, false);
    if (set.list.is_discarded()) return fail(where, errors::given_no_json());
    if (!set.list.is_array()) return fail(where, errors::given_tools_no_list());
    for (const ordered_json& each : set.list) {
      FOVEA_TRY(Tool tool, tool_of(each, std::ssize(set.tools) + 1));
      if (set.find(tool.name) != nullptr) return fail(where, errors::tool_named_twice(tool.name));
      set.tools.push_back(std::move(tool));
    }
  }
  if (required && set.empty()) return fail(where, errors::no_tools_to_choose());
  if (required && !request.required_tool.empty() && set.find(request.required_tool) == nullptr)
    return fail(where, errors::required_tool_unknown(request.required_tool));
  if (request.tool_choice == ToolChoice::none) set = {};
  if (set.empty()) return set;
  if (request.raw_prompt) return fail(phrases::option_place("tools"), errors::raw_prompt_has_no_template());
  const auto& chat_template = text.parts().chat_template;
  if (!chat_template) return fail(phrases::chat_template(), errors::model_is_no_chat_model());
  if (!*chat_template) return std::unexpected(chat_template->error());
  if (!shows_tools(text)) return fail(phrases::chat_template(), errors::template_knows_no_tools());
  if (!syntax) return fail(phrases::chat_template(), errors::call_syntax_unknown());
  return set;
}

std::optional<CallSyntax> call_syntax(const TextModel& text, const text::Tokenizer& tokenizer) {
  const auto& chat_template = text.parts().chat_template;
  if (!chat_template || !*chat_template) return {};
  if ((*chat_template)->reads_calls()) {
    const ordered_json function = {{"name", probe_name}, {"arguments", {{"key", "value"}}}};
    const ordered_json call = {{"id", "abcdefghi"}, {"type", "function"}, {"function", function}};
    const ordered_json messages = {
        {{"role", "user"}, {"content", "x"}},
        {{"role", "assistant"}, {"content", ""}, {"tool_calls", ordered_json::array({call})}}};
    auto rendered = text.render(messages.dump(), false);
    // Some read the tools without asking whether there are any.
    if (!rendered) rendered = text.render(messages.dump(), false, tools_named("fovea_other"));
    return rendered ? syntax_in(*rendered) : std::nullopt;
  }
  constexpr std::array signs{
      std::pair{"<|tool_call>", CallSyntax::gemma}, std::pair{"[ARGS]", CallSyntax::mistral_name},
      std::pair{"[TOOL_CALLS]", CallSyntax::mistral_list}, std::pair{"<|python_tag|>", CallSyntax::llama},
      std::pair{"<tool_call>", CallSyntax::hermes}};
  for (const auto& [name, syntax] : signs)
    if (tokenizer.find(name) >= 0) return syntax;
  return {};
}

}  // namespace fovea::chat
