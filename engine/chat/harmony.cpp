// gpt-oss' channels, the harmony format.
#include "engine/chat/channel_formats.h"
#include "engine/chat/json_call.h"
#include "engine/chat/thoughts.h"

namespace fovea::chat {
namespace {

constexpr std::string_view analysis = "analysis";
constexpr std::string_view assistant = "assistant";
constexpr std::string_view recipient = "to=";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::string_view first_word(std::string_view text) {
  text = trimmed(text);
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

// The function in a head such as "assistant to=functions.weather"; empty: none.
std::string_view called_function(std::string_view head) {
  constexpr std::string_view begin = "to=functions.";
  const std::size_t at = head.find(begin);
  if (at == std::string_view::npos) return {};
  head.remove_prefix(at + begin.size());
  return head.substr(0, head.find_first_of(" \t\r\n"));
}

class Harmony final : public Channels {
 public:
  Piece push(Mark mark) override;
  Piece push(std::string_view text) override;
  void begin_answer(bool continues) override;
  Piece finish(bool complete) override;
  void read_calls(bool one) override {
    reads_calls_ = true;
    one_call_ = one;
  }
  bool ended() const override { return ended_; }

 private:
  enum class In : std::uint8_t { role, channel, thoughts, text, call, between };

  std::string end_message();
  std::string begin_message();

  In in_ = In::between;
  std::string role_;            // with its recipient, if any
  std::string channel_;         // and what else stands in a message's head
  bool role_is_given_ = false;  // by the prompt
  bool text_before_ = false;    // what comes next is another part of the answer
  bool reads_calls_ = false, one_call_ = false;
  ArgumentStream arguments_;  // of a call
  bool ended_ = false;
};

Channels::Piece Harmony::push(Mark mark) {
  const bool in_header = in_ == In::role || in_ == In::channel;
  if (mark == Mark::constrain || (mark == Mark::message && !in_header && in_ != In::between)) return {};
  if (mark == Mark::message || (mark == Mark::channel && in_ == In::role))
    ended_ = ended_ || (!role_is_given_ && !role_.empty() && !trimmed(role_).starts_with(assistant));
  if (mark == Mark::message) return {begin_message()};
  Piece piece{end_message()};
  channel_.clear();
  if (mark == Mark::start) {
    role_.clear();
    role_is_given_ = false;
  }
  in_ = mark == Mark::start ? In::role : mark == Mark::channel ? In::channel : In::between;
  return piece;
}

Channels::Piece Harmony::push(std::string_view text) {
  if (text.empty() || ended_) return {};
  switch (in_) {
    case In::channel:
      channel_ += text;
      return {};
    case In::thoughts:
      return {std::string(text)};
    case In::call:
      arguments_.take(text);
      return {std::string(text)};
    case In::role: {
      role_ += text;
      const std::string_view begun = trimmed(role_);
      if (!role_is_given_ || begun.substr(0, recipient.size()) == recipient.substr(0, begun.size()))
        return {};
      // No header, but the answer itself, of a model that knows no channels.
      std::string all = std::move(role_);
      role_.clear();
      return {begin_message() + std::move(all), text_before_ = true};
    }
    case In::between: {
      std::string all = begin_message() + std::string(text);
      text_before_ = true;
      return {std::move(all), true};
    }
    case In::text:
      text_before_ = true;
      return {std::string(text), true};
  }
  return {};
}

void Harmony::begin_answer(bool /*continues*/) {
  if (in_ != In::role) return;
  role_.clear();
  role_is_given_ = true;
}

std::string Harmony::begin_message() {
  if (ended_) {
    in_ = In::between;
    return {};
  }
  std::string text = text_before_ ? std::string(blank_line) : std::string();
  text_before_ = false;
  if (reads_calls_) {
    const std::string_view called = called_function(role_);
    const std::string name(called.empty() ? called_function(channel_) : called);
    if (!name.empty()) {
      in_ = In::call;
      arguments_ = {};
      return text + call_begin(json_string(name));
    }
  }
  in_ = first_word(channel_) == analysis ? In::thoughts : In::text;
  return in_ == In::thoughts ? text + open_line : text;
}

std::string Harmony::end_message() {
  if (in_ == In::call && arguments_.complete()) {
    text_before_ = true;
    ended_ = one_call_;
    in_ = In::between;
    return call_end();
  }
  return in_ == In::thoughts ? close_line : std::string();
}

Channels::Piece Harmony::finish(bool complete) {
  if (complete && (in_ == In::thoughts || in_ == In::call)) return {end_message()};
  if (complete && in_ == In::role && role_is_given_ && !trimmed(role_).starts_with(recipient))
    return {role_, true};
  return {};
}

}  // namespace

std::unique_ptr<Channels> read_harmony() {
  return std::make_unique<Harmony>();
}

std::vector<ChannelPart> in_harmony(std::string_view begun) {
  std::vector<ChannelPart> parts;
  const auto message = [&parts](std::string_view channel, std::string_view text) {
    parts.push_back({Channels::Mark::channel, {}});
    parts.push_back({{}, std::string(channel)});
    parts.push_back({Channels::Mark::message, {}});
    if (!text.empty()) parts.push_back({{}, std::string(text)});
  };
  const auto end = [&parts] {
    parts.push_back({Channels::Mark::end, {}});
    parts.push_back({Channels::Mark::start, {}});
    parts.push_back({{}, std::string(assistant)});
  };
  const std::vector<AnswerPart> all = answer_parts(begun, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool last = i + 1 == all.size();
    if (all[i].thoughts) {
      message(analysis, without(all[i].text, "\n", all[i].closed ? "\n" : ""));
      if (all[i].closed) end();
    } else if (!trimmed(all[i].text).empty()) {
      const std::string_view text = without(all[i].text, i > 0 ? blank_line : std::string_view(),
                                            last ? std::string_view() : blank_line);
      message(last ? "final" : "commentary", text);
      if (!last) end();
    }
  }
  return parts;
}

}  // namespace fovea::chat
