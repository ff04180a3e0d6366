#include "engine/chat/answer_hold.h"

#include <functional>
#include <utility>

#include "engine/chat/errors.h"
#include "engine/chat/thoughts.h"
#include "engine/core/result.h"

namespace fovea::chat {
namespace {

using Mark = Channels::Mark;

// Line breaks that may stand between thoughts and the answer; they belong to neither.
constexpr std::size_t most_line_breaks = 2;

bool is_line_breaks(std::string_view text) {
  return !text.empty() && text.find_first_not_of('\n') == std::string_view::npos;
}

}  // namespace

AnswerHold::AnswerHold(const HoldModel& model) : model_(model), bits_(model.forms.controls().size()) {}

Result<std::optional<AnswerHold>> AnswerHold::begin(const GenerateRequest& request, const Prompt& prompt,
                                                    const HoldModel& model, AnswerRoom room,
                                                    const CallReading* calls) {
  if (request.form.kind == AnswerForm::Kind::free && calls == nullptr) return std::nullopt;
  AnswerHold hold(model);
  FOVEA_CHECK(hold.choose_masks(request, prompt, calls));
  if (!hold.matcher_) return hold.trigger_ ? std::optional(std::move(hold)) : std::nullopt;
  hold.find_place(request, prompt);
  FOVEA_CHECK(hold.take_begun(request));
  FOVEA_TRY(const std::int64_t needed, hold.needed());
  if (room.limit >= 0 && room.limit < needed)
    return fail(phrases::option_place("max_tokens"), errors::limit_too_short_for_form(room.limit, needed));
  if (room.context < needed)
    return fail(phrases::prompt_place(), errors::context_too_short_for_form(room.context, needed));
  return hold;
}

Result<void> AnswerHold::choose_masks(const GenerateRequest& request, const Prompt& prompt,
                                      const CallReading* calls) {
  const bool has_form = request.form.kind != AnswerForm::Kind::free;
  std::shared_ptr<grammar::TokenMasks> masks;
  is_required_ = calls != nullptr && request.tool_choice == ToolChoice::required;
  if (is_required_) {
    FOVEA_TRY(masks,
              call_masks(CallForm::required, *calls, request.required_tool, model_.tokenizer, model_.forms));
  } else if (calls == nullptr) {
    FOVEA_TRY(masks, model_.forms.of(request.form));
  } else if (has_form && calls->syntax == CallSyntax::harmony) {
    FOVEA_TRY(masks, model_.forms.of(request.form));
    FOVEA_TRY(head_masks_, call_masks(CallForm::behind_channel, *calls, {}, model_.tokenizer, model_.forms));
  } else if (has_form) {
    FOVEA_TRY(masks, form_or_calls(request.form, *calls, model_.tokenizer, model_.forms));
  } else {
    FOVEA_TRY(trigger_, CallTrigger::make(*calls, prompt, model_.tokenizer, model_.channels, model_.forms));
  }
  if (masks) matcher_ = masks->start();
  return {};
}

void AnswerHold::find_place(const GenerateRequest& request, const Prompt& prompt) {
  if (request.raw_prompt) return;
  may_think_ = request.thinking != false;
  if (model_.channels != nullptr) {
    find_channel(prompt);
    return;
  }
  open_ = model_.tokenizer.find(thoughts_open);
  close_ = model_.tokenizer.find(thoughts_close);
  end_of_thoughts_ = encoded("\n" + std::string(thoughts_close) + "\n\n", true);
  for (const char* const breaks : {"\n", "\n\n"})
    for (const TokenId token : encoded(breaks))
      if (is_line_breaks(bytes_of(token))) gaps_.push_back(token);
  may_think_ = may_think_ && open_ >= 0 && !prompt.thoughts_are_over;
  place_ = prompt.place == AnswerPlace::thoughts                  ? Place::thoughts
           : prompt.place == AnswerPlace::beginning && may_think_ ? Place::beginning
                                                                  : Place::answer;
}

// In channels the prompt's last message says it: it has one already where an answer goes on.
void AnswerHold::find_channel(const Prompt& prompt) {
  const ChannelTokens& channels = *model_.channels;
  harmony_ = channels.token(Mark::message) >= 0;
  close_ = channels.token(Mark::end);
  open_ = harmony_ ? -1 : channels.token(Mark::channel);
  end_of_thoughts_ = harmony_ ? std::vector{close_, channels.token(Mark::start)} : encoded("\n");
  const auto add = [this](const std::vector<TokenId>& more) {
    end_of_thoughts_.insert(end_of_thoughts_.end(), more.begin(), more.end());
  };
  if (harmony_) {
    add(encoded("assistant"));
    if (!is_required_) {  // a call has another head
      add({channels.token(Mark::channel)});
      add(encoded("final"));
      add({channels.token(Mark::message)});
    }
  } else {
    add({close_});
  }

  std::string name;
  std::optional<Mark> last;
  std::size_t at = prompt.tokens.size();
  while (at > 0 && prompt.tokens[at - 1] != channels.token(Mark::start)) --at;
  for (; at < prompt.tokens.size(); ++at) {
    const auto mark = channels.mark(prompt.tokens[at]);
    if (mark) last = mark;
    if (!mark && last == Mark::channel) name += bytes_of(prompt.tokens[at]);
  }
  if (harmony_) {
    place_ = last != Mark::message ? Place::header : name == "analysis" ? Place::thoughts : Place::answer;
  } else if (last == Mark::channel) {
    place_ = Place::thoughts;
  } else {
    may_think_ = !last && may_think_ && !prompt.continues;
    place_ = may_think_ ? Place::beginning : Place::answer;
  }
}

// What an answer that goes on has said already.
Result<void> AnswerHold::take_begun(const GenerateRequest& request) {
  if (!request.continue_last || request.raw_prompt || place_ != Place::answer) return {};
  const auto parts = answer_parts(request.messages.back().content, model_.channels != nullptr);
  if (parts.empty() || parts.back().thoughts) return {};
  FOVEA_TRY(const bool fits, matcher_->accept_bytes(split_answer(parts).text));
  if (!fits) return fail(phrases::given_messages(), errors::begun_answer_not_of_form());
  return {};
}

std::vector<TokenId> AnswerHold::encoded(std::string_view text, bool parse_special) const {
  return model_.tokenizer.encode(text, {.add_special = false, .parse_special = parse_special});
}

// As the answer's text has them: of control tokens, the tags of thoughts alone.
std::string AnswerHold::bytes_of(TokenId token) const {
  if (model_.tokenizer.is_control(token) && token != open_ && token != close_) return {};
  return model_.tokenizer.piece(token);
}

Result<std::int64_t> AnswerHold::needed() {
  if (place_ == Place::thoughts) return std::ssize(end_of_thoughts_) + answer_needs();
  if (place_ != Place::header || is_required_) return answer_needs();
  FOVEA_TRY(const grammar::Matcher name, name_of("final"));
  return 2 + name.tokens_to_complete() + answer_needs();
}

Result<grammar::Matcher> AnswerHold::name_of(const char* names) const {
  FOVEA_TRY(const auto masks, model_.forms.of({AnswerForm::Kind::regex, names}));
  return masks->start();
}

// Thoughts are not begun where they could not be ended in time.
Result<void> AnswerHold::begin_name() {
  tail_.clear();
  if (!harmony_) {
    FOVEA_TRY(name_, name_of("thought\\n"));
    return {};
  }
  if (head_masks_) head_ = head_masks_->start();
  FOVEA_TRY(name_, name_of(is_required_ ? "analysis" : "analysis|final"));
  FOVEA_TRY(const grammar::Matcher thoughts, name_of("analysis"));
  may_think_ =
      tokens_left_ - 1 > thoughts.tokens_to_complete() + 1 + std::ssize(end_of_thoughts_) + answer_needs();
  if (may_think_ || is_required_) return {};
  FOVEA_TRY(name_, name_of("final"));
  return {};
}

void AnswerHold::force(std::vector<TokenId> tokens, Place then) {
  forced_ = std::move(tokens);
  std::ranges::reverse(forced_);
  place_ = forced_.empty() ? then : Place::forced;
  then_ = then;
}

Result<std::span<const std::uint32_t>> AnswerHold::allowed(std::int64_t tokens_left) {
  tokens_left_ = tokens_left;
  if (!matcher_) return allow_free(tokens_left);
  const std::int64_t closing = std::ssize(end_of_thoughts_);
  if (place_ == Place::thoughts && tokens_left <= closing + answer_needs())
    force(end_of_thoughts_, Place::answer);
  std::ranges::fill(bits_, 0U);
  switch (place_) {
    case Place::forced:
      set(forced_.back());
      break;
    case Place::thoughts:
      allow_thoughts();
      break;
    case Place::header:
      FOVEA_CHECK(allow_header(tokens_left));
      break;
    case Place::beginning:
    case Place::gap:
    case Place::answer:
      FOVEA_CHECK(allow_answer(tokens_left));
      break;
  }
  if (place_ == Place::gap && tokens_left > answer_needs())
    for (const TokenId token : gaps_)
      if (gap_ + line_breaks(token) <= most_line_breaks) set(token);
  if (place_ == Place::beginning) {
    std::int64_t name = 0;
    if (model_.channels != nullptr) {
      FOVEA_TRY(const grammar::Matcher thought, name_of("thought\\n"));
      name = thought.tokens_to_complete();
    }
    if (tokens_left > name + closing + answer_needs()) set(open_);
  }
  return bits_;
}

Result<void> AnswerHold::allow_answer(std::int64_t tokens_left) {
  FOVEA_CHECK(matcher_->mask_within(tokens_left, bits_));
  const bool complete = matcher_->is_complete();
  for (const TokenId token : model_.end_of_generation) set(token, complete);
  return {};
}

// Every token but one that would begin a call which has no room.
Result<std::span<const std::uint32_t>> AnswerHold::allow_free(std::int64_t tokens_left) {
  const TokenId refused = trigger_->refused(tokens_left);
  if (refused < 0) return std::span<const std::uint32_t>();
  std::ranges::fill(bits_, ~0U);
  set(refused, false);
  return bits_;
}

Result<void> AnswerHold::allow_header(std::int64_t tokens_left) {
  const TokenId channel = model_.channels->token(Mark::channel);
  if (!name_ && !is_required_) set(channel);
  if (!name_ && is_required_) {
    FOVEA_CHECK(matcher_->mask_within(tokens_left, bits_));
    FOVEA_TRY(const grammar::Matcher thoughts, name_of("analysis"));
    if (tokens_left > 2 + thoughts.tokens_to_complete() + std::ssize(end_of_thoughts_) + answer_needs())
      set(channel);
  }
  if (!name_) return {};
  const std::int64_t behind =
      answer_needs() + (harmony_ ? 1 : 0) + (may_think_ ? std::ssize(end_of_thoughts_) : 0);
  FOVEA_CHECK(name_->mask_within(tokens_left - behind, bits_));
  if (name_->is_complete()) set(model_.channels->token(Mark::message));
  if (!head_) return {};
  std::vector<std::uint32_t> calls(bits_.size());
  FOVEA_CHECK(head_->mask_within(tokens_left, calls));
  std::ranges::transform(bits_, calls, bits_.begin(), std::bit_or());
  return {};
}

// Everything but what would end the answer here, or the thoughts and go on with something else at once.
void AnswerHold::allow_thoughts() {
  std::ranges::fill(bits_, ~0U);
  if (model_.channels != nullptr) {
    const auto controls = model_.forms.controls();
    for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] &= ~controls[i];
    for (const TokenId token : model_.end_of_generation) set(token, false);
    set(close_);
    return;
  }
  for (const TokenId token : model_.end_of_generation) set(token, false);
  for (const TokenId token : model_.forms.overrunning()) {
    const std::string text = tail_ + bytes_of(token);
    const std::size_t at = text.find(thoughts_close);
    if (at == std::string::npos) continue;
    const std::string_view rest = std::string_view(text).substr(at + thoughts_close.size());
    if (!rest.empty() && !(is_line_breaks(rest) && rest.size() <= most_line_breaks)) set(token, false);
  }
}

