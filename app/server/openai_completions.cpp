#include "app/server/openai_completions.h"

#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"
#include "app/server/openai_chat.h"
#include "app/server/token_choices.h"

namespace fovea::app {
namespace {

constexpr std::int64_t default_tokens = 16;  // as OpenAI has it

class CompletionWriter : public AnswerWriter {
 public:
  CompletionWriter(const ChatRequest& request, ServedModel& model, AnswerStream* stream)
      : request_(request), model_(model), stream_(stream), id_(new_id("cmpl-")), created_(unix_seconds()) {}

  bool event(std::int32_t choice, const AnswerEvent& event, const ToolCall*) override {
    return stream_ == nullptr || send(Json::array({choice_json(choice, event.text, nullptr, nullptr)}));
  }
  void choice_end(std::int32_t choice, const Answer& answer) override {
    if (stream_ != nullptr)
      send(Json::array({choice_json(choice, "", logprobs(answer), openai_finish(answer))}));
  }
  void end(const std::vector<Answer>& answers) override {
    if (request_.stream_usage) {
      Json chunk = chunk_json(Json::array());
      chunk["usage"] = openai_usage(answers, model_.text());
      stream_->send(server_sent(dump(chunk)));
    }
    stream_->send(server_sent("[DONE]"));
  }
  void failed(const Error& error) override {
    stream_->send(server_sent(dump(error_json(Dialect::openai, error))));
  }

  Json whole(const std::vector<Answer>& answers) override {
    Json choices = Json::array();
    for (const Answer& answer : answers)
      choices.push_back(choice_json(static_cast<std::int32_t>(choices.size()),
                                    answer.reasoning + answer.content, logprobs(answer),
                                    openai_finish(answer)));
    Json json = chunk_json(std::move(choices));
    json["usage"] = openai_usage(answers, model_.text());
    return json;
  }

 private:
  Json chunk_json(Json choices) const {
    return {{"id", id_},
            {"object", "text_completion"},
            {"created", created_},
            {"model", model_.name()},
            {"system_fingerprint", nullptr},
            {"choices", std::move(choices)}};
  }
  static Json choice_json(std::int32_t choice, const std::string& text, Json logprobs, const Json& finish) {
    return {{"text", text}, {"index", choice}, {"logprobs", std::move(logprobs)}, {"finish_reason", finish}};
  }
  bool send(Json choices) { return stream_->send(server_sent(dump(chunk_json(std::move(choices))))); }
  Json logprobs(const Answer& answer) const {
    if (request_.generate.top_logprobs < 0) return nullptr;
    return choices_by_column(answer.result.choices, model_.text());
  }

  const ChatRequest request_;
  ServedModel& model_;
  AnswerStream* const stream_;
  const std::string id_;
  const std::int64_t created_;
};

}  // namespace

const ParameterKinds& openai_completions_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "prompt", "stream", "stream_options", "temperature", "top_p", "top_k", "min_p",
                   "presence_penalty", "frequency_penalty", "repeat_penalty", "repetition_penalty", "seed",
                   "stop", "n", "max_tokens", "logprobs"},
      .without_effect = {"user", "cache_prompt"},
      .refused = {"best_of", "echo", "logit_bias", "suffix", "grammar"}};
  return kinds;
}

Result<ChatRequest> read_openai_completion(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  ChatRequest request;
  request.model = fields.text("model").value_or("");
  const Json* const prompt = fields.take("prompt");
  // A list of one text is that text; several would be several answers.
  const Json* const text =
      prompt != nullptr && prompt->is_array() && prompt->size() == 1 ? &prompt->front() : prompt;
  if (text != nullptr && text->is_string()) {
    request.generate.raw_prompt = text->get<std::string>();
  } else {
    fields.wrong("prompt", phrases::a_text());
  }
  read_openai_sampling(fields, request);
  request.generate.stop = fields.texts("stop", max_stops);
  request.choices = static_cast<std::int32_t>(fields.integer("n", 1, 32).value_or(1));
  request.generate.max_tokens =
      static_cast<std::int32_t>(fields.integer("max_tokens", 1, max_answer_tokens).value_or(default_tokens));
  request.generate.top_logprobs = static_cast<std::int32_t>(fields.integer("logprobs", 0, 20).value_or(-1));
  request.stream = fields.boolean("stream").value_or(false);
  if (const Json* const options = fields.object("stream_options")) {
    JsonFields inner(*options, error, "stream_options.");
    request.stream_usage = inner.boolean("include_usage").value_or(false) && request.stream;
    inner.finish({.honoured = {"include_usage"}, .without_effect = {"include_obfuscation"}, .refused = {}});
  }
  fields.finish(openai_completions_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

AnswerStyle openai_completions_style() {
  return {.dialect = Dialect::openai,
          .writer = [](const ChatRequest& request, ServedModel& model, AnswerStream* stream) {
            return std::make_unique<CompletionWriter>(request, model, stream);
          }};
}

}  // namespace fovea::app
