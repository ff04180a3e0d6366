#include "app/server/openai_chat.h"

#include <map>
#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"
#include "app/server/openai_writer.h"
#include "app/server/token_choices.h"

namespace fovea::app {

const ParameterKinds& openai_chat_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model",
                   "messages",
                   "stream",
                   "stream_options",
                   "temperature",
                   "top_p",
                   "top_k",
                   "min_p",
                   "presence_penalty",
                   "frequency_penalty",
                   "repeat_penalty",
                   "repetition_penalty",
                   "seed",
                   "stop",
                   "n",
                   "max_tokens",
                   "max_completion_tokens",
                   "response_format",
                   "tools",
                   "tool_choice",
                   "parallel_tool_calls",
                   "logprobs",
                   "top_logprobs",
                   "reasoning_effort",
                   "modalities"},
      .without_effect = {"store", "metadata", "user", "safety_identifier", "service_tier", "prompt_cache_key",
                         "prompt_cache_retention", "prediction", "cache_prompt"},
      .refused = {"logit_bias", "audio", "functions", "function_call", "web_search_options", "verbosity",
                  "grammar", "best_of"}};
  return kinds;
}

namespace {

// Calls of an earlier answer.
std::vector<ToolCall> read_calls(JsonFields& fields) {
  std::vector<ToolCall> calls;
  const Json* const list = fields.list("tool_calls");
  if (list == nullptr) return calls;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = "tool_calls[" + std::to_string(i) + "]";
    const Json& call = (*list)[i];
    const Json function = call.is_object() ? call.value("function", Json()) : Json();
    if (!function.is_object()) {
      fields.wrong(place + ".function", phrases::server_an_object());
      return calls;
    }
    std::optional<Error> error;
    JsonFields outer(call, error, fields.place(place) + "."),
        inner(function, error, fields.place(place) + ".function.");
    ToolCall read{.id = outer.text("id").value_or(""), .name = inner.needed_text("name"), .arguments = "{}"};
    const std::string arguments = inner.needed_text("arguments");
    if (!arguments.empty()) {
      const auto parsed = parse_body(arguments);
      if (!parsed) inner.wrong("arguments", phrases::server_encoded_object());
      if (parsed) read.arguments = dump(*parsed);
    }
    if (error) {
      fields.fail(*error);
      return calls;
    }
    calls.push_back(std::move(read));
  }
  return calls;
}

class ChatWriter : public OpenaiWriter {
 public:
  ChatWriter(const ChatRequest& request, ServedModel& model, AnswerStream* stream)
      : OpenaiWriter(request, model, stream,
                     {.whole = "chat.completion", .piece = "chat.completion.chunk", .id = "chatcmpl-"}) {}

  bool event(const ChoiceEvent& said) override {
    if (!is_streamed()) return true;
    keep(said.choice, said.tokens);
    const std::string& text = said.event.text;
    Stream& stream = streams_[said.choice];
    switch (said.event.kind) {
      case AnswerEvent::Kind::reasoning:
        return delta(said.choice, {{"reasoning_content", text}});
      case AnswerEvent::Kind::content:
        return delta(said.choice, {{"content", text}});
      case AnswerEvent::Kind::call_begin:
        return delta(said.choice, {{"tool_calls",
                                    {{{"index", ++stream.call},
                                      {"id", said.call->id},
                                      {"type", "function"},
                                      {"function", {{"name", said.call->name}, {"arguments", ""}}}}}}});
      case AnswerEvent::Kind::call_arguments:
        return delta(said.choice,
                     {{"tool_calls", {{{"index", stream.call}, {"function", {{"arguments", text}}}}}}});
      case AnswerEvent::Kind::call_end:
        return true;
    }
    return true;
  }

  void choice_end(std::int32_t choice, const Answer& answer, std::span<const TokenChoice> tokens) override {
    if (!is_streamed()) return;
    keep(choice, tokens);
    begin(choice);
    send(piece(choice, Json::object(), openai_finish(answer)));
  }

