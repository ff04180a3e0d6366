// Gemma 4's calls: <|tool_call>call:weather{city:<|"|>Rome<|"|>,days:2}<tool_call|>. Keys are bare, strings
// stand between control tokens, the rest is as in JSON.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/chat/call_reader.h"

namespace fovea::chat {
namespace {

constexpr std::string_view quote = "<|\"|>";
constexpr std::array<std::string_view, 1> gemma_opening{"<|tool_call>"}, gemma_word{"call:"},
    gemma_quotes{quote}, gemma_closing{"<tool_call|>"};
constexpr std::size_t longest_key = 256;  // of functions and keys, bytes
constexpr std::size_t deepest = 100;      // nested objects and lists

class GemmaCalls final : public CallReader {
 public:
  explicit GemmaCalls(const CallReading& reading) : CallReader(reading) {}

 private:
  enum class In : std::uint8_t { text, opened, name, key, value, string, scalar, after, closing };

  void take(char c) override {
    switch (in_) {
      case In::text:
        if (seek(c, gemma_opening) != 0) return;
        opened_ = gemma_opening[0];
        in_ = In::opened;
        return;
      case In::opened: {
        const int found = match(c, gemma_word);
        if (found == 0) give_up();
        if (found < 2) return;
        opened_ += std::exchange(held_, {});
        in_ = In::name;
        return;
      }
      case In::name:
        take_name(c);
        return;
      case In::key:
        take_key(c);
        return;
      case In::value:
        take_value(c);
        return;
      case In::string:
        take_string(c);
        return;
      case In::scalar:
        take_scalar(c);
        return;
      case In::after:
        take_after(c);
        return;
      case In::closing: {
        if (held_.empty() && is_blank(c)) {
          opened_ += c;
          return;
        }
        const int found = match(c, gemma_closing);
        if (found == 1) return;
        const std::string text = std::exchange(opened_, {}) + std::exchange(held_, {});
        in_ = In::text;
        if (found == 0)
          for (const char each : text) take(each);
        return;
      }
    }
  }

  void end() override {
    if (in_ == In::closing) return;
    if (in_ == In::string) {
      tell(json_escaped(std::exchange(held_, {})));
      return;
    }
    give_up();
  }

  void give_up() {
    in_ = In::text;
    say_opened();
  }

  void take_name(char c) {
    if (c != '{') {
      held_ += c;
      if (is_blank(c) || held_.size() > longest_key) give_up();
      return;
    }
    if (held_.empty()) {
      held_ += c;
      give_up();
      return;
    }
    opened_.clear();
    tell(call_begin(json_string(std::exchange(held_, {}))));
    open('{');
  }

  void open(char bracket) {
    open_.push_back(bracket);
    is_first_ = true;
    tell({&bracket, 1});
    in_ = bracket == '{' ? In::key : In::value;
  }

  void close(char bracket) {
    open_.pop_back();
    tell({&bracket, 1});
    in_ = In::after;
    is_first_ = false;
    if (!open_.empty()) return;
    tell(call_end());
    count_call();
    in_ = In::closing;
  }

  void take_key(char c) {
    if (held_.empty() && is_blank(c)) return;
    if (held_.empty() && c == '}' && is_first_) {
      close(c);
      return;
    }
    if (c != ':') {
      held_ += c;
      if (c == '}' || c == ',' || held_.size() > longest_key) give_up();
      return;
    }
    std::string_view key = held_;
    if (key.size() >= 2 * quote.size() && key.starts_with(quote) && key.ends_with(quote))
      key = key.substr(quote.size(), key.size() - 2 * quote.size());
    tell((is_first_ ? "" : ", ") + json_string(key) + ": ");
    held_.clear();
    is_first_ = false;
    in_ = In::value;
  }

  void take_value(char c) {
    if (held_.empty() && is_blank(c)) return;
    const bool in_list = open_.back() == '[';
    if (held_.empty() && in_list && is_first_ && c == ']') {
      close(c);
      return;
    }
    if (held_.empty() && in_list && !std::exchange(is_first_, false)) tell(", ");
    if (held_.empty() && (c == '{' || c == '[')) {
      if (open_.size() == deepest) {
        held_ = c;
        give_up();
      } else {
        open(c);
      }
      return;
    }
    const int found = match(c, gemma_quotes);
    if (found == 2) {
      held_.clear();
      tell("\"");
      in_ = In::string;
    } else if (found == 0) {
      const std::string begun = std::exchange(held_, {});
      in_ = In::scalar;
      for (const char each : begun)
        if (in_ == In::scalar) take_scalar(each);
    }
  }

  void take_string(char c) {
    held_ += c;
    if (held_.ends_with(quote)) {
      held_.resize(held_.size() - quote.size());
      tell(json_escaped(std::exchange(held_, {})) + "\"");
      in_ = In::after;
      return;
    }
    std::size_t keep = std::min(held_.size(), quote.size() - 1);
    while (keep > 0 && !held_.ends_with(quote.substr(0, keep))) --keep;
    tell(json_escaped(std::string_view(held_).substr(0, held_.size() - keep)));
    held_.erase(0, held_.size() - keep);
  }

  // A number, true, false or null; any other words are a string.
  void take_scalar(char c) {
    if (c != ',' && c != '}' && c != ']') {
      held_ += c;
      return;
    }
    while (!held_.empty() && is_blank(held_.back())) held_.pop_back();
    if (held_.empty()) {
      held_ = c;
      give_up();
      return;
    }
    tell(is_json(held_) && !held_.starts_with('"') ? held_ : json_string(held_));
    held_.clear();
    take_after(c);
  }

  void take_after(char c) {
    if (is_blank(c)) return;
    const bool in_object = open_.back() == '{';
    if (c == ',') {
      in_ = in_object ? In::key : In::value;
    } else if (c == (in_object ? '}' : ']')) {
      close(c);
    } else {
      held_ = c;
      give_up();
    }
  }

  In in_ = In::text;
  std::vector<char> open_;  // brackets
  bool is_first_ = true;    // nothing stands in the innermost yet
};

}  // namespace

std::unique_ptr<CallReader> read_gemma_calls(const CallReading& reading) {
  return std::make_unique<GemmaCalls>(reading);
}

}  // namespace fovea::chat
