// What is kept of the tokens of this session's answers: the last ones, in memory, and nothing when the
// program ends. With the experts of 48 layers of 8 a token takes about 1.7 kB, so that all of them take 7 MB.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "engine/api/token_record.h"

namespace fovea::app {

class TokenLog {
 public:
  static constexpr std::size_t usual_most = 4096;  // tokens

  explicit TokenLog(std::size_t most = usual_most) : most_(most) {}

  using Answer = std::int64_t;  // a message's id
  struct Kept {
    TokenRecord record;
    std::int64_t begin = 0, end = 0;  // bytes of the answer's text
    std::uint32_t model = 0;          // that wrote it: begin_model() counts
  };
  struct Tokens {
    std::int64_t first = 0;  // its number in the answer: those before it are forgotten
    std::deque<Kept> kept;
  };

  // What is written from now on is another model's, or another opening's of the same.
  std::uint32_t begin_model() { return ++model_; }
  std::uint32_t model() const { return model_; }
  // Of an answer whose text had so many bytes before the first of what the engine is writing.
  void add(Answer answer, std::int64_t bytes_before, std::span<const TokenRecord> records);
  // `to` begins as `from` until this token, in whose place another one stands, which the model thought of
  // as well. False: it is not kept, or was no such.
  bool branch(Answer from, std::int64_t number, TokenId other, std::int64_t other_bytes, Answer to);

  const Tokens* find(Answer answer) const;
  const Kept* find(Answer answer, std::int64_t number) const;
  struct Place {
    Answer answer = 0;
    std::int64_t number = 0;
    bool operator==(const Place&) const = default;
  };
  // That passes chose which ended behind `after` and not behind `until` tokens, with the model that is open.
  std::vector<Place> written(std::int64_t after, std::int64_t until) const;

  std::size_t size() const { return order_.size(); }
  std::size_t most() const { return most_; }

 private:
  void push(Answer answer, Kept kept);
  void forget_oldest();

  std::size_t most_;
  std::uint32_t model_ = 0;
  std::map<Answer, Tokens> answers_;
  std::deque<Answer> order_;  // whose tokens came, each as often as it has some
};

}  // namespace fovea::app
