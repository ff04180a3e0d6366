// What the scheduler moves on from pass to pass, on whichever thread runs them: an answer that is written, or
// a text that is only read. What it has to tell is kept until the thread that asked fetches it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/progress.h"
#include "engine/api/request.h"
#include "engine/api/token_record.h"
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/parts.h"

namespace fovea::runtime {

// What a sink or a progress sink will be told.
struct AnswerNews {
  struct Piece {
    std::string text;
    Timings so_far;
    std::vector<TokenChoice> choices = {};  // since the piece before, where they were asked for
  };
  std::vector<Piece> pieces;
  std::vector<TokenRecord> records;  // where they were asked for
  std::optional<Progress> progress;  // the latest

  bool empty() const { return pieces.empty() && records.empty() && !progress; }
};

// What a pass gave one part: its rows, valid until the next pass.
struct PassRows {
  std::span<const float> logits;  // [n, vocabulary], empty where the device knows the likeliest …
  std::int64_t row = 0;           // … of this row of those that were wanted
  std::span<const float> hidden;  // [tokens, d], where they were wanted
  UseBits use_bits = {};
  TokenUses uses = {};  // where they are recorded
};

class Computation {
 public:
  explicit Computation(std::stop_token stop) : stop_(std::move(stop)) {}
  virtual ~Computation() = default;
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  // Tokens that it may come to: with its limit, or an answer of usual length.
  virtual std::int64_t expected_tokens() const = 0;
  // Takes its place in the cache, with as much of its prompt as is there and of use.
  virtual void begin(Engine::Parts& parts) = 0;
  // Gives it back. It begins anew later.
  virtual void suspend() = 0;
  // Its prompt; else it writes, of which a pass computes one token.
  virtual bool is_reading() const = 0;
  // Of its prompt at most so many tokens; of its answer one.
  virtual PassPart next(const Engine::Parts& parts, std::int64_t most) = 0;
  // What became of that.
  virtual Result<void> take(Engine::Parts& parts, const PassRows& rows) = 0;
  virtual void cancel(Engine::Parts& parts) = 0;
  virtual AnswerNews fetch_news() { return {}; }

  void fail(Error error) {
    error_ = std::move(error);
    end();
  }
  bool is_done() const { return done_; }
  const std::stop_token& stop() const { return stop_; }
  std::int64_t length() const { return sequence_ ? sequence_->length() : 0; }

 protected:
  void end() {
    sequence_.reset();
    done_ = true;
  }

  std::stop_token stop_;
  std::optional<Sequence> sequence_;
  std::optional<Error> error_;

 private:
  bool done_ = false;
};

}  // namespace fovea::runtime
