#include "engine/runtime/answer_text.h"

#include <span>
#include <utility>

namespace fovea::runtime {
namespace {

TokenId control_token(const text::Tokenizer& tokenizer, std::string_view name) {
  const TokenId id = tokenizer.find(name);
  return id >= 0 && tokenizer.is_control(id) ? id : -1;
}

}  // namespace

AnswerText::AnswerText(const text::Tokenizer& tokenizer, const ChannelTokens* channels, const Prompt& prompt,
                       std::vector<std::string> stop)
    : tokenizer_(tokenizer),
      tokens_(channels),
      decoder_(tokenizer),
      tracker_(prompt.place),
      stop_strings_(std::move(stop)),
      opened_(prompt.opened),
      open_tag_(control_token(tokenizer, thoughts_open)),
      close_tag_(control_token(tokenizer, thoughts_close)) {
  if (channels == nullptr) return;
  // The message that the prompt leaves open says in which channel the model goes on.
  channels_ = channels->begin();
  const TokenId start = channels->token(Channels::Mark::start);
  auto last = std::ssize(prompt.tokens);
  while (last > 0 && prompt.tokens[static_cast<std::size_t>(last - 1)] != start) --last;
  if (last == 0) return;
  for (const TokenId token : std::span(prompt.tokens).subspan(static_cast<std::size_t>(last - 1))) {
    const auto mark = channels->mark(token);
    const Channels::Piece piece = mark ? channels_->push(*mark) : channels_->push(tokenizer.piece(token));
    if (!prompt.continues) opened_ += piece.text;
  }
  channels_->begin_answer(prompt.continues);
}

std::string AnswerText::push(TokenId token) {
  if (!channels_) {
    if (!is_tag(token)) return take(decoder_.push(token));
    std::string text = take(decoder_.finish());
    return text += take(std::string(tokenizer_.name(token)));
  }
  const auto mark = tokens_->mark(token);
  if (!mark) return take(channels_->push(decoder_.push(token)));
  std::string text = take(channels_->push(decoder_.finish()));
  return text += take(channels_->push(*mark));
}

std::string AnswerText::finish(bool complete) {
  if (found_stop()) return {};
  // The last half character may complete a stop string no more than it completes itself.
  std::string text = channels_ ? take(channels_->push(decoder_.finish())) : take(decoder_.finish());
  text += channels_ ? take(channels_->finish(complete)) : take(tracker_.finish());
  return text += stop_strings_.finish();
}

std::string AnswerText::take(std::string text) {
  return take(tracker_.push(text));
}

std::string AnswerText::take(const Channels::Piece& piece) {
  if (piece.text.empty() || found_stop()) return {};
  return piece.visible ? stop_strings_.push(piece.text) : stop_strings_.finish() + piece.text;
}

std::string AnswerText::take(const ThoughtTracker::Pieces& pieces) {
  std::string text = take(Channels::Piece{pieces.thoughts});
  return text += take(Channels::Piece{pieces.text, true});
}

}  // namespace fovea::runtime
