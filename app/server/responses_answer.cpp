#include <utility>

#include "app/server/responses.h"
#include "app/server/token_choices.h"

namespace fovea::app {
namespace {

// Writes one response: its items in order, each with its events where it is streamed.
class ResponseWriter : public AnswerWriter {
 public:
  ResponseWriter(std::shared_ptr<const ResponsesRequest> request, ServedModel& model, AnswerStream* stream,
                 ResponseStore& store)
      : request_(std::move(request)),
        model_(model),
        stream_(stream),
        store_(store),
        id_(new_id("resp_")),
        created_(unix_seconds()) {}

  bool event(const ChoiceEvent& said) override {
    const AnswerEvent& event = said.event;
    if (stream_ == nullptr) return true;
    tokens_.insert(tokens_.end(), said.tokens.begin(), said.tokens.end());
    switch (event.kind) {
      case AnswerEvent::Kind::reasoning:
        open(Item::reasoning);
        text_ += event.text;
        return send("response.reasoning_text.delta", {{"content_index", 0}, {"delta", event.text}});
      case AnswerEvent::Kind::content:
        open(Item::message);
        text_ += event.text;
        return send("response.output_text.delta",
                    {{"content_index", 0},
                     {"delta", event.text},
                     {"logprobs", choices_json(std::exchange(tokens_, {}), model_.text())}});
      case AnswerEvent::Kind::call_begin:
        close();
        call_ = *said.call;
        return open(Item::call);
      case AnswerEvent::Kind::call_arguments:
        text_ += event.text;
        return send("response.function_call_arguments.delta", {{"delta", event.text}});
      case AnswerEvent::Kind::call_end:
        return close();
    }
    return true;
  }
  void choice_end(std::int32_t, const Answer& answer, std::span<const TokenChoice>) override {
    if (stream_ == nullptr) return;
    begin();
    if (item_ == Item::none && output_.empty()) open(Item::message);  // an answer that says nothing
    logprobs_ = logprobs(answer);
    close();
  }
  void end(const std::vector<Answer>& answers) override {
    const Json response = finished(answers, std::move(output_));
    send_whole("response." + response["status"].get<std::string>(), response);
  }
  void failed(const Error& error) override {
    const Json told = error_json(Dialect::openai, error)["error"];
    stream_->send(server_sent(dump({{"type", "error"},
                                    {"sequence_number", number_++},
                                    {"code", told["code"]},
                                    {"message", told["message"]},
                                    {"param", told["param"]}}),
                              "error"));
  }
  Json whole(const std::vector<Answer>& answers) override {
    const Answer& answer = answers.front();
    Json output = Json::array();
    if (!answer.reasoning.empty())
      output.push_back(item_json(Item::reasoning, new_id("rs_"), answer.reasoning, {}));
    logprobs_ = logprobs(answer);
    if (!answer.content.empty() || (answer.calls.empty() && answer.reasoning.empty()))
      output.push_back(item_json(Item::message, new_id("msg_"), answer.content, {}));
    for (const ToolCall& call : answer.calls)
      output.push_back(item_json(Item::call, new_id("fc_"), call.arguments, call));
    return finished(answers, std::move(output));
  }

 private:
  enum class Item : std::uint8_t { none, reasoning, message, call };

  Json logprobs(const Answer& answer) const {
    return request_->chat.generate.top_logprobs < 0 ? Json::array()
                                                    : choices_json(answer.result.choices, model_.text());
  }
  Json part_json(Item item, const std::string& text) const {
    if (item == Item::reasoning) return {{"type", "reasoning_text"}, {"text", text}};
    return {{"type", "output_text"}, {"annotations", Json::array()}, {"logprobs", logprobs_}, {"text", text}};
  }
  // text: nothing yet where the item begins.
  Json item_json(Item item, const std::string& id, const std::optional<std::string>& text,
                 const ToolCall& call) const {
    const char* const status = text ? "completed" : "in_progress";
    Json parts = Json::array();
    if (text && item != Item::call) parts.push_back(part_json(item, *text));
    switch (item) {
      case Item::reasoning:
        return {{"id", id},
                {"type", "reasoning"},
                {"summary", Json::array()},
                {"content", std::move(parts)},
                {"status", status}};
      case Item::call:
        return {{"id", id},           {"type", "function_call"}, {"status", status},
                {"call_id", call.id}, {"name", call.name},       {"arguments", text.value_or("")}};
      case Item::message:
      case Item::none:
        break;
    }
    return {{"id", id},
            {"type", "message"},
            {"status", status},
            {"role", "assistant"},
            {"content", std::move(parts)}};
  }