void AnswerHold::set(TokenId token, bool allow) {
  const auto id = static_cast<std::size_t>(token);
  if (token < 0 || id / 32 >= bits_.size()) return;
  const std::uint32_t bit = std::uint32_t{1} << (id % 32);
  bits_[id / 32] = allow ? bits_[id / 32] | bit : bits_[id / 32] & ~bit;
}

// 0: it is something else.
std::size_t AnswerHold::line_breaks(TokenId token) const {
  return std::ranges::find(gaps_, token) != gaps_.end() ? bytes_of(token).size() : 0;
}

Result<void> AnswerHold::accept(TokenId token) {
  if (!matcher_) {
    FOVEA_TRY(matcher_, trigger_->accept(token, tokens_left_ - 1));
    return {};
  }
  switch (place_) {
    case Place::forced:
      forced_.pop_back();
      if (forced_.empty()) place_ = then_;
      return {};
    case Place::header:
      return accept_header(token);
    case Place::thoughts:
      return accept_thought(token);
    case Place::beginning:
      if (token != open_) return accept_answer(token);
      tail_.clear();
      place_ = Place::thoughts;
      if (model_.channels == nullptr) return {};
      place_ = Place::header;
      return begin_name();
    case Place::gap:
      if (const std::size_t breaks = line_breaks(token); breaks > 0 && gap_ + breaks <= most_line_breaks) {
        gap_ += breaks;
        return {};
      }
      return accept_answer(token);
    case Place::answer:
      return accept_answer(token);
  }
  return {};
}

