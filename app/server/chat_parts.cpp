#include "app/server/chat_parts.h"

#include <algorithm>
#include <utility>

#include "app/server/errors.h"
#include "engine/core/result.h"

namespace fovea::app {

std::string read_content(JsonFields& fields, std::string_view name,
                         std::initializer_list<std::string_view> text_types, std::string_view key) {
  const Json* const content = fields.take(name);
  if (content == nullptr) return {};
  if (content->is_string()) return content->get<std::string>();
  std::string text;
  if (!content->is_array()) return fields.wrong(name, phrases::server_text_parts()), text;
  for (std::size_t i = 0; i < content->size(); ++i) {
    const Json& part = (*content)[i];
    const std::string place = std::string(name) + "[" + std::to_string(i) + "]";
    if (!part.is_object() || !part.contains("type") || !part["type"].is_string())
      return fields.wrong(place + ".type", phrases::a_text()), text;
    const std::string type = part["type"];
    if (std::ranges::find(text_types, type) == text_types.end())
      return fields.fail(errors::server_only_text(fields.place(place), type.substr(0, 50))), text;
    const auto found = part.find(std::string(key));
    if (found == part.end() || !found->is_string())
      return fields.wrong(place + "." + std::string(key), phrases::a_text()), text;
    text += found->get<std::string>();
  }
  return text;
}

void read_openai_sampling(JsonFields& fields, ChatRequest& request) {
  const auto single = [](std::optional<double> value) {
    return value ? std::optional<float>(static_cast<float>(*value)) : std::nullopt;
  };
  SamplingWishes& s = request.sampling;
  s.temperature = single(fields.number("temperature", 0, 2));
  s.top_p = single(fields.number("top_p", 0, 1));
  if (s.top_p) s.top_p = std::max(*s.top_p, 1e-6F);  // 0: the likeliest token alone
  s.min_p = single(fields.number("min_p", 0, 1));
  s.presence_penalty = single(fields.number("presence_penalty", -2, 2));
  s.frequency_penalty = single(fields.number("frequency_penalty", -2, 2));
  // They look at the whole text, as OpenAI has it.
  if (s.presence_penalty || s.frequency_penalty) s.penalty_window = -1;
  s.repetition_penalty = single(fields.number("repeat_penalty", 0.01, 100));
  if (const auto other = single(fields.number("repetition_penalty", 0.01, 100))) s.repetition_penalty = other;
  if (const auto k = fields.integer("top_k", -1, 1 << 30))
    s.top_k = static_cast<std::int32_t>(std::max<std::int64_t>(*k, 0));
  if (const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX))
    s.seed = static_cast<std::uint64_t>(*seed);
}

Json function_tool(const std::string& name, const Json* description, const Json* parameters) {
  Json function = {{"name", name}, {"description", description != nullptr ? *description : Json("")}};
  function["parameters"] =
      parameters != nullptr ? *parameters : Json{{"type", "object"}, {"properties", Json::object()}};
  return {{"type", "function"}, {"function", std::move(function)}};
}

void read_openai_tools(JsonFields& fields, ChatRequest& request) {
  const Json* const tools = fields.list("tools");
  if (tools == nullptr) return;
  Json functions = Json::array();
  for (std::size_t i = 0; i < tools->size() && !fields.has_failed(); ++i) {
    const std::string place = "tools[" + std::to_string(i) + "]";
    if (!(*tools)[i].is_object()) return fields.wrong(place, phrases::server_an_object());
    std::optional<Error> error;
    JsonFields tool((*tools)[i], error, place + ".");
    const std::string type = tool.needed_text("type");
    if (!error && type != "function") {
      request.skipped_tools.push_back(type);
      continue;
    }
    if (const Json* const function = tool.object("function")) {
      JsonFields inner(*function, error, place + ".function.");
      const std::string name = inner.needed_text("name");
      const auto description = inner.text("description");
      const Json text = description.value_or("");
      const Json* const parameters = inner.object("parameters");
      functions.push_back(function_tool(name, description ? &text : nullptr, parameters));
    } else {
      tool.wrong("function", phrases::server_an_object());
    }
    if (error) return fields.fail(*error);
  }
  if (!functions.empty()) request.generate.tools = dump(functions);
}

