#include "engine/chat/answer_text.h"

#include <span>
#include <utility>

namespace fovea::chat {
namespace {

TokenId control_token(const text::Tokenizer& tokenizer, std::string_view name) {
  const TokenId id = tokenizer.find(name);
  return id >= 0 && tokenizer.is_control(id) ? id : -1;
}

}  // namespace

AnswerText::AnswerText(const text::Tokenizer& tokenizer, const ChannelTokens* channels, const Prompt& prompt,
                       std::vector<std::string> stop, const CallReading* reading)
    : tokenizer_(tokenizer),
      tokens_(channels),
      decoder_(tokenizer),
      tracker_(prompt.place),
      stop_strings_(std::move(stop)),
      opened_(prompt.opened) {
  const auto show = [this](std::string_view name) {
    if (const TokenId id = control_token(tokenizer_, name); id >= 0) tags_.push_back(id);
  };
  if (reading != nullptr) {
    calls_ = CallReader::of(*reading);
    for (const std::string_view name : call_marks) show(name);
  }
  if (channels == nullptr) {
    show(thoughts_open);
    show(thoughts_close);
    return;
  }
  // The message that the prompt leaves open says in which channel the model goes on.
  channels_ = channels->begin();
  if (reading != nullptr) channels_->read_calls(!reading->parallel);
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
  if (!mark && !is_tag(token)) return take(channels_->push(decoder_.push(token)));
  std::string text = take(channels_->push(decoder_.finish()));
  if (mark) text += take(channels_->push(*mark));
  if (is_tag(token)) text += take(channels_->push(tokenizer_.name(token)));
  return text;
}

std::string AnswerText::finish(bool complete) {
  if (found_stop()) return {};
  // The last half character may complete a stop string no more than it completes itself.
  std::string text = channels_ ? take(channels_->push(decoder_.finish())) : take(decoder_.finish());
  text += channels_ ? take(channels_->finish(complete)) : take(tracker_.finish());
  if (calls_) text += take(calls_->finish());
  return text += stop_strings_.finish();
}

std::int64_t AnswerText::held() const {
  return static_cast<std::int64_t>(decoder_.held() + tracker_.held() + (calls_ ? calls_->held() : 0) +
                                   stop_strings_.held());
}

std::string AnswerText::take(std::string text) {
  return take(tracker_.push(text));
}

std::string AnswerText::take(const Channels::Piece& piece) {
  if (piece.text.empty() || found_stop()) return {};
  if (piece.visible && calls_) return take(calls_->push(piece.text));
  return piece.visible ? stop_strings_.push(piece.text) : stop_strings_.finish() + piece.text;
}

std::string AnswerText::take(const CallReader::Pieces& pieces) {
  std::string text;
  for (const CallReader::Piece& piece : pieces) {
    if (found_stop()) break;
    text += piece.call ? stop_strings_.finish() + piece.text : stop_strings_.push(piece.text);
  }
  return text;
}

std::string AnswerText::take(const ThoughtTracker::Pieces& pieces) {
  std::string text = take(Channels::Piece{pieces.thoughts});
  return text += take(Channels::Piece{pieces.text, true});
}

}  // namespace fovea::chat
