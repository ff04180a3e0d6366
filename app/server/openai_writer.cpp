#include "app/server/openai_writer.h"

namespace fovea::app {

OpenaiWriter::OpenaiWriter(const ChatRequest& request, ServedModel& model, AnswerStream* stream,
                           const Names& names)
    : request_(request),
      model_(model),
      stream_(stream),
      names_(names),
      id_(new_id(names.id)),
      created_(unix_seconds()) {}

void OpenaiWriter::end(const std::vector<Answer>& answers) {
  if (request_.stream_usage) {
    Json last = json(names_.piece, Json::array());
    last["usage"] = openai_usage(answers, text());
    stream_->send(server_sent(dump(last)));
  }
  stream_->send(server_sent("[DONE]"));
}

void OpenaiWriter::failed(const Error& error) {
  stream_->send(server_sent(dump(error_json(Dialect::openai, error))));
}

void OpenaiWriter::keep(std::int32_t choice, std::span<const TokenChoice> tokens) {
  std::vector<TokenChoice>& all = tokens_[choice];
  all.insert(all.end(), tokens.begin(), tokens.end());
}

Json OpenaiWriter::whole_json(const std::vector<Answer>& answers, Json choices) const {
  Json whole = json(names_.whole, std::move(choices));
  whole["usage"] = openai_usage(answers, text());
  return whole;
}

bool OpenaiWriter::send(Json choice) {
  Json piece = json(names_.piece, Json::array({std::move(choice)}));
  if (request_.stream_usage) piece["usage"] = nullptr;
  return stream_->send(server_sent(dump(piece)));
}

Json OpenaiWriter::json(const char* object, Json choices) const {
  return {{"id", id_},
          {"object", object},
          {"created", created_},
          {"model", model_.name()},
          {"system_fingerprint", nullptr},
          {"choices", std::move(choices)}};
}

Json openai_usage(const std::vector<Answer>& answers, const TextModel& text) {
  const Usage usage = usage_of(answers, text);
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.answer_tokens},
          {"total_tokens", usage.prompt_tokens + usage.answer_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.reused_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

const char* openai_finish(const Answer& answer) {
  const FinishReason finish = answer.result.finish;
  if (finish == FinishReason::max_tokens || finish == FinishReason::context_full) return "length";
  return answer.calls.empty() ? "stop" : "tool_calls";
}

}  // namespace fovea::app
