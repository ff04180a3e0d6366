// What OpenAI's chat completions and completions have in common when they are written.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/server/answering.h"
#include "app/server/json_fields.h"

namespace fovea::app {

class OpenaiWriter : public AnswerWriter {
 public:
  void end(const std::vector<Answer>& answers) override;
  void failed(const Error& error) override;

 protected:
  struct Names {  // as "object" has them
    const char *whole, *piece;
    const char* id;  // what ids begin with
  };
  OpenaiWriter(const ChatRequest& request, ServedModel& model, AnswerStream* stream, const Names& names);

  bool is_streamed() const { return stream_ != nullptr; }
  bool wants_tokens() const { return request_.generate.top_logprobs >= 0; }
  const TextModel& text() const { return model_.text(); }
  // Tokens go with the next piece of their choice.
  void keep(std::int32_t choice, std::span<const TokenChoice> tokens);
  std::vector<TokenChoice> kept(std::int32_t choice) { return std::exchange(tokens_[choice], {}); }

  Json whole_json(const std::vector<Answer>& answers, Json choices) const;
  bool send(Json choice);

 private:
  Json json(const char* object, Json choices) const;

  const ChatRequest request_;
  ServedModel& model_;
  AnswerStream* const stream_;
  const Names names_;
  const std::string id_;
  const std::int64_t created_;
  std::map<std::int32_t, std::vector<TokenChoice>> tokens_;
};

Json openai_usage(const std::vector<Answer>& answers, const TextModel& text);
// "stop", "length", "tool_calls"
const char* openai_finish(const Answer& answer);

}  // namespace fovea::app
