// Methods of strings that give new strings or lists.
#include <algorithm>
#include <optional>

#include "engine/jinja/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"
#include "engine/jinja/text_operations.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

using Mapping = std::string (*)(std::string_view);

template <Mapping mapping>
Value map_text(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "the method", a, {});
  in.run.work(v.bytes().size() * 4);
  return in.run.text(mapping(v.bytes()), v.text().markup);
}

template <bool left, bool right>
Value strip(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "strip", a, {"chars"});
  if (!a.keyword.empty()) in.run.fail("strip() takes no keyword arguments");
  if (!b.has(0)) {
    std::string_view text = v.bytes();
    if (left) text = strip_left(text);
    if (right) text = strip_right(text);
    return in.run.text(std::string(text), v.text().markup);
  }
  return in.run.text(std::string(strip_characters(in, v.bytes(), b.text(0, {}), left, right)),
                     v.text().markup);
}

template <bool from_right>
Value split(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "split", a, {"sep", "maxsplit"});
  const Int most = b.whole(1, -1);
  std::vector<std::string_view> parts;
  if (!b.has(0)) {
    parts = from_right ? split_space_right(v.bytes(), most) : split_space(v.bytes(), most);
  } else {
    const std::string& separator = b.text(0, {});
    if (separator.empty()) in.run.fail("split() needs a separator that is not empty");
    parts = from_right ? split_at_right(v.bytes(), separator, most) : split_at(v.bytes(), separator, most);
  }
  return text_list(in, parts, v.text().markup);
}

Value split_lines(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "splitlines", a, {"keepends"});
  return text_list(in, lines_of(v.bytes(), b.truth(0, false)), v.text().markup);
}

template <bool from_right>
Value partition(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "partition", a, {"sep"}, 1);
  const std::string& separator = b.text(0, {});
  if (separator.empty()) in.run.fail("partition() needs a separator that is not empty");
  const std::string& text = v.bytes();
  const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
  const auto part = [&](std::string bytes) { return in.run.text(std::move(bytes), v.text().markup); };
  std::vector<Value> parts;
  if (at == std::string::npos) {
    parts = {part(from_right ? "" : text), part(""), part(from_right ? text : "")};
  } else {
    parts = {part(text.substr(0, at)), part(separator), part(text.substr(at + separator.size()))};
  }
  return in.run.tuple(std::move(parts));
}

Value replace(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "replace", a, {"old", "new", "count"}, 2);
  if (!a.keyword.empty()) in.run.fail("replace() takes no keyword arguments");
  return in.run.text(replace_text(in, v.bytes(), b.text(0, {}), b.text(1, {}), b.whole(2, -1)),
                     v.text().markup);
}

Value join(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "join", a, {"iterable"}, 1);
  std::string out;
  bool first = true;
  for (const Value& part : in.items(*b[0])) {
    if (!part.is_text()) in.run.fail("join() takes strings, one is " + type_name(part));
    if (!first) out += v.bytes();
    first = false;
    out += part.bytes();
    in.run.check_size(out.size());
  }
  return in.run.text(std::move(out), v.text().markup);
}

template <char align>
Value justify(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "ljust", a, {"width", "fillchar"}, 1);
  static const std::string space = " ";
  const std::string& fill = b.text(1, space);
  if (count_points(fill) != 1) in.run.fail("the fill must be one character");
  return in.run.text(justified(in, v.bytes(), b.whole(0, 0), fill, align), v.text().markup);
}

Value zero_fill(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "zfill", a, {"width"}, 1);
  const std::string& text = v.bytes();
  const Int missing = b.whole(0, 0) - v.text().length;
  if (missing <= 0) return v;
  in.run.check_size(missing, 1);
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  std::string out = text;
  out.insert(sign, static_cast<std::size_t>(missing), '0');
  return in.run.text(std::move(out));
}

template <bool prefix>
Value remove(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, prefix ? "removeprefix" : "removesuffix", a, {"affix"}, 1);
  std::string_view text = v.bytes();
  const std::string& affix = b.text(0, {});
  if (prefix && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!prefix && !affix.empty() && text.ends_with(affix)) text.remove_suffix(affix.size());
  return in.run.text(std::string(text));
}

Value expand_tabs(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "expandtabs", a, {"tabsize"});
  const Int size = b.whole(0, 8);
  const std::string& text = v.bytes();
  std::string out;
  Int column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_point(text, at);
    if (point == '\t') {
      const Int spaces = size > 0 ? size - column % size : 0;
      in.run.check_size(spaces + static_cast<Int>(out.size()), 1);
      out.append(static_cast<std::size_t>(spaces), ' ');
      column += spaces;
    } else {
      out.append(text, begin, at - begin);
      column = point == '\n' || point == '\r' ? 0 : column + 1;
    }
  }
  return in.run.text(std::move(out));
}

Value format(Interpreter& in, const Value& v, Arguments& a) {
  return brace_format(in, v, a);
}

}  // namespace

const NativeTable& text_methods() {
  static const NativeTable table = {
      {"upper", map_text<upper>},
      {"lower", map_text<lower>},
      {"title", map_text<title>},
      {"capitalize", map_text<capitalize>},
      {"swapcase", map_text<swap_case>},
      {"strip", strip<true, true>},
      {"lstrip", strip<true, false>},
      {"rstrip", strip<false, true>},
      {"split", split<false>},
      {"rsplit", split<true>},
      {"splitlines", split_lines},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"replace", replace},
      {"join", join},
      {"ljust", justify<'<'>},
      {"rjust", justify<'>'>},
      {"center", justify<'^'>},
      {"zfill", zero_fill},
      {"removeprefix", remove<true>},
      {"removesuffix", remove<false>},
      {"expandtabs", expand_tabs},
      {"format", format},
  };
  return table;
}

}  // namespace fovea::jinja
