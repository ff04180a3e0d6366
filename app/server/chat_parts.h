// What the protocols' requests have in common: messages' parts, functions, sampling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/server/chat.h"
#include "app/server/json_fields.h"

namespace fovea::app {

inline constexpr std::size_t max_stops = 16;
inline constexpr std::int64_t max_answer_tokens = 1 << 30;

// A text, or a list of parts whose type is `text_type`; parts of other types are refused by theirs. Put
// together without anything between them. null and what is not there: empty.
std::string read_content(JsonFields& fields, std::string_view name,
                         std::initializer_list<std::string_view> text_types, std::string_view key = "text");

// Sampling as OpenAI names it, with top_k, min_p, repeat_penalty and repetition_penalty, which servers of
// open models added to it.
void read_openai_sampling(JsonFields& fields, ChatRequest& request);

// What a function is, in the order that templates show. Some show a description without asking whether there
// is one (gpt-oss'), which protocols allow to be left out.
Json function_tool(const std::string& name, const Json* description, const Json* parameters);

// [{"type": "function", "function": {"name", …}}]; the kinds of others go to skipped_tools.
void read_openai_tools(JsonFields& fields, ChatRequest& request);
// "auto", "none", "required", or {"type": "function", "function": {"name"}}.
void read_openai_tool_choice(JsonFields& fields, ChatRequest& request);
// The functions' names, of GenerateRequest::tools.
bool has_tool(const ChatRequest& request, std::string_view name);

// {"type": "text" | "json_object" | "json_schema", "json_schema": {"schema"}}
void read_openai_format(JsonFields& fields, std::string_view name, ChatRequest& request);

// How hard to think: "none", "minimal", "low", "medium", "high". minimal is low.
void read_effort(JsonFields& fields, std::string_view name, ChatRequest& request);

// What was asked of thinking as this model's template takes it; refused where it has no such thing. A model
// that does not think has nothing to switch off.
Result<void> settle_thinking(ChatRequest& request, const ModelInfo& info);

}  // namespace fovea::app
