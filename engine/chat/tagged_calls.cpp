// <tool_call>{"name": …, "arguments": {…}}</tool_call>, as Hermes and Qwen write calls, and Qwen3-Coder's
//
//   <tool_call>
//   <function=weather>
//   <parameter=city>
//   Rome
//   </parameter>
//   </function>
//   </tool_call>
//
// whose values have the types of the tool's schema. A model of either kind may write the other.
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "engine/chat/call_reader.h"

namespace fovea::chat {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view function_tag = "<function=";
constexpr std::array tagged_opening{call_open, function_tag};
constexpr std::array<std::string_view, 2> parameter_tags{"<parameter=", "</function>"};
constexpr std::array<std::string_view, 2> value_end{"\n</parameter>", "</parameter>"};
constexpr std::size_t longest_tag = 256;  // of functions and parameters, bytes

// The types that a parameter may have; nothing: its schema does not say.
std::optional<std::set<std::string>> types_of(const Tool* tool, const std::string& parameter) {
  const std::set<std::string> text{"string"};
  if (tool == nullptr || !tool->parameters.is_object()) return text;
  const auto properties = tool->parameters.find("properties");
  if (properties == tool->parameters.end() || !properties->is_object() || !properties->contains(parameter))
    return text;
  const ordered_json& schema = (*properties)[parameter];
  if (!schema.is_object() || !schema.contains("type")) return {};
  const ordered_json& type = schema["type"];
  std::set<std::string> types;
  if (type.is_string()) types.insert(type.get<std::string>());
  if (type.is_array())
    for (const ordered_json& each : type)
      if (each.is_string()) types.insert(each.get<std::string>());
  return types;
}

std::string type_of(const ordered_json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.is_object() ? "object" : value.is_array() ? "array" : "string";
}

// As JSON of one of the types, where it is that; else as a string.
std::string typed(std::string_view value, const std::optional<std::set<std::string>>& types) {
  const std::size_t begin = std::min(value.find_first_not_of(" \t\r\n"), value.size());
  std::string word(value.substr(begin, value.find_last_not_of(" \t\r\n") + 1 - begin));
  // As Python spells them.
  for (const auto& [python, plain] : {std::pair{"True", "true"}, {"False", "false"}, {"None", "null"}})
    if (word == python) word = plain;
  if (is_json(word)) {
    const std::string type = type_of(ordered_json::parse(word, nullptr, false));
    const bool fits =
        !types ? type != "string" : types->contains(type) || (type == "integer" && types->contains("number"));
    if (fits && (type != "string") && !(types && types->contains("string") && type != "null")) return word;
  }
  return json_string(value);
}

class TaggedCalls final : public CallReader {
 public:
  explicit TaggedCalls(const CallReading& reading)
      : CallReader(reading),
        marks_(std::span(tagged_opening).first(reading.syntax == CallSyntax::qwen_xml ? 2 : 1)) {}

 private:
  enum class In : std::uint8_t { text, opened, object, name, parameters, key, value, closing };

  void take(char c) override {
    switch (in_) {
      case In::text:
        switch (seek(c, marks_)) {
          case 0:
            opened_ = call_open;
            in_ = In::opened;
            break;
          case 1:
            opened_ = function_tag;
            in_ = In::name;
            break;
          default:
            break;
        }
        return;
      case In::opened:
        take_opened(c);
        return;
      case In::object:
        read_object(c);
        return;
      case In::name:
      case In::key:
        take_name(c);
        return;
      case In::parameters:
        take_parameters(c);
        return;
      case In::value:
        take_value(c);
        return;
      case In::closing:
        take_closing(c);
        return;
    }
  }

  void end() override {
    if (in_ == In::object && object_) held_ = object_->rest();
    if (in_ == In::closing) return;
    if (in_ == In::value) {
      if (!streams_) {
        say(value_ + held_);
      } else {
        tell(json_escaped(held_));
      }
      return;
    }
    say_opened();
  }

