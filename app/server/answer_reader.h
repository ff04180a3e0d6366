// What an answer's text says, piece by piece as it comes: thoughts, content, and calls of functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace fovea::app {

struct AnswerEvent {
  enum class Kind : std::uint8_t {
    reasoning,       // text: a piece of the thoughts
    content,         // text: a piece of what is said
    call_begin,      // text: the function's name
    call_arguments,  // text: a piece of the arguments' JSON
    call_end,
  };
  Kind kind = Kind::content;
  std::string text = {};
  bool operator==(const AnswerEvent&) const = default;
};
using AnswerSink = std::function<void(const AnswerEvent&)>;

// Reads GenerateResult's text: <think>…</think> at its beginning, and, where the model may call functions,
// <tool_call>{"name": …, "arguments": {…}}</tool_call>. Line breaks next to the tags are no part of what they
// divide. A call that is none by its JSON is content as it stands; arguments that end too early end there.
class AnswerReader {
 public:
  AnswerReader(bool reads_calls, AnswerSink sink) : reads_calls_(reads_calls), sink_(std::move(sink)) {}

  void read(std::string_view piece);
  void finish();
  std::size_t held() const { return held_.size(); }  // bytes that are read and not yet said

 private:
  enum class Place : std::uint8_t { beginning, thoughts, content, call, arguments, call_rest };

  bool step(bool is_last);
  bool step_beginning(bool is_last);
  bool step_thoughts(bool is_last);
  bool step_content(bool is_last);
  bool step_call(bool is_last);
  bool step_arguments(bool is_last);
  bool step_call_rest(bool is_last);
  void say(AnswerEvent::Kind kind, std::string_view text);
  void whole_call(std::string_view text, std::string_view as_written);

  const bool reads_calls_;
  const AnswerSink sink_;
  Place place_ = Place::beginning;
  std::string held_;           // read, and not yet said
  bool skips_breaks_ = false;  // behind a tag
  // Of the arguments:
  int depth_ = 0;
  bool in_string_ = false, is_escaped_ = false;
};

}  // namespace fovea::app
