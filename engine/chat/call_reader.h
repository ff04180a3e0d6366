// Finds a model's calls in what it says, as it comes and however it is cut, and passes them on as
// tool_calls.h has them: a call's arguments as soon as its name is known. What turns out to be no call, or is
// cut, is passed on as it was written; where its beginning was passed on as a call's already, that has no
// end.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat/json_call.h"
#include "engine/chat/tool_calls.h"

namespace fovea::chat {

// What is read of an answer, where its request has tools.
struct CallReading {
  CallSyntax syntax = CallSyntax::hermes;
  ToolSet tools = {};
  bool parallel = true;  // false: nothing comes behind the first call
};

// Control tokens that calls are made of. To a reader they are text.
inline constexpr std::array<std::string_view, 9> call_marks{"<tool_call>",  "</tool_call>", "[TOOL_CALLS]",
                                                            "[ARGS]",       "[CALL_ID]",    "<|python_tag|>",
                                                            "<|tool_call>", "<tool_call|>", "<|\"|>"};

class CallReader {
 public:
  struct Piece {
    std::string text;
    bool call = false;  // a part of one
    bool operator==(const Piece&) const = default;
  };
  using Pieces = std::vector<Piece>;

  // Null: harmony's calls are messages, which its channels read. The reading outlives it.
  static std::unique_ptr<CallReader> of(const CallReading& reading);
  virtual ~CallReader() = default;

  Pieces push(std::string_view text);
  Pieces finish();                                   // the answer ends here
  std::size_t held() const { return held_.size(); }  // bytes
  bool ended() const { return !reading_.parallel && calls_ > 0; }

 protected:
  explicit CallReader(const CallReading& reading) : reading_(reading) {}

  virtual void take(char c) = 0;
  virtual void end() = 0;  // what is held back is said

  // Between calls. Returns which of the marks the text now ends with, which is not said; -1: none.
  int seek(char c, std::span<const std::string_view> marks);
  // Adds a byte to held_. 0: it does not begin any of these; 1: it may; 2 and more: it is one of these.
  int match(char c, std::span<const std::string_view> marks);
  void say(std::string_view text) { add(text, false); }
  void tell(std::string_view text) { add(text, true); }
  void say_held();
  void say_opened();  // and what is held
  void count_call() { ++calls_; }
  // Of a call that is an object, which object_ reads: passes on what is ready, and holds what is rubbish.
  JsonCall::Step take_object(char c);

  const CallReading& reading_;
  std::string held_;    // read and not passed on
  std::string opened_;  // likewise, before that: what led to a call of which nothing was passed on
  std::optional<JsonCall> object_;

 private:
  void add(std::string_view text, bool call);

  int calls_ = 0;
  Pieces pieces_;
};

std::unique_ptr<CallReader> read_tagged_calls(const CallReading& reading);   // hermes, qwen_xml
std::unique_ptr<CallReader> read_mistral_calls(const CallReading& reading);  // both
std::unique_ptr<CallReader> read_llama_calls(const CallReading& reading);
std::unique_ptr<CallReader> read_gemma_calls(const CallReading& reading);

}  // namespace fovea::chat
