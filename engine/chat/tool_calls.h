// Functions that a model may call, and its calls. In an answer's text a call stands as
//
//   <tool_call>
//   {"name": "weather", "arguments": {"city": "Rome"}}
//   </tool_call>
//
// however the model writes it. What stands so and is no such object is text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/text/text_model.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

inline constexpr std::string_view call_open = "<tool_call>";
inline constexpr std::string_view call_close = "</tool_call>";

struct ToolCall {
  std::string name;
  nlohmann::ordered_json arguments;  // an object
  std::string id;                    // empty: the model gave none
};

// A text without the calls in it. Blanks before a call go with it.
struct CalledText {
  std::string text;
  std::vector<ToolCall> calls;
};
CalledText split_calls(std::string_view text);

struct Tool {
  std::string name;
  nlohmann::ordered_json parameters;  // a JSON schema; null: not said
};

// What a request says of tools; none where it has none, or chooses none.
struct ToolSet {
  nlohmann::ordered_json list;  // as the template gets it
  std::vector<Tool> tools;

  bool empty() const { return tools.empty(); }
  const Tool* find(std::string_view name) const;
};
// How models write calls.
enum class CallSyntax : std::uint8_t {
  hermes,        // <tool_call>{"name": …, "arguments": {…}}</tool_call>; Qwen
  qwen_xml,      // <tool_call><function=name><parameter=key>value</parameter></function></tool_call>
  mistral_list,  // [TOOL_CALLS][{"name": …, "arguments": {…}}, …]
  mistral_name,  // [TOOL_CALLS]name[ARGS]{…}, for each call
  llama,         // {"name": …, "parameters": {…}} as the whole answer
  gemma,         // <|tool_call>call:name{key:value}<tool_call|>
  harmony        // a message to=functions.name
};

// Found by what the model's template makes of a call; where it does not render any, by the vocabulary's
// control tokens. Nothing: none of these.
std::optional<CallSyntax> call_syntax(const TextModel& text, const text::Tokenizer& tokenizer);

// ErrorKind::invalid where the list is none of functions, or what is chosen does not go with it; unsupported
// where the model cannot be given tools, or its syntax is not known.
Result<ToolSet> tools_of(const GenerateRequest& request, const TextModel& text,
                         std::optional<CallSyntax> syntax);

}  // namespace fovea::chat
