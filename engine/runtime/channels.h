// The channels in which gpt-oss writes (the harmony format), as the text that other families write:
//
//   <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>
//   <think>\nHm.\n</think>\n\nYes.
//
// What is in any other channel than the analysis is shown as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"
#include "engine/text/tokenizer.h"

namespace fovea::runtime {

class Channels {
 public:
  // The control tokens that the format is made of. Those that end an answer do so elsewhere.
  enum class Mark : std::uint8_t { start, channel, message, end, constrain };

  // What is added to the answer's text. Thoughts, and what is written around them, are not `visible`: no
  // concern of stop strings.
  struct Piece {
    std::string text;
    bool visible = false;
  };

  Piece push(Mark mark);
  Piece push(std::string_view text);
  // What comes from here on is the model's: everything before was the prompt.
  void begin_answer();
  // The answer ends here. `complete`: by the model's will; else thoughts stay open.
  Piece finish(bool complete);
  // The model began a message of somebody else: its own answer is complete.
  bool ended() const { return ended_; }

 private:
  enum class In : std::uint8_t { role, channel, thoughts, text, between };

  std::string end_message();
  std::string begin_message();

  In in_ = In::between;
  std::string role_;            // with its recipient, if any
  std::string channel_;         // and what else stands in a message's head
  bool role_is_given_ = false;  // by the prompt
  bool text_before_ = false;    // what comes next is another part of the answer
  bool ended_ = false;
};

// Which tokens these are.
class ChannelTokens {
 public:
  // Nothing where the vocabulary lacks one of <|start|>, <|channel|>, <|message|>, <|end|> and <|return|>.
  static std::optional<ChannelTokens> of(const text::Tokenizer& tokenizer);

  std::optional<Channels::Mark> mark(TokenId token) const;
  TokenId token(Channels::Mark mark) const { return ids_[static_cast<std::size_t>(mark)]; }

 private:
  TokenId ids_[5] = {};  // by mark; -1: none
};

// The beginning of an answer in channels again, so that it goes on there; what stands behind
// "<|start|>assistant".
struct ChannelPart {
  std::optional<Channels::Mark> mark;  // else text
  std::string text;
  bool operator==(const ChannelPart&) const = default;
};
std::vector<ChannelPart> in_channels(std::string_view begun);

}  // namespace fovea::runtime