  // Nothing of it is a call: what was not passed on is text, and what follows.
  void give_up() {
    in_ = In::text;
    say_opened();
  }

  void take_opened(char c) {
    if (held_.empty() && is_blank(c)) {
      opened_ += c;
      return;
    }
    if (held_.empty() && c == '{') {
      object_.emplace(nullptr, true);
      in_ = In::object;
      read_object(c);
      return;
    }
    const int found = match(c, std::span(tagged_opening).subspan(1));
    if (found == 0) give_up();
    if (found < 2) return;
    opened_ += std::exchange(held_, {});
    in_ = In::name;
  }

  void read_object(char c) {
    const JsonCall::Step step = take_object(c);
    if (step == JsonCall::Step::done) {
      in_ = In::closing;
    } else if (step == JsonCall::Step::rubbish) {
      give_up();
    }
  }

  void take_name(char c) {
    if (c != '>') {
      held_ += c;
      if (c == '\n' || held_.size() > longest_tag) give_up();
      return;
    }
    const std::string name = std::exchange(held_, {});
    if (in_ == In::name) {
      opened_.clear();
      tool_ = reading_.tools.find(name);
      tell(call_begin(json_string(name)) + "{");
      is_first_ = true;
      in_ = In::parameters;
      return;
    }
    tell((is_first_ ? "" : ", ") + json_string(name) + ": ");
    is_first_ = false;
    types_ = types_of(tool_, name);
    streams_ = types_ && *types_ == std::set<std::string>{"string"};
    if (streams_) tell("\"");
    value_.clear();
    at_begin_ = true;
    in_ = In::value;
  }

  void take_parameters(char c) {
    if (held_.empty() && is_blank(c)) return;
    const int found = match(c, parameter_tags);
    if (found == 0) give_up();
    if (found < 2) return;
    held_.clear();
    in_ = In::key;
    if (found == 2) return;
    tell("}" + call_end());
    count_call();
    in_ = In::closing;
  }

  // One line break belongs to each of the tags.
  void take_value(char c) {
    if (std::exchange(at_begin_, false) && c == '\n') return;
    held_ += c;
    for (const std::string_view mark : value_end) {
      if (!held_.ends_with(mark)) continue;
      held_.resize(held_.size() - mark.size());
      pass_value(held_.size());
      tell(streams_ ? "\"" : typed(value_, types_));
      in_ = In::parameters;
      return;
    }
    std::size_t keep = 0;
    for (const std::string_view mark : value_end)
      for (std::size_t length = std::min(held_.size(), mark.size() - 1); length > keep; --length)
        if (std::string_view(held_).ends_with(mark.substr(0, length))) keep = length;
    pass_value(held_.size() - keep);
  }

  void pass_value(std::size_t bytes) {
    if (streams_) {
      tell(json_escaped(std::string_view(held_).substr(0, bytes)));
    } else {
      value_ += held_.substr(0, bytes);
    }
    held_.erase(0, bytes);
  }

  // The tag itself adds nothing any more.
  void take_closing(char c) {
    if (held_.empty() && is_blank(c)) {
      opened_ += c;
      return;
    }
    constexpr std::array close{call_close};
    const int found = match(c, close);
    if (found == 1) return;
    if (found == 2) {
      held_.clear();
      opened_.clear();
      in_ = In::text;
      return;
    }
    // It is missing: what stands in its place is text, or the next call.
    const std::string text = std::exchange(opened_, {}) + std::exchange(held_, {});
    in_ = In::text;
    for (const char each : text) take(each);
  }

  std::span<const std::string_view> marks_;
  In in_ = In::text;
  const Tool* tool_ = nullptr;
  std::optional<std::set<std::string>> types_;  // of the parameter
  std::string value_;
  bool streams_ = false, is_first_ = true, at_begin_ = true;
};

}  // namespace

std::unique_ptr<CallReader> read_tagged_calls(const CallReading& reading) {
  return std::make_unique<TaggedCalls>(reading);
}

}  // namespace fovea::chat
