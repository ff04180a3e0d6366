#include "engine/runtime/channels.h"

#include <algorithm>
#include <iterator>

#include "engine/runtime/thoughts.h"

namespace fovea::runtime {
namespace {

constexpr std::string_view analysis = "analysis";
constexpr std::string_view assistant = "assistant";
constexpr std::string_view recipient = "to=";
constexpr std::string_view blank_line = "\n\n";
const std::string open_line = std::string(thoughts_open) + "\n";
const std::string close_line = "\n" + std::string(thoughts_close) + "\n\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::string_view first_word(std::string_view text) {
  text = trimmed(text);
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

std::string_view without(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

}  // namespace

Channels::Piece Channels::push(Mark mark) {
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

Channels::Piece Channels::push(std::string_view text) {
  if (text.empty() || ended_) return {};
  switch (in_) {
    case In::channel:
      channel_ += text;
      return {};
    case In::thoughts:
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

void Channels::begin_answer() {
  if (in_ != In::role) return;
  role_.clear();
  role_is_given_ = true;
}

std::string Channels::begin_message() {
  if (ended_) {
    in_ = In::between;
    return {};
  }
  std::string text = text_before_ ? std::string(blank_line) : std::string();
  text_before_ = false;
  in_ = first_word(channel_) == analysis ? In::thoughts : In::text;
  return in_ == In::thoughts ? text + open_line : text;
}

std::string Channels::end_message() {
  return in_ == In::thoughts ? close_line : std::string();
}

Channels::Piece Channels::finish(bool complete) {
  if (complete && in_ == In::thoughts) return {end_message()};
  if (complete && in_ == In::role && role_is_given_ && !trimmed(role_).starts_with(recipient)) return {role_, true};
  return {};
}

std::optional<ChannelTokens> ChannelTokens::of(const text::Tokenizer& tokenizer) {
  if (tokenizer.find("<|return|>") < 0) return {};
  ChannelTokens tokens;
  constexpr const char* names[] = {"<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|constrain|>"};
  static_assert(std::size(names) == std::size(decltype(tokens.ids_){}));
  for (std::size_t i = 0; i < std::size(names); ++i) {
    tokens.ids_[i] = tokenizer.find(names[i]);
    if (tokens.ids_[i] < 0 && i != static_cast<std::size_t>(Channels::Mark::constrain)) return {};
  }
  return tokens;
}

std::optional<Channels::Mark> ChannelTokens::mark(TokenId token) const {
  const auto found = std::ranges::find(ids_, token);
  if (found == std::end(ids_) || token < 0) return {};
  return static_cast<Channels::Mark>(found - std::begin(ids_));
}

std::vector<ChannelPart> in_channels(std::string_view begun) {
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

}  // namespace fovea::runtime
