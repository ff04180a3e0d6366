// Filters on strings; other values are made strings first, where jinja2 does so.
#include <algorithm>

#include "engine/jinja/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"
#include "engine/jinja/text_operations.h"
#include "engine/jinja/unicode.h"
#include "engine/jinja/word_wrap.h"

namespace fovea::jinja {
namespace {

Value as_text(Interpreter& in, const Value& v) {
  return v.is_text() ? v : in.run.text(in.str(v));
}

using Mapping = std::string (*)(std::string_view);

template <Mapping mapping>
Value map_text(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "the filter", a, {});
  const Value text = as_text(in, v);
  in.run.work(text.bytes().size() * 4);
  return in.run.text(mapping(text.bytes()), text.text().markup);
}

bool begins_word(char32_t p) {
  return p == '-' || p == '(' || p == '{' || p == '[' || p == '<' || is_space(p);
}

// The filter's idea of words differs from the method's.
std::string filter_title(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    std::size_t end = at;
    const bool between = begins_word(next_point(text, end));
    at = end;
    while (end < text.size()) {
      if (begins_word(next_point(text, end)) != between) break;
      at = end;
    }
    const std::string_view part = text.substr(begin, at - begin);
    std::size_t first = 0;
    next_point(part, first);
    out += upper(part.substr(0, first)) + lower(part.substr(first));
  }
  return out;
}

Value trim(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "trim", a, {"chars"});
  const Value text = as_text(in, v);
  const std::string_view bytes = text.bytes();
  const std::string_view out =
      b.has(0) ? strip_characters(in, bytes, b.text(0, {}), true, true) : strip_left(strip_right(bytes));
  return out.size() == bytes.size() ? text : in.run.text(std::string(out), text.text().markup);
}

Value replace(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "replace", a, {"old", "new", "count"}, 2);
  const Int most = b.has(2) ? b.whole(2, -1) : -1;
  return in.run.text(replace_text(in, in.str(v), in.str(*b[0]), in.str(*b[1]), most));
}

const std::string& need_text(Interpreter& in, const char* filter, const Value& v) {
  if (v.is_undefined()) in.use_of_undefined(v);
  if (!v.is_text())
    in.run.fail(std::string("the filter '") + filter + "' needs a string, not " + type_name(v));
  return v.bytes();
}

Value indent(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "indent", a, {"width", "first", "blank"});
  const std::string text = need_text(in, "indent", v) + "\n";
  std::string indention;
  if (b[0] && b[0]->is_text()) {
    indention = b[0]->bytes();
  } else {
    const Int width = std::max<Int>(b.whole(0, 4), 0);
    in.run.check_size(width, 1);
    indention.assign(static_cast<std::size_t>(width), ' ');
  }
  const bool blank = b.truth(2, false);
  const auto lines = lines_of(text, false);
  in.run.check_size(static_cast<Int>(lines.size()), indention.size() + 1);
  std::string out;
  if (b.truth(1, false)) out += indention;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    if (i > 0 && (blank || !lines[i].empty())) out += indention;
    out += lines[i];
  }
  return in.run.text(std::move(out), v.text().markup);
}

Value center(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "center", a, {"width"});
  const Value text = as_text(in, v);
  return in.run.text(justified(in, text.bytes(), b.whole(0, 80), " ", '^'), text.text().markup);
}

Value truncate(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "truncate", a, {"length", "killwords", "end", "leeway"});
  static const std::string dots = "...";
  const std::string& end = b.text(2, dots);
  const Int length = b.whole(0, 255);
  const Int leeway = b.has(3) ? b.whole(3, 5) : 5;
  const Int end_length = count_points(end);
  if (length < end_length) in.run.fail("truncate needs a length of at least " + decimal(end_length));
  if (leeway < 0) in.run.fail("truncate needs a leeway that is not negative");
  Arguments none;
  if (find_filter("length")(in, v, none).whole() <= length + leeway) return v;
  const std::string& text = need_text(in, "truncate", v);
  std::string cut = text.substr(0, byte_offset(text, static_cast<std::int64_t>(length - end_length)));
  if (!b.truth(1, false)) cut.resize(std::min(cut.rfind(' '), cut.size()));
  return in.run.text(cut + end);
}

