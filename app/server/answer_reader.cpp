#include "app/server/answer_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace fovea::app {
namespace {

constexpr std::string_view open_thoughts = "<think>", close_thoughts = "</think>";
constexpr std::string_view open_call = "<tool_call>", close_call = "</tool_call>";
constexpr std::string_view breaks = "\r\n";
constexpr std::string_view spaces = " \t\r\n";

// How many bytes at the text's end may be the beginning of a tag.
std::size_t begun(std::string_view text, std::string_view tag) {
  std::size_t n = std::min(text.size(), tag.size() - 1);
  while (n > 0 && text.substr(text.size() - n) != tag.substr(0, n)) --n;
  return n;
}

// Where the last bytes begin that are all in `set`.
std::size_t without_end(std::string_view text, std::string_view set) {
  const std::size_t last = text.find_last_not_of(set);
  return last == std::string_view::npos ? 0 : last + 1;
}

// Reads {"name": "…", "arguments": from the front of a call's text, in this order.
class CallHead {
 public:
  enum class State : std::uint8_t { complete, incomplete, otherwise };

  explicit CallHead(std::string_view text) : text_(text) {}

  State read() {
    if (!take("{") || !take("\"name\"") || !take(":") || !take_name() || !take(",") ||
        !take("\"arguments\"") || !take(":") || !take("{"))
      return state_;
    return State::complete;
  }
  std::size_t arguments() const { return at_ - 1; }  // where their brace is
  std::string_view name() const { return name_; }    // as JSON

 private:
  bool skip_spaces() {
    at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size());
    return at_ < text_.size();
  }
  bool take(std::string_view token) {
    if (!skip_spaces()) return false;
    const std::string_view here = text_.substr(at_, token.size());
    if (here == token) return at_ += token.size(), true;
    if (!token.starts_with(here)) state_ = State::otherwise;
    return false;
  }
  bool take_name() {
    if (!skip_spaces()) return false;
    if (text_[at_] != '"') return state_ = State::otherwise, false;
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '"') {
        name_ = text_.substr(at_, i + 1 - at_);
        at_ = i + 1;
        return true;
      }
    }
    return false;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::string_view name_;
  State state_ = State::incomplete;
};

}  // namespace

void AnswerReader::read(std::string_view piece) {
  held_ += piece;
  while (step(false)) {
  }
}

void AnswerReader::finish() {
  while (step(true)) {
  }
}

void AnswerReader::say(AnswerEvent::Kind kind, std::string_view text) {
  if (!text.empty()) sink_({kind, std::string(text)});
}

// True: the place has changed, and there may be more to read there.
bool AnswerReader::step(bool is_last) {
  switch (place_) {
    case Place::beginning:
      return step_beginning(is_last);
    case Place::thoughts:
      return step_thoughts(is_last);
    case Place::content:
      return step_content(is_last);
    case Place::call:
      return step_call(is_last);
    case Place::arguments:
      return step_arguments(is_last);
    case Place::call_rest:
      return step_call_rest(is_last);
  }
  return false;
}

bool AnswerReader::step_beginning(bool is_last) {
  const std::string_view text =
      std::string_view(held_).substr(std::min(held_.find_first_not_of(spaces), held_.size()));
  if (text.starts_with(open_thoughts)) {
    held_ = text.substr(open_thoughts.size());
    place_ = Place::thoughts;
    skips_breaks_ = true;
    return true;
  }
  if (!is_last && open_thoughts.starts_with(text)) return false;
  place_ = Place::content;
  return true;
}

bool AnswerReader::step_thoughts(bool is_last) {
  if (skips_breaks_) {
    held_.erase(0, held_.find_first_not_of(breaks));
    if (held_.empty()) return false;
    skips_breaks_ = false;
  }
  const std::string_view text = held_;
  const std::size_t end = text.find(close_thoughts);
  if (end != std::string_view::npos) {
    say(AnswerEvent::Kind::reasoning, text.substr(0, without_end(text.substr(0, end), breaks)));
    held_.erase(0, end + close_thoughts.size());
    place_ = Place::content;
    skips_breaks_ = true;
    return true;
  }
  std::size_t sure = is_last ? text.size() : text.size() - begun(text, close_thoughts);
  sure = without_end(text.substr(0, sure), breaks);
  say(AnswerEvent::Kind::reasoning, text.substr(0, sure));
  held_.erase(0, is_last ? held_.size() : sure);
  return false;
}

