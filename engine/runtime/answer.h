// One request on its way to an answer: the prompt it reads, the sequence it writes, the text that comes of
// it. The scheduler moves it on from pass to pass, on whichever thread runs them; what it has to tell is kept
// until the thread that asked fetches it.
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
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/sampler.h"

namespace fovea::runtime {

// What a sink or a progress sink will be told.
struct AnswerNews {
  struct Piece {
    std::string text;
    Timings so_far;
  };
  std::vector<Piece> pieces;
  std::optional<Progress> progress;  // the latest

  bool empty() const { return pieces.empty() && !progress; }
};

class Answer {
 public:
  // Makes the prompt; nothing of it needs the engine's turn. The request outlives the answer.
  static Result<std::unique_ptr<Answer>> create(const Engine::Parts& parts, const GenerateRequest& request,
                                                std::stop_token stop);

  // Tokens that it may come to: with its limit, or an answer of usual length.
  std::int64_t expected_tokens() const;
  // Takes its place in the cache, with as much of its prompt as is there.
  void begin(Engine::Parts& parts);
  // Gives it back. When it begins anew, what the cache has not kept is computed again as it was before.
  void suspend();

  // Its prompt; else it writes, of which a pass computes one token.
  bool is_reading() const { return read_ < prompt_length_; }
  std::int64_t length() const { return sequence_->length(); }
  const std::stop_token& stop() const { return stop_; }
  float temperature() const { return temperature_; }
  // Of its prompt at most so many tokens; of its answer one. `alone`: in a pass that has nothing else.
  PassPart next(const Engine::Parts& parts, std::int64_t most, bool alone);
  // What became of that: its rows of logits [n, vocabulary], empty where the device knows the likeliest.
  Result<void> take(Engine::Parts& parts, std::span<const float> logits);

  void finish(Engine::Parts& parts, FinishReason reason);
  void fail(Error error);
  bool is_done() const { return done_; }
  AnswerNews fetch_news();
  bool has_news() const { return !news_.empty(); }
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
  Answer(const Engine::Parts& parts, const GenerateRequest& request, Asked asked, std::stop_token stop);
  Result<void> restrict();
  bool needs_all_logits() const { return request_.top_logprobs >= 0 || !sampler_.may_need_few(); }
  bool has_written() const { return std::ssize(tokens_) > prompt_length_; }
  Result<TokenId> next_token(Engine::Parts& parts, std::span<const float> logits);
  Result<void> write(Engine::Parts& parts, std::span<const float> logits);
  void report();
  void emit(std::string text);

  const GenerateRequest& request_;
  std::stop_token stop_;
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
  std::optional<Sequence> sequence_;
  Clock::time_point began_, decode_began_;
  bool has_begun_ = false;
  GenerateResult result_;
  std::optional<Error> error_;
  bool done_ = false;
  AnswerNews news_;
};

}  // namespace fovea::runtime
