// One request on its way to an answer: the prompt it reads, the sequence it writes, the text that comes of
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/progress.h"
#include "engine/api/request.h"
#include "engine/chat/answer_hold.h"
#include "engine/chat/answer_text.h"
#include "engine/chat/call_reader.h"
#include "engine/chat/prompt.h"
#include "engine/runtime/computation.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/sampler.h"

namespace fovea::runtime {

class Answer final : public Computation {
 public:
  // Makes the prompt; nothing of it needs the engine's turn. The request outlives the answer. `records`: each
  // token's is among the news.
  static Result<std::unique_ptr<Answer>> create(const Engine::Parts& parts, const GenerateRequest& request,
                                                std::stop_token stop, bool records = false);

  struct Question {
    chat::ToolSet tools;
    chat::Prompt prompt;
  };
  // What such an answer reads before it writes, in a context of so many tokens.
  static Result<Question> question(const Engine::Parts& parts, const GenerateRequest& request,
                                   std::int64_t context);

  std::int64_t expected_tokens() const override;
  void begin(Engine::Parts& parts) override;
  // When it begins anew, what the cache has not kept is computed again as it was before.
  void suspend() override;
  bool is_reading() const override { return read_ < prompt_length_; }
  PassPart next(const Engine::Parts& parts, std::int64_t most) override;
  Result<void> take(Engine::Parts& parts, const PassRows& rows) override;
  void cancel(Engine::Parts& parts) override { finish(parts, FinishReason::cancelled); }
  AnswerNews fetch_news() override;

  Result<GenerateResult> result() &&;

 private:
  using Clock = std::chrono::steady_clock;

  // What is said of a request before any of it is computed.
  struct Asked {
    Sampler sampler;
    chat::Prompt prompt;
    chat::CallReading calls;  // of tools, where there are any
    chat::AnswerRoom room;
    std::optional<chat::AnswerHold> hold = {};  // nothing: the answer is free
  };
  Answer(const Engine::Parts& parts, const GenerateRequest& request, Asked asked, std::stop_token stop,
         bool records);
  Result<void> restrict();
  bool needs_all_logits() const { return request_.top_logprobs >= 0 || !sampler_.may_need_few(); }
  bool has_written() const { return std::ssize(tokens_) > prompt_length_; }
  Result<TokenId> next_token(Engine::Parts& parts, std::span<const float> logits, std::int64_t row);
  Result<void> write(Engine::Parts& parts, const PassRows& rows);
  TokenRecord record(Engine::Parts& parts, const PassRows& rows, std::span<const float> logits,
                     TokenId token);
  void measure(const Engine::Parts& parts);
  void finish(Engine::Parts& parts, FinishReason reason);
  void report();
  void emit(std::string text);

  const GenerateRequest& request_;
  const bool records_;
  std::int64_t context_;
  Sampler sampler_;
  const chat::CallReading calls_;
  float temperature_;
  std::optional<chat::AnswerHold> hold_;
  chat::AnswerRoom room_;
  chat::AnswerText text_;
  std::vector<TokenId> tokens_;  // the prompt's, and behind them the answer's
  std::int64_t read_ = 0;        // of them by passes
  std::int64_t taken_ = 0;       // of them by the pass that runs
  std::int64_t prompt_length_;
  Clock::time_point began_, decode_began_;
  bool has_begun_ = false;
  std::optional<double> joules_before_;
  QualityState quality_before_;
  GenerateResult result_;
  std::size_t told_choices_ = 0;  // of the result's
  UseBits use_bits_;              // of the passes that wrote
  AnswerNews news_;
};

}  // namespace fovea::runtime
