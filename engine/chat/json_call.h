// JSON that arrives byte by byte: where a value ends, and a call as an object of name and arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/chat/tool_calls.h"

namespace fovea::chat {

// How a call begins and ends in an answer's text. name, id: JSON strings; id empty: none.
std::string call_begin(std::string_view name);
std::string call_end(std::string_view id = {});
// As a JSON string; without: only what stands between its quotes.
std::string json_string(std::string_view text);
std::string json_escaped(std::string_view text);
// One whole JSON value, nested no deeper than any other.
bool is_json(std::string_view text);

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Finds the end of a value whose first byte is no blank. Brackets are counted, not matched: is_json() tells
// more.
class JsonScan {
 public:
  enum class Next : std::uint8_t { inside, last, behind };  // where the byte stands
  Next take(char c);

 private:
  bool begun_ = false, scalar_ = false, in_string_ = false, escaped_ = false;
  std::size_t depth_ = 0;
};

// Arguments that are passed on as they come: an object, then nothing but blanks.
class ArgumentStream {
 public:
  void take(std::string_view text);
  bool complete() const { return ended_ && valid_ && is_json(object_); }

 private:
  JsonScan scan_;
  std::string object_;
  bool ended_ = false, valid_ = true;
};

// {"name": …, "arguments": {…}} in any order, with "parameters" in its place and an "id"; other keys are
// passed over. What it makes of it is ready as soon as name and arguments have begun.
class JsonCall {
 public:
  enum class Step : std::uint8_t { more, done, rubbish };

  // known: which names are calls, null: any. An object without arguments is a call where they may be missing.
  JsonCall(const ToolSet* known, bool may_lack_arguments)
      : known_(known), may_lack_arguments_(may_lack_arguments) {}

  Step take(char c);
  std::string take_ready();                          // the call's text that is new
  const std::string& rest() const { return rest_; }  // bytes of which nothing was ready

 private:
  enum class In : std::uint8_t { open, key, key_text, colon, value, comma };

  Step take_value(char c);
  Step take_comma(char c);
  Step end_value();
  Step end();
  bool is_arguments() const { return key_ == "arguments" || key_ == "parameters"; }
  void begin(std::string_view arguments);

  const ToolSet* known_;
  bool may_lack_arguments_;
  In in_ = In::open;
  JsonScan scan_;
  std::string key_, value_;
  std::string name_, id_, arguments_;  // JSON; arguments only until the name is known
  bool begun_ = false;                 // its text
  bool streams_ = false;               // the value is the arguments'
  bool has_arguments_ = false;
  std::string ready_, rest_;
};

}  // namespace fovea::chat
