// Holds an answer to the form that its request asks for: before each token it says which may be drawn.
// Thoughts stay free; where they would leave the answer no room within its limit, they are ended. A model
// with channels thinks and answers in two of them; no other is opened.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/chat/call_form.h"
#include "engine/chat/call_reader.h"
#include "engine/chat/channels.h"
#include "engine/chat/form_masks.h"
#include "engine/chat/prompt.h"
#include "engine/grammar/matcher.h"

namespace fovea::chat {

// What it must know of the model; outlives the answers.
struct HoldModel {
  const text::Tokenizer& tokenizer;
  const ChannelTokens* channels = nullptr;  // null: none
  const std::unordered_set<TokenId>& end_of_generation;
  FormMasks& forms;
};

// How many tokens may be drawn.
struct AnswerRoom {
  std::int64_t limit = -1;  // as the request has it; -1: none
  std::int64_t context =
      0;  // behind the prompt: tokens up to the context's end, and one that is not computed
  std::int64_t tokens() const { return limit < 0 ? context : std::min(limit, context); }
};

class AnswerHold {
 public:
  // Nothing where the answer is free. ErrorKind::invalid and context_full where no answer of this form, with
  // the end of thoughts that the prompt leaves open, surely fits; invalid where the beginning that shall go
  // on is none of this form.
  // `calls`: as AnswerText has it.
  static Result<std::optional<AnswerHold>> begin(const GenerateRequest& request, const Prompt& prompt,
                                                 const HoldModel& model, AnswerRoom room,
                                                 const CallReading* calls = nullptr);

  // Before each draw, with how many tokens may still be drawn: a bit for each token, as Sampler::allow()
  // takes them; at least one is set. Valid until the next call.
  Result<std::span<const std::uint32_t>> allowed(std::int64_t tokens_left);
  // What was drawn, unless it ended the answer.
  Result<void> accept(TokenId token);
  // The answer is complete, and nothing can follow.
  bool ended() const {
    return place_ == Place::answer && (call_ ? part_ == Part::over : matcher_.must_end());
  }

 private:
  enum class Place : std::uint8_t {
    beginning,  // thoughts or the answer
    header,     // of a message: which channel it is in
    thoughts,
    forced,  // tokens between these places that are certain
    gap,     // line breaks between thoughts and the answer
    answer
  };

  // Which part of a required call comes next.
  enum class Part : std::uint8_t { name, arguments, over };

  AnswerHold(const HoldModel& model, grammar::Matcher matcher);
  void find_place(const GenerateRequest& request, const Prompt& prompt);
  void find_channel(const Prompt& prompt);
  Result<void> take_begun(const GenerateRequest& request);
  std::vector<TokenId> encoded(std::string_view text, bool parse_special = false) const;
  std::string bytes_of(TokenId token) const;

  std::int64_t answer_needs() const { return std::ssize(opening_) + matcher_.tokens_to_complete() + behind_; }
  void begin_call(CallForm call);
  void end_part();
  Result<std::int64_t> needed();  // tokens from here to an answer's end
  Result<grammar::Matcher> name_of(const char* names) const;
  Result<void> begin_name();
  void force(std::vector<TokenId> tokens, Place then);

  Result<void> allow_answer(std::int64_t tokens_left);
  Result<void> allow_header(std::int64_t tokens_left);
  void allow_thoughts();
  void set(TokenId token, bool allow = true);
  std::size_t line_breaks(TokenId token) const;
  Result<void> accept_header(TokenId token);
  Result<void> accept_thought(TokenId token);
  Result<void> accept_answer(TokenId token);

  HoldModel model_;
  grammar::Matcher matcher_;
  std::optional<CallForm> call_;  // nothing: the matcher has the whole answer
  Part part_ = Part::name;        // that the matcher has, of a call
  std::string name_so_far_;       // of its function
  std::vector<TokenId> opening_;  // of a call, still to come, the next one last
  std::int64_t behind_ = 0;       // tokens that suffice behind what the matcher has
  std::vector<std::uint32_t> bits_;
  bool harmony_ = false;
  bool may_think_ = false;
  Place place_ = Place::answer;
  std::int64_t tokens_left_ = 0;          // when allowed() was asked last
  TokenId open_ = -1, close_ = -1;        // that begin and end thoughts by themselves; -1: none
  std::vector<TokenId> end_of_thoughts_;  // from within them to the answer's first token
  std::vector<TokenId> gaps_;             // tokens of line breaks alone
  std::size_t gap_ = 0;                   // line breaks behind thoughts so far
  std::vector<TokenId> forced_;           // still to come, the next one last
  Place then_ = Place::answer;            // behind them
  std::optional<grammar::Matcher> name_;  // of a channel, once it may begin
  std::string tail_;  // the channel's name so far; of thoughts, what may begin the closing tag
};

}  // namespace fovea::chat
