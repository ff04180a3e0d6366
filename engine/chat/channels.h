// Models that write thoughts and answers into channels, by control tokens, and what they write as the text
// that other families write. gpt-oss (the harmony format) and Gemma 4:
//
//   <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>
//   <|channel>thought\nHm.\n<channel|>Yes.<turn|>
//   <think>\nHm.\n</think>\n\nYes.
//
// What is in any other channel is shown as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

// Reads one answer.
class Channels {
 public:
  virtual ~Channels() = default;
  // The control tokens that the formats are made of. Those that end an answer do so elsewhere.
  enum class Mark : std::uint8_t { start, channel, message, end, constrain, call };
  static constexpr std::size_t marks = 6;

  // What is added to the answer's text. Thoughts, and what is written around them, are not `visible`: no
  // concern of stop strings.
  struct Piece {
    std::string text;
    bool visible = false;
  };

  virtual Piece push(Mark mark) = 0;
  virtual Piece push(std::string_view text) = 0;
  // What comes from here on is the model's: everything before was the prompt. `continues`: with a part of the
  // answer's text.
  virtual void begin_answer(bool continues) = 0;
  // The answer ends here. `complete`: by the model's will; else thoughts stay open.
  virtual Piece finish(bool complete) = 0;
  // Calls that it makes become those of an answer's text; with `one` it ends behind the first. Only of a
  // model whose calls are messages.
  virtual void read_calls(bool /*one*/) {}
  // The model began a message of somebody else: its own answer is complete.
  virtual bool ended() const { return false; }
};

// The beginning of an answer in channels again, so that it goes on there; what stands behind the head of its
// message.
struct ChannelPart {
  std::optional<Channels::Mark> mark;  // else text
  std::string text;
  bool operator==(const ChannelPart&) const = default;
};

// Which format a vocabulary has, and which tokens these are.
class ChannelTokens {
 public:
  // Nothing where the vocabulary lacks one of <|start|>, <|channel|>, <|message|>, <|end|> and <|return|>,
  // and one of <|turn>, <|channel> and <channel|>.
  static std::optional<ChannelTokens> of(const text::Tokenizer& tokenizer);

  std::optional<Channels::Mark> mark(TokenId token) const;
  TokenId token(Channels::Mark mark) const { return ids_[static_cast<std::size_t>(mark)]; }  // -1: none

  std::unique_ptr<Channels> begin() const;
  // `opened`: the prompt has begun the thoughts that the answer begins with.
  std::vector<ChannelPart> parts(std::string_view begun, bool opened) const;
  // How a prompt ends that leaves thoughts open, or has closed them; empty: none does.
  std::string_view opening() const;
  std::string_view closing() const;

 private:
  enum class Format : std::uint8_t { harmony, gemma };
  Format format_ = Format::harmony;
  TokenId ids_[Channels::marks] = {};  // by mark
};

}  // namespace fovea::chat
