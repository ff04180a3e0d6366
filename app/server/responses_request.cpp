#include <algorithm>
#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"
#include "app/server/responses.h"

namespace fovea::app {
namespace {

// Puts the items of one answer, thoughts, text and calls, together to one message.
class Conversation {
 public:
  // names: of calls, by their ids; of earlier responses' at first.
  Conversation(std::vector<Message>& into, CallNames& names) : into_(into), names_(names) {}

  void reasoning(const std::string& text) {
    if (!text_.empty() || !calls_.empty()) flush();
    reasoning_ += text;
  }
  void answer(const std::string& text) {
    if (!calls_.empty()) flush();
    text_ += text;
  }
  void call(ToolCall call) {
    names_[call.id] = call.name;
    calls_.push_back(std::move(call));
  }
  void message(Message message) {
    flush();
    into_.push_back(std::move(message));
  }
  std::string name_of(const std::string& call_id) const {
    const auto found = names_.find(call_id);
    return found != names_.end() ? found->second : std::string();
  }
  void flush() {
    const std::string text = answer_text(reasoning_, text_, calls_);
    if (!text.empty()) into_.push_back({.role = "assistant", .content = text});
    reasoning_.clear();
    text_.clear();
    calls_.clear();
  }

 private:
  std::vector<Message>& into_;
  std::string reasoning_, text_;
  std::vector<ToolCall> calls_;
  std::map<std::string, std::string> names_;  // of calls, by their ids
};

void read_item(JsonFields& item, Conversation& conversation) {
  const std::string type = item.text("type").value_or("message");
  if (type == "message") {
    const auto role = item.one_of("role", {"system", "developer", "user", "assistant"});
    if (!role) return item.wrong("role", phrases::server_there());
    static constexpr const char* roles[] = {"system", "system", "user", "assistant"};
    const std::string text = read_content(item, "content", {"input_text", "output_text", "text"});
    if (*role == 3) return conversation.answer(text);
    conversation.message({.role = roles[*role], .content = text});
  } else if (type == "reasoning") {
    conversation.reasoning(read_content(item, "content", {"reasoning_text", "text"}));
  } else if (type == "function_call") {
    ToolCall call{.id = item.needed_text("call_id"), .name = item.needed_text("name"), .arguments = "{}"};
    if (const auto parsed = parse_body(item.needed_text("arguments"))) {
      call.arguments = dump(*parsed);
    } else {
      item.wrong("arguments", phrases::server_encoded_object());
    }
    conversation.call(std::move(call));
  } else if (type == "function_call_output") {
    Message result{.role = "tool", .content = read_content(item, "output", {"input_text", "output_text"})};
    result.tool_call_id = item.needed_text("call_id");
    result.tool_name = conversation.name_of(result.tool_call_id);
    conversation.message(std::move(result));
  } else {
    item.fail(errors::server_only_text(item.place("type"), type.substr(0, 50)));
  }
}

void read_input(JsonFields& fields, std::vector<Message>& into, CallNames& names) {
  const Json* const input = fields.take("input");
  if (input != nullptr && input->is_string()) {
    into.push_back({.role = "user", .content = input->get<std::string>()});
    return;
  }
  if (input == nullptr || !input->is_array() || input->empty())
    return fields.wrong("input", phrases::server_text_parts());
  Conversation conversation(into, names);
  for (std::size_t i = 0; i < input->size() && !fields.has_failed(); ++i) {
    const std::string place = "input[" + std::to_string(i) + "]";
    if (!(*input)[i].is_object()) return fields.wrong(place, phrases::server_an_object());
    std::optional<Error> error;
    JsonFields item((*input)[i], error, place + ".");
    read_item(item, conversation);
    if (error) fields.fail(*error);
  }
  conversation.flush();
}

// Functions stand here without an object of their own.
void read_tools(JsonFields& fields, ChatRequest& request) {
  const Json* const tools = fields.list("tools");
  if (tools == nullptr) return;
  Json functions = Json::array();
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const std::string place = "tools[" + std::to_string(i) + "]";
    if (!(*tools)[i].is_object()) return fields.wrong(place, phrases::server_an_object());
    std::optional<Error> error;
    JsonFields tool((*tools)[i], error, place + ".");
    const std::string type = tool.needed_text("type");
    if (type == "function") {
      const std::string name = tool.needed_text("name");
      const auto description = tool.text("description");
      const Json text = description.value_or("");
      functions.push_back(function_tool(name, description ? &text : nullptr, tool.object("parameters")));
    } else {
      request.skipped_tools.push_back(type);
    }
    if (error) return fields.fail(*error);
  }
  if (!functions.empty()) request.generate.tools = dump(functions);
}

void read_text_settings(JsonFields& fields, ChatRequest& request) {
  const Json* const text = fields.object("text");
  if (text == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*text, error, "text.");
  read_openai_format(inner, "format", request);
  // How much it says is the model's own affair; medium is what it does without being told.
  if (inner.text("verbosity").value_or("medium") != "medium") inner.refuse("verbosity");
  if (!error) inner.finish({});
  if (error) fields.fail(*error);
}

void read_reasoning(JsonFields& fields, ChatRequest& request) {
  const Json* const reasoning = fields.object("reasoning");
  if (reasoning == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*reasoning, error, "reasoning.");
  read_effort(inner, "effort", request);
  // Thoughts are given as they are, and never summed up.
  if (!error)
    inner.finish({.honoured = {}, .without_effect = {"summary", "generate_summary"}, .refused = {}});
  if (error) fields.fail(*error);
}

void read_include(JsonFields& fields, GenerateRequest& generate) {
  const auto top = fields.integer("top_logprobs", 0, 20);
  bool wants = false;
  for (const std::string& what : fields.texts("include", 16)) {
    if (what == "message.output_text.logprobs") {
      wants = true;
    } else if (what != "reasoning.encrypted_content") {  // thoughts come as text
      fields.refuse("include");
    }
  }
  if (wants) generate.top_logprobs = static_cast<std::int32_t>(top.value_or(0));
  if (!wants && top.value_or(0) > 0) fields.refuse("top_logprobs");
}

}  // namespace