bool has_tool(const ChatRequest& request, std::string_view name) {
  const Json tools = Json::parse(request.generate.tools, nullptr, false);
  return tools.is_array() &&
         std::ranges::any_of(tools, [&](const Json& tool) { return tool["function"]["name"] == name; });
}

void read_openai_tool_choice(JsonFields& fields, ChatRequest& request) {
  GenerateRequest& generate = request.generate;
  const auto parallel = fields.boolean("parallel_tool_calls");
  generate.parallel_tool_calls = parallel.value_or(true);
  const Json* const choice = fields.take("tool_choice");
  if (choice == nullptr) return;
  if (*choice == "none") {
    generate.tool_choice = ToolChoice::none;
  } else if (*choice == "required" && !generate.tools.empty()) {
    generate.tool_choice = ToolChoice::required;
  } else if (choice->is_object()) {
    // Chat completions have {"function": {"name"}}, responses {"name"}.
    const Json function = choice->value("function", *choice);
    const Json name = function.is_object() ? function.value("name", Json()) : Json();
    const bool is_known = choice->value("type", Json()) == "function" && name.is_string() &&
                          has_tool(request, name.get_ref<const std::string&>());
    if (!is_known) return fields.wrong("tool_choice", phrases::server_known_tool());
    generate.tool_choice = ToolChoice::required;
    generate.required_tool = name;
  } else if (*choice != "auto") {
    fields.wrong("tool_choice", phrases::server_known_tool());
  }
}

void read_openai_format(JsonFields& fields, std::string_view name, ChatRequest& request) {
  const Json* const format = fields.object(name);
  if (format == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*format, error, fields.place(name) + ".");
  const auto type = inner.one_of("type", {"text", "json_object", "json_schema"});
  if (!type && !error) inner.wrong("type", phrases::server_there());
  AnswerForm& form = request.generate.form;
  if (type == 1) form.kind = AnswerForm::Kind::json;
  if (type == 2) {
    form.kind = AnswerForm::Kind::json_schema;
    // Chat completions have it in an object of its own, responses beside the type.
    const Json* const own = inner.object("json_schema");
    JsonFields schema(own != nullptr ? *own : *format, error,
                      inner.place(own != nullptr ? "json_schema." : ""));
    const Json* const text = schema.object("schema");
    if (text == nullptr) schema.wrong("schema", phrases::server_an_object());
    if (text != nullptr) form.text = dump(*text);
  }
  if (error) fields.fail(*error);
}

void read_effort(JsonFields& fields, std::string_view name, ChatRequest& request) {
  const auto effort = fields.one_of(name, {"none", "minimal", "low", "medium", "high"});
  if (!effort) return;
  static constexpr const char* efforts[] = {"", "low", "low", "medium", "high"};
  request.thinking_parameter = fields.place(name);
  request.generate.thinking = *effort != 0;
  request.generate.effort = efforts[*effort];
}

Result<void> settle_thinking(ChatRequest& request, const ModelInfo& info) {
  std::optional<bool>& thinking = request.generate.thinking;
  std::string& effort = request.generate.effort;
  if (!thinking && effort.empty()) return {};
  const bool wants = thinking.value_or(true);
  const bool can = info.can_switch_thinking || info.has_effort == wants;
  if (!can)
    return fail(phrases::server_request_place(),
                errors::server_refused_parameter(request.thinking_parameter));
  thinking = info.can_switch_thinking ? std::optional(wants) : std::nullopt;
  if (!info.has_effort || !wants) effort.clear();
  return {};
}

}  // namespace fovea::app
