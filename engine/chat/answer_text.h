// From an answer's tokens to its text: decoded, thoughts in <think>…</think>, up to the first stop string.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/chat/call_reader.h"
#include "engine/chat/channels.h"
#include "engine/chat/prompt.h"
#include "engine/chat/stop_strings.h"
#include "engine/chat/thoughts.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

class AnswerText {
 public:
  // `channels`: null where the model has none. Stop strings end what it says, not what it thinks or calls.
  // `reading`: outlives it; null: calls are text.
  AnswerText(const text::Tokenizer& tokenizer, const ChannelTokens* channels, const Prompt& prompt,
             std::vector<std::string> stop, const CallReading* reading = nullptr);

  // What the prompt has written of the answer: its text begins with that.
  const std::string& opened() const { return opened_; }
  // What is now certain to belong to the answer.
  std::string push(TokenId token);
  std::string finish(bool complete);  // `complete`: the model ended it

  // Bytes of the text that are not certain yet: of half a character, what may become a tag, a call or a stop
  // string.
  std::int64_t held() const;

  bool found_stop() const { return stop_strings_.found(); }
  bool ended() const { return (channels_ && channels_->ended()) || (calls_ && calls_->ended()); }

 private:
  bool is_tag(TokenId token) const { return std::ranges::find(tags_, token) != tags_.end(); }
  std::string take(const CallReader::Pieces& pieces);
  std::string take(std::string text);
  std::string take(const Channels::Piece& piece);
  std::string take(const ThoughtTracker::Pieces& pieces);

  const text::Tokenizer& tokenizer_;
  const ChannelTokens* tokens_;
  text::StreamDecoder decoder_;
  std::unique_ptr<Channels> channels_;
  ThoughtTracker tracker_;
  StopStrings stop_strings_;
  std::string opened_;
  std::vector<TokenId> tags_;  // control tokens that are shown: of thoughts, and to the reader of calls
  std::unique_ptr<CallReader> calls_;
};

}  // namespace fovea::chat
