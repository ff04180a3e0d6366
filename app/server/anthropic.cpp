#include "app/server/anthropic.h"

#include <map>
#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"

namespace fovea::app {
namespace {

const char* stop_reason(const Answer& answer) {
  switch (answer.result.finish) {
    case FinishReason::max_tokens:
      return "max_tokens";
    case FinishReason::context_full:
      return "model_context_window_exceeded";
    case FinishReason::stop_string:
      return "stop_sequence";
    case FinishReason::stop_token:
    case FinishReason::cancelled:
      break;
  }
  return answer.calls.empty() ? "end_turn" : "tool_use";
}

// A call that was cut off has no whole arguments: what there is says so by being empty.
Json input_of(const ToolCall& call) {
  const Json input = Json::parse(call.arguments, nullptr, false);
  return input.is_object() ? input : Json::object();
}

class MessageWriter : public AnswerWriter {
 public:
  MessageWriter(const ChatRequest& request, ServedModel& model, AnswerStream* stream)
      : stops_(request.generate.stop), model_(model), stream_(stream), id_(new_id("msg_")) {}

  bool event(const ChoiceEvent& said) override {
    const AnswerEvent& event = said.event;
    if (stream_ == nullptr) return true;
    switch (event.kind) {
      case AnswerEvent::Kind::reasoning:
        return open(Block::thinking, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}) &&
               delta({{"type", "thinking_delta"}, {"thinking", event.text}});
      case AnswerEvent::Kind::content:
        return open(Block::text, {{"type", "text"}, {"text", ""}}) &&
               delta({{"type", "text_delta"}, {"text", event.text}});
      case AnswerEvent::Kind::call_begin:
        close();
        return open(Block::call, {{"type", "tool_use"},
                                  {"id", said.call->id},
                                  {"name", said.call->name},
                                  {"input", Json::object()}});
      case AnswerEvent::Kind::call_arguments:
        return delta({{"type", "input_json_delta"}, {"partial_json", event.text}});
      case AnswerEvent::Kind::call_end:
        return close();
    }
    return true;
  }

  void choice_end(std::int32_t, const Answer&, std::span<const TokenChoice>) override {}

  void end(const std::vector<Answer>& answers) override {
    const Answer& answer = answers.front();
    begin();
    close();
    send("message_delta",
         {{"type", "message_delta"},
          {"delta", {{"stop_reason", stop_reason(answer)}, {"stop_sequence", stop_sequence(answer)}}},
          {"usage", usage(answers)}});
    send("message_stop", {{"type", "message_stop"}});
  }

  void failed(const Error& error) override { send("error", error_json(Dialect::anthropic, error)); }