  Json whole(const std::vector<Answer>& answers) override {
    Json choices = Json::array();
    for (const Answer& answer : answers) {
      Json message = {{"role", "assistant"}, {"content", nullptr}, {"refusal", nullptr}};
      if (!answer.content.empty() || answer.calls.empty()) message["content"] = answer.content;
      if (!answer.reasoning.empty()) message["reasoning_content"] = answer.reasoning;
      for (const ToolCall& call : answer.calls)
        message["tool_calls"].push_back({{"id", call.id},
                                         {"type", "function"},
                                         {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
      choices.push_back({{"index", choices.size()},
                         {"message", std::move(message)},
                         {"logprobs", wants_tokens() ? logprobs(answer.result.choices) : Json()},
                         {"finish_reason", openai_finish(answer)}});
    }
    return whole_json(answers, std::move(choices));
  }

 private:
  struct Stream {  // of a choice
    bool has_begun = false;
    std::int32_t call = -1;  // the last one
  };

  void begin(std::int32_t choice) {
    if (std::exchange(streams_[choice].has_begun, true)) return;
    send({{"index", choice},
          {"delta", {{"role", "assistant"}, {"content", ""}}},
          {"logprobs", nullptr},
          {"finish_reason", nullptr}});
  }
  bool delta(std::int32_t choice, Json what) {
    begin(choice);
    return send(piece(choice, std::move(what), nullptr));
  }
  Json piece(std::int32_t choice, Json delta, const Json& finish) {
    const std::vector<TokenChoice> tokens = kept(choice);
    return {{"index", choice},
            {"delta", std::move(delta)},
            {"logprobs", tokens.empty() ? Json() : logprobs(tokens)},
            {"finish_reason", finish}};
  }
  Json logprobs(const std::vector<TokenChoice>& tokens) const {
    return {{"content", choices_json(tokens, text())}, {"refusal", nullptr}};
  }

  std::map<std::int32_t, Stream> streams_;  // by choice
};

}  // namespace

void read_openai_messages(const Json& messages, std::optional<Error>& error, std::vector<Message>& into) {
  std::map<std::string, std::string> names;  // of calls, by their ids
  for (std::size_t i = 0; i < messages.size() && !error; ++i) {
    const std::string place = "messages[" + std::to_string(i) + "]";
    if (!messages[i].is_object()) {
      error = errors::server_wrong_parameter(place, phrases::server_an_object())
                  .at(phrases::server_request_place());
      return;
    }
    JsonFields fields(messages[i], error, place + ".");
    const auto role = fields.one_of("role", {"system", "developer", "user", "assistant", "tool"});
    if (!role) return fields.wrong("role", phrases::server_there());
    static constexpr const char* roles[] = {"system", "system", "user", "assistant", "tool"};
    Message message{.role = roles[*role],
                    .content = read_content(fields, "content", {"text", "input_text", "output_text"})};
    if (message.role == "assistant") {
      std::string reasoning = fields.text("reasoning_content").value_or("");
      if (reasoning.empty()) reasoning = fields.text("reasoning").value_or("");
      const std::vector<ToolCall> calls = read_calls(fields);
      for (const ToolCall& call : calls) names[call.id] = call.name;
      message.content = answer_text(reasoning, message.content, calls);
    } else if (message.role == "tool") {
      message.tool_call_id = fields.needed_text("tool_call_id");
      const auto name = names.find(message.tool_call_id);
      message.tool_name = name != names.end() ? name->second : fields.text("name").value_or("");
    }
    into.push_back(std::move(message));
  }
}

Result<ChatRequest> read_openai_chat(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  ChatRequest request;
  request.model = fields.text("model").value_or("");
  const Json* const messages = fields.list("messages");
  if (messages == nullptr || messages->empty()) fields.wrong("messages", phrases::server_not_empty());
  if (messages != nullptr) read_openai_messages(*messages, error, request.generate.messages);
  read_openai_sampling(fields, request);
  request.generate.stop = fields.texts("stop", max_stops);
  request.choices = static_cast<std::int32_t>(fields.integer("n", 1, 32).value_or(1));
  const auto most = fields.integer("max_tokens", 1, max_answer_tokens);
  const auto completion = fields.integer("max_completion_tokens", 1, max_answer_tokens);
  request.generate.max_tokens = static_cast<std::int32_t>(completion.value_or(most.value_or(-1)));
  read_openai_format(fields, "response_format", request);
  read_openai_tools(fields, request);
  read_openai_tool_choice(fields, request);
  read_effort(fields, "reasoning_effort", request);
  const auto top = fields.integer("top_logprobs", 0, 20);
  if (fields.boolean("logprobs").value_or(false)) {
    request.generate.top_logprobs = static_cast<std::int32_t>(top.value_or(0));
  } else if (top.value_or(0) > 0) {
    fields.refuse("top_logprobs");
  }
  for (const std::string& kind : fields.texts("modalities", 4))
    if (kind != "text") fields.refuse("modalities");
  request.stream = fields.boolean("stream").value_or(false);
  if (const Json* const options = fields.object("stream_options")) {
    JsonFields inner(*options, error, "stream_options.");
    request.stream_usage = inner.boolean("include_usage").value_or(false) && request.stream;
    inner.finish({.honoured = {"include_usage"}, .without_effect = {"include_obfuscation"}, .refused = {}});
  }
  fields.finish(openai_chat_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

AnswerStyle openai_chat_style() {
  return {.dialect = Dialect::openai,
          .writer = [](const ChatRequest& request, ServedModel& model, AnswerStream* stream) {
            return std::make_unique<ChatWriter>(request, model, stream);
          }};
}

}  // namespace fovea::app