bool AnswerReader::step_content(bool is_last) {
  if (skips_breaks_) {
    held_.erase(0, held_.find_first_not_of(breaks));
    if (held_.empty()) return false;
    skips_breaks_ = false;
  }
  const std::string_view text = held_;
  const std::size_t call = reads_calls_ ? text.find(open_call) : std::string_view::npos;
  if (call != std::string_view::npos) {
    say(AnswerEvent::Kind::content, text.substr(0, without_end(text.substr(0, call), spaces)));
    held_.erase(0, call + open_call.size());
    place_ = Place::call;
    return true;
  }
  std::size_t sure = text.size();
  if (!is_last && reads_calls_) sure = without_end(text.substr(0, sure - begun(text, open_call)), spaces);
  say(AnswerEvent::Kind::content, text.substr(0, sure));
  held_.erase(0, sure);
  return false;
}

bool AnswerReader::step_call(bool is_last) {
  CallHead head(held_);
  const CallHead::State state = head.read();
  if (state == CallHead::State::complete) {
    const auto name = nlohmann::json::parse(head.name(), nullptr, false);
    if (name.is_string()) {
      sink_({AnswerEvent::Kind::call_begin, name.get<std::string>()});
      held_.erase(0, head.arguments());
      depth_ = 0;
      in_string_ = is_escaped_ = false;
      place_ = Place::arguments;
      return true;
    }
  }
  // Until it is known what it is, an end may be a part of the name.
  if (state == CallHead::State::incomplete && !is_last) return false;
  const std::size_t end = held_.find(close_call);
  if (end == std::string::npos && !is_last) return false;
  const std::string text = held_.substr(0, end);
  const std::string tail = end == std::string::npos ? "" : std::string(close_call);
  held_.erase(0, end == std::string::npos ? held_.size() : end + close_call.size());
  whole_call(text, std::string(open_call) + text + tail);
  place_ = Place::content;
  return end != std::string::npos;
}

// One whose parts stand in another order.
void AnswerReader::whole_call(std::string_view text, std::string_view as_written) {
  const auto call = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool is_call = call.is_object() && call.contains("name") && call["name"].is_string() &&
                       call.contains("arguments") && call["arguments"].is_object();
  if (!is_call) return say(AnswerEvent::Kind::content, as_written);
  sink_({AnswerEvent::Kind::call_begin, call["name"].get<std::string>()});
  say(AnswerEvent::Kind::call_arguments, call["arguments"].dump());
  sink_({AnswerEvent::Kind::call_end});
  skips_breaks_ = true;
}

bool AnswerReader::step_arguments(bool is_last) {
  std::size_t i = 0;
  bool is_complete = false;
  for (; i < held_.size() && !is_complete; ++i) {
    const char c = held_[i];
    if (in_string_) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (c == '\\') {
        is_escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      is_complete = --depth_ == 0;
    }
  }
  say(AnswerEvent::Kind::call_arguments, std::string_view(held_).substr(0, i));
  held_.erase(0, i);
  if (!is_complete && !is_last) return false;
  sink_({AnswerEvent::Kind::call_end});
  place_ = Place::call_rest;
  return is_complete;
}

bool AnswerReader::step_call_rest(bool is_last) {
  const std::size_t end = held_.find(close_call);
  if (end == std::string::npos) {
    // Nothing but the object's brace belongs there: no more is kept than may be the tag's beginning.
    held_.erase(0, is_last ? held_.size() : held_.size() - begun(held_, close_call));
    return false;
  }
  held_.erase(0, end + close_call.size());
  place_ = Place::content;
  skips_breaks_ = true;
  return true;
}

}  // namespace fovea::app