  Json whole(const std::vector<Answer>& answers) override {
    const Answer& answer = answers.front();
    Json content = Json::array();
    if (!answer.reasoning.empty())
      content.push_back({{"type", "thinking"}, {"thinking", answer.reasoning}, {"signature", ""}});
    if (!answer.content.empty()) content.push_back({{"type", "text"}, {"text", answer.content}});
    for (const ToolCall& call : answer.calls)
      content.push_back(
          {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", input_of(call)}});
    Json message = head();
    message["content"] = std::move(content);
    message["stop_reason"] = stop_reason(answer);
    message["stop_sequence"] = stop_sequence(answer);
    message["usage"] = usage(answers);
    return message;
  }

 private:
  enum class Block : std::uint8_t { none, thinking, text, call };

  Json head() const {
    return {{"id", id_},
            {"type", "message"},
            {"role", "assistant"},
            {"model", model_.name()},
            {"content", Json::array()},
            {"stop_reason", nullptr},
            {"stop_sequence", nullptr},
            {"usage", {{"input_tokens", 0}, {"output_tokens", 0}}}};
  }
  // Known where there was only one.
  Json stop_sequence(const Answer& answer) const {
    return answer.result.finish == FinishReason::stop_string && stops_.size() == 1 ? Json(stops_.front())
                                                                                   : Json();
  }
  Json usage(const std::vector<Answer>& answers) const {
    const Usage usage = usage_of(answers, model_.text());
    return {{"input_tokens", usage.prompt_tokens - usage.reused_tokens},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", usage.reused_tokens},
            {"output_tokens", usage.answer_tokens}};
  }
  bool send(std::string_view event, const Json& data) {
    return stream_->send(server_sent(dump(data), event));
  }
  void begin() {
    if (!std::exchange(begun_, true)) send("message_start", {{"type", "message_start"}, {"message", head()}});
  }
  bool open(Block block, Json what) {
    begin();
    if (block == block_) return true;
    close();
    block_ = block;
    return send("content_block_start",
                {{"type", "content_block_start"}, {"index", index_}, {"content_block", std::move(what)}});
  }
  bool close() {
    if (block_ == Block::none) return true;
    block_ = Block::none;
    return send("content_block_stop", {{"type", "content_block_stop"}, {"index", index_++}});
  }
  bool delta(Json what) {
    return send("content_block_delta",
                {{"type", "content_block_delta"}, {"index", index_}, {"delta", std::move(what)}});
  }

  const std::vector<std::string> stops_;
  ServedModel& model_;
  AnswerStream* const stream_;
  const std::string id_;
  bool begun_ = false;
  Block block_ = Block::none;
  int index_ = 0;
};

using Names = std::map<std::string, std::string>;  // of calls, by their ids

// A message whose content is a list of blocks. Results of calls are messages of their own, before its text.
void read_blocks(JsonFields& fields, const Json& blocks, const std::string& role, Names& names,
                 std::vector<Message>& into) {
  std::string reasoning, text;
  std::vector<ToolCall> calls;
  for (std::size_t i = 0; i < blocks.size() && !fields.has_failed(); ++i) {
    const std::string place = "content[" + std::to_string(i) + "]";
    if (!blocks[i].is_object()) return fields.wrong(place, phrases::server_an_object());
    std::optional<Error> error;
    JsonFields block(blocks[i], error, fields.place(place) + ".");
    const std::string type = block.needed_text("type");
    const bool is_answer = role == "assistant";
    if (type == "text") {
      text += block.needed_text("text");
    } else if (type == "thinking" && is_answer) {
      reasoning += block.needed_text("thinking");
    } else if (type == "redacted_thinking" && is_answer) {
      // Nobody here can read it, and nobody here has written it.
    } else if (type == "tool_use" && is_answer) {
      const Json* const input = block.object("input");
      calls.push_back(
          {block.needed_text("id"), block.needed_text("name"), input != nullptr ? dump(*input) : "{}"});
      names[calls.back().id] = calls.back().name;
    } else if (type == "tool_result" && !is_answer) {
      Message result{.role = "tool", .content = read_content(block, "content", {"text"})};
      result.tool_call_id = block.needed_text("tool_use_id");
      result.tool_name = names[result.tool_call_id];
      into.push_back(std::move(result));
    } else if (!error) {
      block.fail(errors::server_only_text(fields.place(place), type.substr(0, 50)));
    }
    if (error) return fields.fail(*error);
  }
  if (role == "assistant") {
    into.push_back({.role = role, .content = answer_text(reasoning, text, calls)});
  } else if (!text.empty() || into.empty() || into.back().role != "tool") {
    into.push_back({.role = role, .content = text});
  }
}

void read_messages(const Json& messages, std::optional<Error>& error, std::vector<Message>& into) {
  Names names;
  for (std::size_t i = 0; i < messages.size() && !error; ++i) {
    const std::string place = "messages[" + std::to_string(i) + "].";
    const Json empty = Json::object();
    JsonFields fields(messages[i].is_object() ? messages[i] : empty, error, place);
    const auto role = fields.one_of("role", {"user", "assistant", "system"});
    if (!role) return fields.wrong("role", phrases::server_there());
    const std::string name = std::vector<const char*>{"user", "assistant", "system"}[*role];
    const Json* const content = fields.take("content");
    if (content != nullptr && content->is_array()) {
      read_blocks(fields, *content, name, names, into);
    } else if (content != nullptr && content->is_string()) {
      into.push_back({.role = name, .content = content->get<std::string>()});
    } else {
      fields.wrong("content", phrases::server_text_parts());
    }
  }
}

// Functions are of the kind "custom" or of none; the others run at Anthropic.
void read_tools(JsonFields& fields, ChatRequest& request) {
  const Json* const tools = fields.list("tools");
  if (tools == nullptr) return;
  Json functions = Json::array();
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const std::string place = "tools[" + std::to_string(i) + "].";
    const Json empty = Json::object();
    std::optional<Error> error;
    JsonFields tool((*tools)[i].is_object() ? (*tools)[i] : empty, error, place);
    const std::string type = tool.text("type").value_or("custom");
    if (type == "custom") {
      const std::string name = tool.needed_text("name");
      const auto description = tool.text("description");
      const Json text = description.value_or("");
      functions.push_back(function_tool(name, description ? &text : nullptr, tool.object("input_schema")));
    } else {
      request.skipped_tools.push_back(type);
    }
    if (error) return fields.fail(*error);
  }
  if (!functions.empty()) request.generate.tools = dump(functions);
}

void read_tool_choice(JsonFields& fields, ChatRequest& request) {
  const Json* const choice = fields.object("tool_choice");
  if (choice == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*choice, error, "tool_choice.");
  GenerateRequest& generate = request.generate;
  const auto type = inner.one_of("type", {"auto", "none", "any", "tool"});
  generate.parallel_tool_calls = !inner.boolean("disable_parallel_tool_use").value_or(false);
  if (!type) inner.wrong("type", phrases::server_there());
  if (type == 1) generate.tool_choice = ToolChoice::none;
  if (type == 2 || type == 3) {
    if (generate.tools.empty()) inner.wrong("type", phrases::server_known_tool());
    generate.tool_choice = ToolChoice::required;
  }
  if (type == 3) {
    generate.required_tool = inner.needed_text("name");
    if (!has_tool(request, generate.required_tool)) inner.wrong("name", phrases::server_known_tool());
  }
  if (error) fields.fail(*error);
}

void read_thinking(JsonFields& fields, ChatRequest& request) {
  const Json* const thinking = fields.object("thinking");
  if (thinking == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*thinking, error, "thinking.");
  const auto type = inner.one_of("type", {"enabled", "disabled", "adaptive"});
  if (!type) inner.wrong("type", phrases::server_there());
  request.thinking_parameter = "thinking";
  // Adaptive: as the model does by itself.
  if (type == 0) request.generate.thinking = true;
  if (type == 1) request.generate.thinking = false;
  if (error) return fields.fail(*error);
  inner.finish({.honoured = {"type"}, .without_effect = {"budget_tokens", "display"}, .refused = {}});
  if (error) fields.fail(*error);
}

void read_format(JsonFields& fields, ChatRequest& request) {
  const Json* const config = fields.object("output_config");
  if (config == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*config, error, "output_config.");
  read_openai_format(inner, "format", request);
  read_effort(inner, "effort", request);
  inner.finish({});
  if (error) fields.fail(*error);
}

}  // namespace

const ParameterKinds& anthropic_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "messages", "system", "max_tokens", "stream", "stop_sequences", "temperature",
                   "top_p", "top_k", "tools", "tool_choice", "thinking", "output_config"},
      .without_effect = {"metadata", "service_tier", "cache_control", "inference_geo", "speed"},
      .refused = {"mcp_servers", "container", "context_management"}};
  return kinds;
}

