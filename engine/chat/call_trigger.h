// Finds where a model begins a call by itself in an answer that is free: from there on it is held to the
// syntax and to the function's schema. What it says and thinks before stays as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/chat/call_form.h"
#include "engine/chat/channels.h"
#include "engine/chat/prompt.h"
#include "engine/chat/thoughts.h"

namespace fovea::chat {

class CallTrigger {
 public:
  // Nothing where the syntax has no opening of its own: such calls are read as they come.
  static Result<std::optional<CallTrigger>> make(const CallReading& calls, const Prompt& prompt,
                                                 const text::Tokenizer& tokenizer,
                                                 const ChannelTokens* channels, FormMasks& forms);

  // The token that would begin a call which could not be completed with so many tokens; -1: none.
  TokenId refused(std::int64_t tokens_left) const;
  // What was drawn, and how many tokens may still be drawn behind it: what a call is held to that it began.
  Result<std::optional<grammar::Matcher>> accept(TokenId token, std::int64_t tokens_left);
  // A call ends its answer, as those of harmony do.
  bool ends_answer() const { return opening_ < 0; }

 private:
  enum class In : std::uint8_t { text, role, channel };  // of a message

  CallTrigger(const text::Tokenizer& tokenizer, const ChannelTokens* channels, const Prompt& prompt)
      : tokenizer_(&tokenizer), channels_(channels), thoughts_(prompt.place) {}

  void find_head(const Prompt& prompt);
  bool in_thoughts() const { return channels_ == nullptr && thoughts_.place() == AnswerPlace::thoughts; }
  Result<std::optional<grammar::Matcher>> accept_head(TokenId token, std::int64_t tokens_left);

  const text::Tokenizer* tokenizer_;
  const ChannelTokens* channels_;  // null: none
  TokenId opening_ = -1;           // -1: harmony's heads
  std::shared_ptr<grammar::TokenMasks> masks_, in_role_, in_channel_;
  std::int64_t shortest_ = 0;  // call, in tokens
  ThoughtTracker thoughts_;    // of a model without channels
  In in_ = In::text;           // of harmony
  std::string head_;           // its words so far
};

}  // namespace fovea::chat
