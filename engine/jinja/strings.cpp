// Methods of strings and filters on strings; filters make other values strings first, where jinja2 does so.
#include <algorithm>
#include <set>

#include "engine/jinja/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

// A text made from `from`, and markup if that is.
Value derived(Interpreter& in, const Value& from, std::string bytes) {
  return in.run.text(std::move(bytes), from.text().markup);
}

using Mapping = std::string (*)(std::string_view);

template <Mapping mapping>
Value map_text(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.empty()) in.run.fail(errors::jinja_method_arguments());
  in.run.work(v.bytes().size() * 4);
  return derived(in, v, mapping(v.bytes()));
}

std::string_view strip_characters(std::string_view text, std::string_view characters, bool left, bool right) {
  std::set<char32_t> set;
  for (std::size_t at = 0; at < characters.size();) set.insert(next_point(characters, at));
  std::size_t begin = 0;
  while (left && begin < text.size()) {
    std::size_t next = begin;
    if (!set.contains(next_point(text, next))) break;
    begin = next;
  }
  std::size_t end = text.size();
  while (right && end > begin) {
    const std::size_t start = previous_start(text, end);
    std::size_t copy = start;
    if (!set.contains(next_point(text, copy))) break;
    end = start;
  }
  return text.substr(begin, end - begin);
}

template <bool left, bool right>
Value strip(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "strip", a, {"chars"});
  if (!a.keyword.empty()) in.run.fail(errors::jinja_keyword_arguments("strip"));
  std::string_view text = v.bytes();
  if (b.has(0)) {
    const std::string& characters = b.text(0, {});
    in.run.work(characters.size() * 8 + text.size());
    return derived(in, v, std::string(strip_characters(text, characters, left, right)));
  }
  if (left) text = strip_left(text);
  if (right) text = strip_right(text);
  return derived(in, v, std::string(text));
}

// `max_cuts` < 0 splits everywhere.
std::vector<std::string_view> split_space(std::string_view text, Int max_cuts) {
  std::vector<std::string_view> parts;
  text = strip_left(text);
  while (!text.empty()) {
    if (max_cuts >= 0 && static_cast<Int>(parts.size()) == max_cuts) {
      parts.push_back(text);
      break;
    }
    std::size_t end = 0;
    while (end < text.size()) {
      std::size_t next = end;
      if (is_space(next_point(text, next))) break;
      end = next;
    }
    parts.push_back(text.substr(0, end));
    text = strip_left(text.substr(end));
  }
  return parts;
}