Result<void> AnswerHold::accept_header(TokenId token) {
  if (!name_ && is_required_ && token != model_.channels->token(Mark::channel)) return accept_answer(token);
  if (!name_) return begin_name();
  if (head_) {
    FOVEA_TRY(const bool may_be_call, head_->accept(token));
    if (!may_be_call) head_.reset();
  }
  if (harmony_ && token == model_.channels->token(Mark::message)) {
    place_ = tail_ == "analysis" ? Place::thoughts : Place::answer;
    name_.reset();
    return {};
  }
  tail_ += bytes_of(token);
  FOVEA_TRY(const bool is_name, name_->accept(token));
  if (!is_name) {  // then it is a call's
    matcher_ = std::exchange(head_, {});
    name_.reset();
    place_ = Place::answer;
  } else if (!harmony_ && name_->must_end()) {
    place_ = Place::thoughts;
  }
  return {};
}

Result<void> AnswerHold::accept_thought(TokenId token) {
  if (model_.channels != nullptr) {
    if (token != close_) return {};
    place_ = Place::answer;
    if (!harmony_) return {};
    std::vector<TokenId> head{model_.channels->token(Mark::start)};
    for (const TokenId each : encoded("assistant")) head.push_back(each);
    force(std::move(head), Place::header);
    return {};
  }
  tail_ += bytes_of(token);
  if (const std::size_t at = tail_.find(thoughts_close); at != std::string::npos) {
    gap_ = tail_.size() - at - thoughts_close.size();
    place_ = Place::gap;
  } else if (tail_.size() >= thoughts_close.size()) {
    tail_.erase(0, tail_.size() - (thoughts_close.size() - 1));
  }
  return {};
}

Result<void> AnswerHold::accept_answer(TokenId token) {
  place_ = Place::answer;
  FOVEA_CHECK(matcher_->accept(token));
  // A call that the model chose to make is over: the answer goes on as it likes.
  if (trigger_ && !trigger_->ends_answer() && matcher_->must_end()) matcher_.reset();
  return {};
}

}  // namespace fovea::chat
