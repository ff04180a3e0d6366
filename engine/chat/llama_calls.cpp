// Llama's calls: its whole answer is an object, or several.
#include <array>
#include <utility>

#include "engine/chat/call_reader.h"

namespace fovea::chat {
namespace {

class LlamaCalls final : public CallReader {
 public:
  explicit LlamaCalls(const CallReading& reading) : CallReader(reading) {}

 private:
  enum class In : std::uint8_t { begin, object, between, text };

  void take(char c) override {
    switch (in_) {
      case In::begin:
        take_begin(c);
        return;
      case In::object:
        read_object(c);
        return;
      case In::between:
        opened_ += c;
        if (is_blank(c) || c == ';' || c == ',') return;
        opened_.pop_back();
        if (c == '{') {
          begin_object(c);
        } else {
          held_ = c;
          give_up();
        }
        return;
      case In::text:
        say({&c, 1});
        return;
    }
  }

  void end() override {
    if (in_ == In::object) held_ = object_->rest();
    if (in_ != In::between) give_up();
  }

  void give_up() {
    in_ = In::text;
    say_opened();
  }

  void take_begin(char c) {
    constexpr std::array<std::string_view, 1> tag{"<|python_tag|>"};
    if (held_.empty() && is_blank(c)) {
      opened_ += c;
    } else if (held_.empty() && c == '{') {
      begin_object(c);
    } else if (const int found = match(c, tag); found == 2) {
      opened_ += std::exchange(held_, {});
    } else if (found == 0) {
      give_up();
    }
  }

  // Any object could be an answer: only one with a known name and arguments is a call.
  void begin_object(char c) {
    object_.emplace(&reading_.tools, false);
    in_ = In::object;
    read_object(c);
  }

  void read_object(char c) {
    const JsonCall::Step step = take_object(c);
    if (step == JsonCall::Step::done) {
      in_ = In::between;
    } else if (step == JsonCall::Step::rubbish) {
      give_up();
    }
  }

  In in_ = In::begin;
};

}  // namespace

std::unique_ptr<CallReader> read_llama_calls(const CallReading& reading) {
  return std::make_unique<LlamaCalls>(reading);
}

}  // namespace fovea::chat
