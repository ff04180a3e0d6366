// From an answer's tokens to its text: decoded, thoughts in <think>…</think>, up to the first stop string.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/channels.h"
#include "engine/runtime/prompt.h"
#include "engine/runtime/stop_strings.h"
#include "engine/runtime/thoughts.h"
#include "engine/text/tokenizer.h"

namespace fovea::runtime {

class AnswerText {
 public:
  // `channels`: null where the model has none. Stop strings end what it says, not what it thinks.
  AnswerText(const text::Tokenizer& tokenizer, const ChannelTokens* channels, const Prompt& prompt,
             std::vector<std::string> stop);

  // What the prompt has written of the answer: its text begins with that.
  const std::string& opened() const { return opened_; }
  // What is now certain to belong to the answer.
  std::string push(TokenId token);
  std::string finish(bool complete);  // `complete`: the model ended it

  bool found_stop() const { return stop_strings_.found(); }
  bool ended() const { return channels_ && channels_->ended(); }

 private:
  bool is_tag(TokenId token) const { return token == open_tag_ || token == close_tag_; }
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
  TokenId open_tag_ = -1, close_tag_ = -1;  // where these are control tokens: they are shown
};

}  // namespace fovea::runtime