const ParameterKinds& responses_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "input", "instructions", "previous_response_id", "stream", "temperature", "top_p",
                   "max_output_tokens", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning",
                   "truncation", "include", "top_logprobs", "store"},
      .without_effect = {"metadata", "user", "safety_identifier", "service_tier", "prompt_cache_key",
                         "prompt_cache_retention", "stream_options"},
      .refused = {"background", "conversation", "prompt", "max_tool_calls", "context_management"}};
  return kinds;
}

Result<ResponsesRequest> read_responses(const Json& body, ResponseStore& store) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  ResponsesRequest request;
  ChatRequest& chat = request.chat;
  chat.model = fields.text("model").value_or("");
  const auto instructions = fields.text("instructions");
  const auto previous = fields.text("previous_response_id");
  if (previous) {
    if (auto found = store.find(*previous)) {
      request.kept = *std::move(found);
    } else {
      fields.fail(errors::server_no_response(previous->substr(0, 100)));
    }
  }
  read_input(fields, request.kept.conversation, request.kept.call_names);
  read_openai_sampling(fields, chat);
  chat.generate.max_tokens =
      static_cast<std::int32_t>(fields.integer("max_output_tokens", 1, max_answer_tokens).value_or(-1));
  read_tools(fields, chat);
  read_openai_tool_choice(fields, chat);
  read_text_settings(fields, chat);
  read_reasoning(fields, chat);
  read_include(fields, chat.generate);
  const auto truncation = fields.one_of("truncation", {"disabled", "auto"});
  if (truncation == 1) chat.generate.overflow = ContextOverflow::drop_oldest_turns;
  request.is_kept = fields.boolean("store").value_or(true);
  chat.stream = fields.boolean("stream").value_or(false);
  fields.finish(responses_parameters());
  if (error) return std::unexpected(*std::move(error));

  request.kept.response = {};
  request.kept.input = input_items(body["input"]);
  if (instructions) chat.generate.messages.push_back({.role = "system", .content = *instructions});
  std::ranges::copy(request.kept.conversation, std::back_inserter(chat.generate.messages));
  const auto given = [&](const char* name, Json otherwise) { return body.value(name, std::move(otherwise)); };
  request.told = {{"instructions", given("instructions", nullptr)},
                  {"max_output_tokens", given("max_output_tokens", nullptr)},
                  {"metadata", given("metadata", Json::object())},
                  {"parallel_tool_calls", chat.generate.parallel_tool_calls},
                  {"previous_response_id", given("previous_response_id", nullptr)},
                  {"reasoning", given("reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
                  {"store", request.is_kept},
                  {"temperature", given("temperature", nullptr)},
                  {"text", given("text", {{"format", {{"type", "text"}}}})},
                  {"tool_choice", given("tool_choice", "auto")},
                  {"tools", given("tools", Json::array())},
                  {"top_p", given("top_p", nullptr)},
                  {"truncation", truncation == 1 ? "auto" : "disabled"},
                  {"user", given("user", nullptr)}};
  return request;
}

}  // namespace fovea::app
