#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/jinja/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/literals.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

class Writer {
 public:
  Writer(Interpreter& in, const JsonStyle& style) : in_(in), style_(style) {}

  std::string take() { return std::move(out_); }

  void value(const Value& v) {
    in_.run.step();
    in_.run.check_size(out_.size());
    if (v.is_none())
      out_ += "null";
    else if (v.is_boolean())
      out_ += v.boolean() ? "true" : "false";
    else if (v.is_integer())
      out_ += decimal(v.whole());
    else if (v.is_real())
      out_ += number(v.real());
    else if (v.is_text())
      text(v.bytes());
    else if (v.is_list() || v.is_tuple())
      array(v.sequence());
    else if (v.is_dict())
      object(v.dict());
    else
      in_.run.fail(errors::jinja_json_value(type_name(v)));
  }

 private:
  static std::string number(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return real_repr(d);
  }

  void unit(unsigned code) {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "\\u%04x", code);
    out_ += buffer;
  }

  void text(std::string_view s) {
    in_.run.work(s.size());
    out_ += '"';
    for (std::size_t at = 0; at < s.size();) {
      const std::size_t begin = at;
      const char32_t point = next_point(s, at);
      if (point == '"')
        out_ += "\\\"";
      else if (point == '\\')
        out_ += "\\\\";
      else if (point == '\n')
        out_ += "\\n";
      else if (point == '\r')
        out_ += "\\r";
      else if (point == '\t')
        out_ += "\\t";
      else if (point == '\f')
        out_ += "\\f";
      else if (point == '\b')
        out_ += "\\b";
      else if (point < 0x20 || (style_.ensure_ascii && point > 0x7E && point < 0x10000))
        unit(point);
      else if (style_.ensure_ascii && point > 0x7E) {
        unit(0xD800 + ((point - 0x10000) >> 10));
        unit(0xDC00 + ((point - 0x10000) & 0x3FF));
      } else {
        out_ += s.substr(begin, at - begin);
      }
    }
    out_ += '"';
  }

  void newline() {
    if (!style_.indented) return;
    out_ += '\n';
    in_.run.check_size(static_cast<Int>(depth_), style_.indent.size());
    for (int i = 0; i < depth_; ++i) out_ += style_.indent;
    in_.run.work(static_cast<std::size_t>(depth_) * style_.indent.size());
    in_.run.check_size(out_.size());
  }

  void array(const Sequence& s) {
    const Run::Level level(in_.run);
    if (s.items.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < s.items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      newline();
      value(s.items[i]);
    }
    --depth_;
    newline();
    out_ += ']';
  }

  std::string key(const Value& v) const {
    if (v.is_text()) return v.bytes();
    if (v.is_none()) return "null";
    if (v.is_boolean()) return v.boolean() ? "true" : "false";
    if (v.is_integer()) return decimal(v.whole());
    if (v.is_real()) return number(v.real());
    in_.run.fail(errors::jinja_json_key(type_name(v)));
  }

  void object(const Dict& dict) {
    const Run::Level level(in_.run);
    if (dict.size() == 0) {
      out_ += "{}";
      return;
    }
    std::vector<const Dict::Entry*> entries;
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const auto* a, const auto* b) { return in_.less(a->first, b->first); });
    }
    out_ += '{';
    ++depth_;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      newline();
      text(key(entries[i]->first));
      out_ += style_.key_separator;
      value(entries[i]->second);
    }
    --depth_;
    newline();
    out_ += '}';
  }

  Interpreter& in_;
  const JsonStyle& style_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string to_json(Interpreter& in, const Value& value, const JsonStyle& style) {
  Writer writer(in, style);
  writer.value(value);
  return writer.take();
}

}  // namespace fovea::jinja