Value word_wrap(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "wordwrap", a, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const std::string& text = need_text(in, "wordwrap", v);
  static const std::string line_end = "\n";
  const bool hyphens_split = !b[3] || (b[3]->is_boolean() && b[3]->boolean());
  const Wrapping wrapping{.width = b.whole(0, 79),
                          .break_words = b.truth(1, true),
                          .split_at_hyphens = hyphens_split,
                          .break_at_hyphens = b.truth(3, true)};
  const bool has_end = b.has(2);
  const std::string& end = has_end ? b.text(2, line_end) : line_end;
  const bool markup = has_end && b[2]->text().markup;
  std::string out;
  bool first = true;
  for (const std::string_view paragraph : lines_of(text, false)) {
    const std::vector<std::string> lines = wrapped_lines(in, paragraph, wrapping);
    // A paragraph without words is an empty line.
    for (std::size_t i = 0; i < std::max<std::size_t>(lines.size(), 1); ++i) {
      if (!first) out += end;
      first = false;
      if (i < lines.size()) out += markup ? escape(lines[i]) : lines[i];
      in.run.check_size(out.size());
    }
  }
  return in.run.text(std::move(out), markup);
}

Value word_count(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "wordcount", a, {});
  const Value text = as_text(in, v);
  Int words = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.bytes().size();) {
    const char32_t p = next_point(text.bytes(), at);
    const bool word = is_word_character(p);
    if (word && !inside) ++words;
    inside = word;
  }
  in.run.work(text.bytes().size());
  return Value::integer(words);
}

Value format(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.positional.empty() && !a.keyword.empty()) {
    in.run.fail("format takes either positional or keyword arguments");
  }
  const Value text = as_text(in, v);
  if (a.keyword.empty()) return percent_format(in, text, in.run.tuple(std::move(a.positional)));
  Dict dict;
  for (auto& [name, value] : a.keyword) dict.set(Value::text(name), std::move(value));
  return percent_format(in, text, in.run.dict(std::move(dict)));
}

Value escape_filter(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "escape", a, {});
  if (v.is_text() && v.text().markup) return v;
  return in.run.text(escape(in.str(v)), true);
}

Value force_escape(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "forceescape", a, {});
  return in.run.text(escape(in.str(v)), true);
}

Value safe(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "safe", a, {});
  return in.run.text(in.str(v), true);
}

Value string(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "string", a, {});
  return as_text(in, v);
}

std::string quoted(Interpreter& in, const Value& v, bool in_query) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~";
  std::string out;
  for (const char c : in.str(v)) {
    if (c != '\0' && (plain.find(c) != std::string_view::npos || (c == '/' && !in_query))) {
      out += c;
    } else if (c == ' ' && in_query) {
      out += '+';
    } else {
      static constexpr std::string_view digits = "0123456789ABCDEF";
      out += '%';
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15U];
    }
  }
  return out;
}

Value url_encode(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "urlencode", a, {});
  const bool iterable = v.is_dict() || v.is_sequence() || v.is_undefined() || v.as<Generator>();
  if (!iterable) return in.run.text(quoted(in, v, false));
  std::string out;
  const auto pair = [&](const Value& key, const Value& value) {
    if (!out.empty()) out += '&';
    out += quoted(in, key, true) + "=" + quoted(in, value, true);
    in.run.check_size(out.size());
  };
  if (v.is_dict()) {
    for (const auto& [key, value] : v.dict().entries()) pair(key, value);
    return in.run.text(std::move(out));
  }
  for (const Value& item : in.items(v)) {
    const std::vector<Value> parts = in.items(item);
    if (parts.size() != 2) in.run.fail("urlencode takes pairs");
    pair(parts[0], parts[1]);
  }
  return in.run.text(std::move(out));
}

Value xml_attributes(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "xmlattr", a, {"autospace"});
  if (!v.is_dict()) in.run.fail("xmlattr needs a dict, not " + type_name(v));
  std::string out;
  for (const auto& [key, value] : v.dict().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_text()) in.run.fail("the names of attributes are strings");
    if (key.bytes().find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      in.run.fail("an attribute's name has a character that it must not have");
    const auto safe_text = [&](const Value& t) {
      return t.is_text() && t.text().markup ? t.bytes() : escape(in.str(t));
    };
    if (!out.empty()) out += ' ';
    out += safe_text(key) + "=\"" + safe_text(value) + "\"";
    in.run.check_size(out.size());
  }
  if (b.truth(0, true) && !out.empty()) out.insert(0, 1, ' ');
  return in.run.text(std::move(out));
}

}  // namespace

const NativeTable& text_filters() {
  static const NativeTable table = {
      {"upper", map_text<upper>},
      {"lower", map_text<lower>},
      {"capitalize", map_text<capitalize>},
      {"title", map_text<filter_title>},
      {"trim", trim},
      {"replace", replace},
      {"indent", indent},
      {"center", center},
      {"truncate", truncate},
      {"wordwrap", word_wrap},
      {"wordcount", word_count},
      {"format", format},
      {"e", escape_filter},
      {"escape", escape_filter},
      {"forceescape", force_escape},
      {"safe", safe},
      {"string", string},
      {"urlencode", url_encode},
      {"xmlattr", xml_attributes},
  };
  return table;
}

}  // namespace fovea::jinja