  Json response_json(const char* status, Json output) const {
    Json json = {{"id", id_},
                 {"object", "response"},
                 {"created_at", created_},
                 {"status", status},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"model", model_.name()},
                 {"output", std::move(output)}};
    json.update(request_->told);
    json["usage"] = nullptr;
    return json;
  }
  // Keeps the conversation, too.
  Json finished(const std::vector<Answer>& answers, Json output) {
    const Answer& answer = answers.front();
    const FinishReason finish = answer.result.finish;
    const bool cut = finish == FinishReason::max_tokens || finish == FinishReason::context_full;
    Json json = response_json(cut ? "incomplete" : "completed", std::move(output));
    if (cut) json["incomplete_details"] = {{"reason", "max_output_tokens"}};
    const Usage usage = usage_of(answers, model_.text());
    json["usage"] = {{"input_tokens", usage.prompt_tokens},
                     {"input_tokens_details", {{"cached_tokens", usage.reused_tokens}}},
                     {"output_tokens", usage.answer_tokens},
                     {"output_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}},
                     {"total_tokens", usage.prompt_tokens + usage.answer_tokens}};
    if (request_->is_kept) {
      KeptResponse kept = request_->kept;
      kept.conversation.push_back({.role = "assistant", .content = answer.result.text});
      for (const ToolCall& call : answer.calls) kept.call_names[call.id] = call.name;
      kept.response = json;
      store_.put(id_, std::move(kept));
    }
    return json;
  }

  void begin() {
    if (std::exchange(has_begun_, true)) return;
    send_whole("response.created", response_json("in_progress", Json::array()));
    send_whole("response.in_progress", response_json("in_progress", Json::array()));
  }
  bool open(Item item) {
    begin();
    if (item == item_) return true;
    close();
    item_ = item;
    item_id_ = new_id(item == Item::reasoning ? "rs_" : item == Item::call ? "fc_" : "msg_");
    text_.clear();
    send_item("response.output_item.added", item_json(item_, item_id_, std::nullopt, call_));
    return item == Item::call ||
           send("response.content_part.added", {{"content_index", 0}, {"part", part_json(item, "")}});
  }
  bool close() {
    if (item_ == Item::none) return true;
    if (item_ == Item::call) {
      send("response.function_call_arguments.done", {{"name", call_.name}, {"arguments", text_}});
    } else {
      Json done = {{"content_index", 0}, {"text", text_}};
      if (item_ == Item::message) done["logprobs"] = logprobs_;
      send(item_ == Item::reasoning ? "response.reasoning_text.done" : "response.output_text.done", done);
      send("response.content_part.done", {{"content_index", 0}, {"part", part_json(item_, text_)}});
    }
    Json item = item_json(item_, item_id_, text_, call_);
    const bool sent = send_item("response.output_item.done", item);
    output_.push_back(std::move(item));
    item_ = Item::none;
    return sent;
  }

  bool send_event(const std::string& type, Json data) {
    Json event = {{"type", type}, {"sequence_number", number_++}};
    event.update(data);
    return stream_->send(server_sent(dump(event), type));
  }
  bool send_whole(const std::string& type, const Json& response) {
    return send_event(type, {{"response", response}});
  }
  bool send_item(const std::string& type, const Json& item) {
    return send_event(type, {{"output_index", output_.size()}, {"item", item}});
  }
  bool send(const std::string& type, const Json& more) {
    Json data = {{"item_id", item_id_}, {"output_index", output_.size()}};
    data.update(more);
    return send_event(type, std::move(data));
  }

  const std::shared_ptr<const ResponsesRequest> request_;
  ServedModel& model_;
  AnswerStream* const stream_;
  ResponseStore& store_;
  const std::string id_;
  const std::int64_t created_;
  bool has_begun_ = false;
  int number_ = 0;
  Json output_ = Json::array();
  Json logprobs_ = Json::array();
  std::vector<TokenChoice> tokens_;  // that no piece had
  // Of the item that is being written:
  Item item_ = Item::none;
  std::string item_id_, text_;
  ToolCall call_;
};

}  // namespace

AnswerStyle responses_style(std::shared_ptr<const ResponsesRequest> request, ResponseStore& store) {
  return {.dialect = Dialect::openai,
          .writer = [request = std::move(request), &store](const ChatRequest&, ServedModel& model,
                                                           AnswerStream* stream) {
            return std::make_unique<ResponseWriter>(request, model, stream, store);
          }};
}

}  // namespace fovea::app