std::vector<std::string_view> split_space_right(std::string_view text, Int max_cuts) {
  std::vector<std::string_view> parts;
  text = strip_right(text);
  while (!text.empty()) {
    if (max_cuts >= 0 && static_cast<Int>(parts.size()) == max_cuts) {
      parts.push_back(text);
      break;
    }
    std::size_t begin = text.size();
    while (begin > 0) {
      const std::size_t start = previous_start(text, begin);
      std::size_t copy = start;
      if (is_space(next_point(text, copy))) break;
      begin = start;
    }
    parts.push_back(text.substr(begin));
    text = strip_right(text.substr(0, begin));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, Int max_cuts) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while (max_cuts < 0 || static_cast<Int>(parts.size()) < max_cuts) {
    const std::size_t found = text.find(separator, at);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

std::vector<std::string_view> split_at_right(std::string_view text, std::string_view separator,
                                             Int max_cuts) {
  std::vector<std::string_view> parts;
  while (text.size() >= separator.size() && (max_cuts < 0 || static_cast<Int>(parts.size()) < max_cuts)) {
    const std::size_t found = text.rfind(separator);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(found + separator.size()));
    text = text.substr(0, found);
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Value text_list(Interpreter& in, const Value& from, const std::vector<std::string_view>& parts) {
  std::vector<Value> items;
  in.run.check_size(parts.size(), sizeof(Value) + sizeof(Text));
  items.reserve(parts.size());
  in.run.step(static_cast<std::int64_t>(parts.size()));
  for (const std::string_view part : parts) items.push_back(derived(in, from, std::string(part)));
  return in.run.list(std::move(items));
}

template <bool from_right>
Value split(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "split", a, {"sep", "maxsplit"});
  const Int max_cuts = b.whole(1, -1);
  if (!b.has(0)) {
    return text_list(in, v,
                     from_right ? split_space_right(v.bytes(), max_cuts) : split_space(v.bytes(), max_cuts));
  }
  const std::string& separator = b.text(0, {});
  if (separator.empty()) in.run.fail(errors::jinja_empty_separator());
  return text_list(
      in, v,
      from_right ? split_at_right(v.bytes(), separator, max_cuts) : split_at(v.bytes(), separator, max_cuts));
}

Value split_lines(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "splitlines", a, {"keepends"});
  return text_list(in, v, lines_of(v.bytes(), b.truth(0, false)));
}

std::string replaced(Interpreter& in, std::string_view text, std::string_view from, std::string_view to,
                     Int max_count) {
  std::string out;
  std::size_t at = 0;
  in.run.work(text.size());
  for (Int done = 0; max_count < 0 || done < max_count; ++done) {
    if (from.empty()) {
      out += to;
      if (at >= text.size()) return out;
      const std::size_t begin = at;
      next_point(text, at);
      out += text.substr(begin, at - begin);
    } else {
      const std::size_t found = text.find(from, at);
      if (found == std::string_view::npos) break;
      out += text.substr(at, found - at);
      out += to;
      at = found + from.size();
    }
    in.run.check_size(out.size());
  }
  out += text.substr(at);
  return out;
}

Value replace(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "replace", a, {"old", "new", "count"}, 2);
  if (!a.keyword.empty()) in.run.fail(errors::jinja_keyword_arguments("replace"));
  const std::string& from = b.text(0, {});
  b.text(1, {});  // fails if it is not a string
  return derived(in, v, replaced(in, v.bytes(), from, in.text_for(v, *b[1]), b.whole(2, -1)));
}

Value join(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "join", a, {"iterable"}, 1);
  std::string out;
  bool first = true;
  for (const Value& part : in.items(*b[0])) {
    if (!part.is_text() && !v.text().markup) in.run.fail(errors::jinja_join_strings(type_name(part)));
    if (!first) out += v.bytes();
    first = false;
    out += in.text_for(v, part);
    in.run.check_size(out.size());
  }
  return derived(in, v, std::move(out));
}

template <bool prefix>
Value remove_affix(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, prefix ? "removeprefix" : "removesuffix", a, {"affix"}, 1);
  std::string_view text = v.bytes();
  const std::string& affix = b.text(0, {});
  if (prefix && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!prefix && text.ends_with(affix)) text.remove_suffix(affix.size());
  return derived(in, v, std::string(text));
}

template <bool prefix>
Value has_affix(Interpreter& in, const Value& v, Arguments& a) {
  const char* name = prefix ? "startswith" : "endswith";
  const Bound b(in, name, a, {"affix"}, 1);
  in.run.work(v.bytes().size());
  const auto fits = [&](const Value& affix) {
    in.run.step();
    if (!affix.is_text()) in.run.fail(errors::jinja_affix(name, type_name(affix)));
    return prefix ? v.bytes().starts_with(affix.bytes()) : v.bytes().ends_with(affix.bytes());
  };
  if (!b[0]->is_tuple()) return Value::boolean(fits(*b[0]));
  const std::vector<Value>& affixes = b[0]->sequence().items;
  return Value::boolean(std::any_of(affixes.begin(), affixes.end(), fits));
}

template <bool from_right>
Value find(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, from_right ? "rfind" : "find", a, {"sub"}, 1);
  const std::string& text = v.bytes();
  const std::string& wanted = b.text(0, {});
  in.run.work(text.size());
  const std::size_t at = from_right ? text.rfind(wanted) : text.find(wanted);
  if (at == std::string::npos) return Value::integer(-1);
  return Value::integer(count_points(std::string_view(text).substr(0, at)));
}

Value count(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "count", a, {"sub"}, 1);
  const std::string& text = v.bytes();
  const std::string& wanted = b.text(0, {});
  in.run.work(text.size());
  if (wanted.empty()) return Value::integer(Int{v.text().length} + 1);
  Int count = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + wanted.size()))
    ++count;
  return Value::integer(count);
}

