// Tools and calls that several tests use, and what tests/golden/make_tool_prompts.py has written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/api/request.h"
#include "engine/chat/tool_calls.h"
#include "tests/engine/chat/template_model.h"
#include "tests/support/paths.h"

namespace fovea::tests {

inline constexpr const char* weather_tools =
    R"([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": )"
    R"({"city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array"}, )"
    R"("sure": {"type": "boolean"}, "note": {"type": ["string", "null"]}, "any": {"anyOf": [{}]}}}}}, )"
    R"({"type": "function", "function": {"name": "now"}}])";

inline chat::ToolSet weather_set() {
  chat::ToolSet set;
  set.list = nlohmann::ordered_json::parse(weather_tools);
  for (const nlohmann::ordered_json& each : set.list)
    set.tools.push_back(
        {each["function"]["name"], each["function"].value("parameters", nlohmann::ordered_json())});
  return set;
}

// As an answer's text has it.
inline std::string call(const std::string& name, const std::string& arguments) {
  return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
}

// Its templates by their names, its tools and its cases.
inline const nlohmann::ordered_json& golden_prompts() {
  static const nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(content(golden("tool_prompts.json")), nullptr, false);
  return json;
}

inline constexpr const char* syntax_names[] = {"hermes", "qwen_xml", "mistral_list", "mistral_name",
                                               "llama",  "gemma",    "harmony"};

// The model of a syntax.
inline TemplateModel model_of_syntax(const std::string& style) {
  const Marks marks = style == "harmony" ? Marks::harmony : style == "gemma" ? Marks::gemma : Marks::chatml;
  return {marks, golden_prompts()["templates"][style].get<std::string>()};
}

inline GenerateRequest asked_with_tools(const std::string& tools = weather_tools) {
  GenerateRequest request;
  request.messages = {{"user", "Weather?"}};
  request.tools = tools;
  return request;
}

}  // namespace fovea::tests
