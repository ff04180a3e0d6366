#include "engine/chat/json_call.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/core/json_depth.h"

namespace fovea::chat {
namespace {

// Of a JSON string; nothing: it is none.
std::optional<std::string> string_of(std::string_view source) {
  if (!source.starts_with('"')) return {};
  const auto value = nlohmann::json::parse(source, nullptr, false);
  if (!value.is_string()) return {};
  return value.get<std::string>();
}

}  // namespace

std::string call_begin(std::string_view name) {
  return std::string(call_open) + "\n{\"name\": " + std::string(name) + ", \"arguments\": ";
}

std::string call_end(std::string_view id) {
  return (id.empty() ? "" : ", \"id\": " + std::string(id)) + "}\n" + std::string(call_close);
}

std::string json_string(std::string_view text) {
  return '"' + json_escaped(text) + '"';
}

std::string json_escaped(std::string_view text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += {'\\', c};
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\t') {
      escaped += "\\t";
    } else if (const auto byte = static_cast<unsigned char>(c); byte < 0x20) {
      escaped += "\\u00";
      escaped += {digits[byte / 16], digits[byte % 16]};
    } else {
      escaped += c;
    }
  }
  return escaped;
}

bool is_json(std::string_view text) {
  return json_depth(text) <= max_json_depth && nlohmann::json::accept(text);
}

JsonScan::Next JsonScan::take(char c) {
  if (!begun_) {
    begun_ = true;
    in_string_ = c == '"';
    depth_ = c == '{' || c == '[' ? 1 : 0;
    scalar_ = !in_string_ && depth_ == 0;
    return Next::inside;
  }
  if (scalar_) return is_blank(c) || c == ',' || c == '}' || c == ']' ? Next::behind : Next::inside;
  if (in_string_) {
    const bool ends = c == '"' && !escaped_;
    escaped_ = c == '\\' && !escaped_;
    in_string_ = !ends;
    return ends && depth_ == 0 ? Next::last : Next::inside;
  }
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') --depth_;
  return depth_ == 0 ? Next::last : Next::inside;
}

void ArgumentStream::take(std::string_view text) {
  for (const char c : text) {
    if (is_blank(c) && (object_.empty() || ended_)) continue;
    valid_ = valid_ && !ended_ && (!object_.empty() || c == '{');
    if (!valid_) return;
    object_ += c;
    ended_ = scan_.take(c) == JsonScan::Next::last;
  }
}

JsonCall::Step JsonCall::take(char c) {
  rest_ += c;
  switch (in_) {
    case In::open:
      if (is_blank(c)) return Step::more;
      in_ = In::key;
      return c == '{' ? Step::more : Step::rubbish;
    case In::key:
      if (is_blank(c)) return Step::more;
      if (c == '}') return end();
      if (c != '"') return Step::rubbish;
      scan_ = {};
      scan_.take(c);
      value_ = c;
      in_ = In::key_text;
      return Step::more;
    case In::key_text: {
      value_ += c;
      if (scan_.take(c) != JsonScan::Next::last) return Step::more;
      const auto key = string_of(value_);
      if (!key) return Step::rubbish;
      key_ = *key;
      in_ = In::colon;
      return Step::more;
    }
    case In::colon:
      if (is_blank(c)) return Step::more;
      in_ = In::value;
      value_.clear();
      scan_ = {};
      return c == ':' ? Step::more : Step::rubbish;
    case In::value:
      return value_.empty() && is_blank(c) ? Step::more : take_value(c);
    case In::comma:
      return take_comma(c);
  }
  return Step::rubbish;
}

JsonCall::Step JsonCall::take_value(char c) {
  const JsonScan::Next next = scan_.take(c);
  if (next == JsonScan::Next::behind) {
    const Step step = end_value();
    return step == Step::more ? take_comma(c) : step;
  }
  value_ += c;
  if (value_.size() == 1 && c == '{' && is_arguments() && !name_.empty() && !has_arguments_) {
    begin("");
    streams_ = has_arguments_ = true;
  }
  if (streams_) {
    ready_ += c;
    rest_.clear();
  }
  return next == JsonScan::Next::last ? end_value() : Step::more;
}

JsonCall::Step JsonCall::take_comma(char c) {
  if (is_blank(c)) return Step::more;
  if (c == '}') return end();
  in_ = In::key;
  return c == ',' ? Step::more : Step::rubbish;
}

JsonCall::Step JsonCall::end_value() {
  in_ = In::comma;
  if (!is_json(value_)) return Step::rubbish;
  if (std::exchange(streams_, false)) return Step::more;
  if (key_ == "name") {
    const auto name = string_of(value_);
    if (!name || !name_.empty() || (known_ != nullptr && known_->find(*name) == nullptr))
      return Step::rubbish;
    name_ = value_;
    if (has_arguments_) begin(arguments_);
  } else if (key_ == "id") {
    if (string_of(value_)) id_ = value_;
  } else if (is_arguments()) {
    // Some models write the object as a string.
    arguments_ = value_.starts_with('"') ? string_of(value_).value_or("") : value_;
    if (has_arguments_ || !arguments_.starts_with('{') || !is_json(arguments_)) return Step::rubbish;
    has_arguments_ = true;
    if (!name_.empty()) begin(arguments_);
  }
  return Step::more;
}

JsonCall::Step JsonCall::end() {
  if (name_.empty() || (!has_arguments_ && !may_lack_arguments_)) return Step::rubbish;
  if (!begun_) begin("{}");
  ready_ += call_end(id_);
  rest_.clear();
  return Step::done;
}

void JsonCall::begin(std::string_view arguments) {
  begun_ = true;
  ready_ += call_begin(name_);
  ready_ += arguments;
  rest_.clear();
}

std::string JsonCall::take_ready() {
  return std::exchange(ready_, {});
}

}  // namespace fovea::chat