Value as_text(Interpreter& in, const Value& v) {
  return v.is_text() ? v : in.run.text(in.str(v));
}

template <Native method>
Value filter_by(Interpreter& in, const Value& v, Arguments& a) {
  return method(in, as_text(in, v), a);
}

Value trim(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "trim", a, {"chars"});
  Arguments characters;
  if (b[0]) characters.positional.push_back(*b[0]);
  return strip<true, true>(in, as_text(in, v), characters);
}

bool begins_word(char32_t p) {
  return p == '-' || p == '(' || p == '{' || p == '[' || p == '<' || is_space(p);
}

// The filter's idea of words differs from the method's.
Value title_filter(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "title", a, {});
  const std::string text = in.str(v);
  in.run.work(text.size() * 4);
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
    const std::string_view part = std::string_view(text).substr(begin, at - begin);
    std::size_t first = 0;
    next_point(part, first);
    out += upper(part.substr(0, first)) + lower(part.substr(first));
  }
  return in.run.text(std::move(out));
}

Value replace_filter(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "replace", a, {"old", "new", "count"}, 2);
  const Int max_count = b.has(2) ? b.whole(2, -1) : -1;
  return in.run.text(replaced(in, in.str(v), in.str(*b[0]), in.str(*b[1]), max_count));
}

Value indent(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "indent", a, {"width", "first", "blank"});
  if (v.is_undefined()) in.use_of_undefined(v);
  if (!v.is_text()) in.run.fail(errors::jinja_indent(type_name(v)));
  std::string indention;
  if (b[0] && b[0]->is_text()) {
    indention = b[0]->bytes();
  } else {
    const Int width = std::max<Int>(b.whole(0, 4), 0);
    in.run.check_size(width, 1);
    indention.assign(static_cast<std::size_t>(width), ' ');
  }
  const bool blank = b.truth(2, false);
  const std::string text = v.bytes() + "\n";
  const auto lines = lines_of(text, false);
  in.run.check_size(static_cast<Int>(lines.size()), indention.size() + 1);
  std::string out;
  if (b.truth(1, false)) out += indention;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    if (i > 0 && (blank || !lines[i].empty())) out += indention;
    out += lines[i];
  }
  return derived(in, v, std::move(out));
}

Value format_filter(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.keyword.empty()) in.run.fail(errors::jinja_left_out(phrases::jinja_format_with_names()));
  return percent_format(in, as_text(in, v), in.run.tuple(std::move(a.positional)));
}

Value escape_filter(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "escape", a, {});
  return in.run.text(in.text_for(Value::text("", true), v), true);
}

Value safe(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "safe", a, {});
  return in.run.text(in.str(v), true);
}

Value string(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "string", a, {});
  return as_text(in, v);
}

}  // namespace

const NativeTable& string_methods() {
  static const NativeTable table = {
      {"upper", map_text<upper>},
      {"lower", map_text<lower>},
      {"title", map_text<title>},
      {"capitalize", map_text<capitalize>},
      {"strip", strip<true, true>},
      {"lstrip", strip<true, false>},
      {"rstrip", strip<false, true>},
      {"split", split<false>},
      {"rsplit", split<true>},
      {"splitlines", split_lines},
      {"replace", replace},
      {"join", join},
      {"removeprefix", remove_affix<true>},
      {"removesuffix", remove_affix<false>},
      {"startswith", has_affix<true>},
      {"endswith", has_affix<false>},
      {"find", find<false>},
      {"rfind", find<true>},
      {"count", count},
      {"format", brace_format},
  };
  return table;
}

const NativeTable& string_filters() {
  static const NativeTable table = {
      {"upper", filter_by<map_text<upper>>},
      {"lower", filter_by<map_text<lower>>},
      {"capitalize", filter_by<map_text<capitalize>>},
      {"title", title_filter},
      {"trim", trim},
      {"replace", replace_filter},
      {"indent", indent},
      {"format", format_filter},
      {"e", escape_filter},
      {"escape", escape_filter},
      {"safe", safe},
      {"string", string},
  };
  return table;
}

}  // namespace fovea::jinja
