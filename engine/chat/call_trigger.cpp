#include "engine/chat/call_trigger.h"

#include <utility>

#include "engine/core/result.h"

namespace fovea::chat {

using Mark = Channels::Mark;

Result<std::optional<CallTrigger>> CallTrigger::make(const CallReading& calls, const Prompt& prompt,
                                                     const text::Tokenizer& tokenizer,
                                                     const ChannelTokens* channels, FormMasks& forms) {
  CallTrigger trigger(tokenizer, channels, prompt);
  const auto masks = [&](CallForm form) { return call_masks(form, calls, {}, tokenizer, forms); };
  if (calls.syntax == CallSyntax::harmony) {
    trigger.find_head(prompt);
    FOVEA_TRY(trigger.in_role_, masks(CallForm::begun_in_role));
    FOVEA_TRY(trigger.in_channel_, masks(CallForm::begun_in_channel));
  } else {
    trigger.opening_ = call_opening(calls.syntax, tokenizer);
    if (trigger.opening_ < 0) return std::nullopt;
    FOVEA_TRY(trigger.masks_, masks(CallForm::begun));
    trigger.shortest_ = trigger.masks_->shortest_answer();
  }
  return trigger;
}

void CallTrigger::find_head(const Prompt& prompt) {
  for (auto token = prompt.tokens.rbegin(); token != prompt.tokens.rend(); ++token) {
    const auto mark = channels_->mark(*token);
    if (!mark) continue;
    in_ = mark == Mark::start ? In::role : mark == Mark::channel ? In::channel : In::text;
    return;
  }
}

TokenId CallTrigger::refused(std::int64_t tokens_left) const {
  return opening_ >= 0 && !in_thoughts() && tokens_left < shortest_ ? opening_ : -1;
}

Result<std::optional<grammar::Matcher>> CallTrigger::accept(TokenId token, std::int64_t tokens_left) {
  if (opening_ < 0) return accept_head(token, tokens_left);
  if (token != opening_ || in_thoughts()) {
    thoughts_.push(tokenizer_->is_control(token) ? tokenizer_->name(token) : tokenizer_->piece(token));
    return std::nullopt;
  }
  grammar::Matcher call = masks_->start();
  FOVEA_CHECK(call.accept(token));
  return call;
}

// A function as who is spoken to, from the first of its words on.
Result<std::optional<grammar::Matcher>> CallTrigger::accept_head(TokenId token, std::int64_t tokens_left) {
  constexpr std::string_view recipient = "to=functions.";
  constexpr std::size_t sure = 2;  // bytes of it
  if (const auto mark = channels_->mark(token)) {
    if (mark == Mark::start) in_ = In::role;
    if (mark == Mark::channel) in_ = In::channel;
    if (mark == Mark::message || mark == Mark::end) in_ = In::text;
    head_.clear();
    return std::nullopt;
  }
  if (in_ == In::text) return std::nullopt;
  head_ += tokenizer_->piece(token);
  const std::string_view word = std::string_view(head_).substr(head_.find_last_of(" \n") + 1);
  if (word.size() < sure || !recipient.starts_with(word)) return std::nullopt;
  grammar::Matcher call = (in_ == In::role ? in_role_ : in_channel_)->start();
  FOVEA_CHECK(call.accept_bytes(word));
  if (tokens_left < call.tokens_to_complete()) return std::nullopt;
  return call;
}

}  // namespace fovea::chat