const ParameterKinds& anthropic_count_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"},
      .without_effect = {"cache_control"},
      .refused = {"mcp_servers", "context_management"}};
  return kinds;
}

Result<ChatRequest> read_anthropic(const Json& body, bool count_only) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  ChatRequest request;
  request.model = fields.text("model").value_or("");
  const std::string system = read_content(fields, "system", {"text"});
  if (!system.empty()) request.generate.messages.push_back({.role = "system", .content = system});
  const Json* const messages = fields.list("messages");
  if (messages == nullptr || messages->empty()) fields.wrong("messages", phrases::server_not_empty());
  if (messages != nullptr) read_messages(*messages, error, request.generate.messages);
  // An answer that was begun goes on.
  request.generate.continue_last = !error && request.generate.messages.back().role == "assistant";
  read_tools(fields, request);
  read_tool_choice(fields, request);
  read_thinking(fields, request);
  read_format(fields, request);
  if (!count_only) {
    const auto most = fields.integer("max_tokens", 1, max_answer_tokens);
    if (!most) fields.wrong("max_tokens", phrases::server_there());
    request.generate.max_tokens = static_cast<std::int32_t>(most.value_or(-1));
    request.generate.stop = fields.texts("stop_sequences", max_stops);
    request.stream = fields.boolean("stream").value_or(false);
    if (const auto value = fields.number("temperature", 0, 1))
      request.sampling.temperature = static_cast<float>(*value);
    if (const auto value = fields.number("top_p", 1e-6, 1))
      request.sampling.top_p = static_cast<float>(*value);
    if (const auto value = fields.integer("top_k", 0, 1 << 30))
      request.sampling.top_k = static_cast<std::int32_t>(*value);
  }
  fields.finish(count_only ? anthropic_count_parameters() : anthropic_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

AnswerStyle anthropic_style() {
  return {.dialect = Dialect::anthropic,
          .writer = [](const ChatRequest& request, ServedModel& model, AnswerStream* stream) {
            return std::make_unique<MessageWriter>(request, model, stream);
          }};
}

}  // namespace fovea::app
