// Holds an answer to the form that its request asks for, to a call that it requires, and a call that the
// model chooses to make to its tool: before each token it says which may be drawn. Thoughts stay free; where
// they would leave a form no room within its limit, they are ended. A model with channels thinks and answers
// in two of them, and calls in a third; no other is opened.
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
#include "engine/chat/call_reader.h"
#include "engine/chat/call_trigger.h"
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
  // takes them; at least one is set. None at all: every token is allowed. Valid until the next call.
  Result<std::span<const std::uint32_t>> allowed(std::int64_t tokens_left);
  // What was drawn, unless it ended the answer.
  Result<void> accept(TokenId token);
  // The answer is complete, and nothing can follow.
  bool ended() const { return place_ == Place::answer && matcher_ && matcher_->must_end(); }

 private:
  enum class Place : std::uint8_t {
    beginning,  // thoughts or the answer
    header,     // of a message: which channel it is in
    thoughts,
    forced,  // tokens between these places that are certain
    gap,     // line breaks between thoughts and the answer
    answer
  };

  explicit AnswerHold(const HoldModel& model);
  Result<void> choose_masks(const GenerateRequest& request, const Prompt& prompt, const CallReading* calls);
  void find_place(const GenerateRequest& request, const Prompt& prompt);
  void find_channel(const Prompt& prompt);
  Result<void> take_begun(const GenerateRequest& request);
  std::vector<TokenId> encoded(std::string_view text, bool parse_special = false) const;
  std::string bytes_of(TokenId token) const;

  std::int64_t answer_needs() const { return matcher_->tokens_to_complete(); }
  Result<std::int64_t> needed();  // tokens from here to an answer's end
  Result<grammar::Matcher> name_of(const char* names) const;
  Result<void> begin_name();
  void force(std::vector<TokenId> tokens, Place then);

  Result<void> allow_answer(std::int64_t tokens_left);
  Result<void> allow_header(std::int64_t tokens_left);
  Result<std::span<const std::uint32_t>> allow_free(std::int64_t tokens_left);
  void allow_thoughts();
  void set(TokenId token, bool allow = true);
  std::size_t line_breaks(TokenId token) const;
  Result<void> accept_header(TokenId token);
  Result<void> accept_thought(TokenId token);
  Result<void> accept_answer(TokenId token);

  HoldModel model_;
  std::optional<grammar::Matcher> matcher_;          // of the answer; nothing: it is free as yet
  std::optional<CallTrigger> trigger_;               // of calls in an answer that is free
  bool is_required_ = false;                         // the answer is a call
  std::shared_ptr<grammar::TokenMasks> head_masks_;  // of calls beside a form, behind harmony's channel mark
  std::optional<grammar::Matcher> head_;             // likewise, while it may still be one
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
