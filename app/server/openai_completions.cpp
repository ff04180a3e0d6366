#include "app/server/openai_completions.h"

#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"
#include "app/server/openai_writer.h"
#include "app/server/token_choices.h"

namespace fovea::app {
namespace {

constexpr std::int64_t default_tokens = 16;  // as OpenAI has it

class CompletionWriter : public OpenaiWriter {
 public:
  CompletionWriter(const ChatRequest& request, ServedModel& model, AnswerStream* stream)
      : OpenaiWriter(request, model, stream,
                     {.whole = "text_completion", .piece = "text_completion", .id = "cmpl-"}) {}

  bool event(const ChoiceEvent& said) override {
    if (!is_streamed()) return true;
    keep(said.choice, said.tokens);
    return send(piece(said.choice, said.event.text, nullptr));
  }
  void choice_end(std::int32_t choice, const Answer& answer, std::span<const TokenChoice> tokens) override {
    if (!is_streamed()) return;
    keep(choice, tokens);
    send(piece(choice, "", openai_finish(answer)));
  }

  Json whole(const std::vector<Answer>& answers) override {
    Json choices = Json::array();
    for (const Answer& answer : answers) {
      std::size_t offset = 0;
      choices.push_back(
          {{"text", answer.reasoning + answer.content},
           {"index", choices.size()},
           {"logprobs", wants_tokens() ? choices_by_column(answer.result.choices, text(), offset) : Json()},
           {"finish_reason", openai_finish(answer)}});
    }
    return whole_json(answers, std::move(choices));
  }

 private:
  Json piece(std::int32_t choice, const std::string& said, const Json& finish) {
    const std::vector<TokenChoice> tokens = kept(choice);
    return {{"text", said},
            {"index", choice},
            {"logprobs", tokens.empty() ? Json() : choices_by_column(tokens, text(), offsets_[choice])},
            {"finish_reason", finish}};
  }

  std::map<std::int32_t, std::size_t> offsets_;  // of choices' tokens
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
