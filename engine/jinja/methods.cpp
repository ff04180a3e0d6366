// Methods of strings that answer questions, and of lists, dicts and the rest.
#include <algorithm>
#include <cmath>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

// The part of the text between two optional indices, as find(), count() and startswith() take them.
struct Window {
  Window(Interpreter& in, const Value& v, const Bound& b, std::size_t first) {
    const Int size = v.text().length;
    const auto bound = [&](std::size_t i, Int otherwise) {
      if (!b.has(i)) return otherwise;
      const Int at = b.whole(i, 0);
      return at < 0 ? std::max<Int>(at + size, 0) : at;
    };
    from = bound(first, 0);
    const Int to = std::min(bound(first + 1, size), size);
    valid = from <= to;
    in.run.work(v.bytes().size());
    if (!valid) return;
    begin = byte_offset(v.bytes(), static_cast<std::int64_t>(from));
    const std::size_t end = byte_offset(v.bytes(), static_cast<std::int64_t>(to));
    text = std::string_view(v.bytes()).substr(begin, end - begin);
  }
  std::string_view text;
  std::size_t begin = 0;
  Int from = 0;
  bool valid = false;
};

template <bool prefix>
Value affix(Interpreter& in, const Value& v, Arguments& a) {
  const char* name = prefix ? "startswith" : "endswith";
  const Bound b(in, name, a, {"affix", "start", "end"}, 1);
  const Window window(in, v, b, 1);
  const auto fits = [&](const Value& wanted) {
    if (!wanted.is_text())
      in.run.fail(std::string(name) + "() takes a string or a tuple of strings, not " + type_name(wanted));
    if (!window.valid) return false;
    return prefix ? window.text.starts_with(wanted.bytes()) : window.text.ends_with(wanted.bytes());
  };
  if (!b[0]->is_tuple()) return Value::boolean(fits(*b[0]));
  for (const Value& wanted : b[0]->sequence().items) {
    in.run.step();
    if (fits(wanted)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <bool from_right, bool must>
Value find(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "find", a, {"sub", "start", "end"}, 1);
  const std::string& wanted = b.text(0, {});
  const Window window(in, v, b, 1);
  const std::size_t at = !window.valid ? std::string::npos
                         : from_right  ? window.text.rfind(wanted)
                                       : window.text.find(wanted);
  if (at != std::string::npos) return Value::integer(window.from + count_points(window.text.substr(0, at)));
  if (must) in.run.fail("the text to find is not there");
  return Value::integer(-1);
}

Value count_text(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "count", a, {"sub", "start", "end"}, 1);
  const std::string& wanted = b.text(0, {});
  const Window window(in, v, b, 1);
  if (!window.valid) return Value::integer(0);
  if (wanted.empty()) return Value::integer(Int{count_points(window.text)} + 1);
  Int count = 0;
  for (std::size_t at = window.text.find(wanted); at != std::string::npos;
       at = window.text.find(wanted, at + wanted.size()))
    ++count;
  return Value::integer(count);
}

using Class = bool (*)(char32_t);

template <Class in_class, bool empty>
Value all_of(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "the method", a, {});
  const std::string& text = v.bytes();
  in.run.work(text.size());
  if (text.empty()) return Value::boolean(empty);
  for (std::size_t at = 0; at < text.size();) {
    if (!in_class(next_point(text, at))) return Value::boolean(false);
  }
  return Value::boolean(true);
}

template <bool upper_case>
Value all_cased(Interpreter& in, const Value& v, Arguments& a) {
  return find_test(upper_case ? "upper" : "lower")(in, v, a);
}

Value is_title(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "istitle", a, {});
  const std::string& text = v.bytes();
  bool any = false;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t point = next_point(text, at);
    if (is_cased(point)) {
      if (is_lower(point) != inside) return Value::boolean(false);
      any = true;
    }
    inside = is_cased(point);
  }
  return Value::boolean(any);
}

Value count_items(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "count", a, {"value"}, 1);
  Int count = 0;
  for (const Value& item : v.sequence().items) {
    in.run.step();
    if (in.same(item, *b[0])) ++count;
  }
  return Value::integer(count);
}

Value index_of(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "index", a, {"value", "start", "stop"}, 1);
  const auto& items = v.sequence().items;
  const Int size = static_cast<Int>(items.size());
  const auto bound = [&](std::size_t i, Int otherwise) {
    const Int at = b.whole(i, otherwise);
    return std::clamp(at < 0 ? at + size : at, Int{0}, size);
  };
  for (Int i = bound(1, 0); i < bound(2, size); ++i) {
    in.run.step();
    if (in.same(items[static_cast<std::size_t>(i)], *b[0])) return Value::integer(i);
  }
  in.run.fail("the value to find is not in the list");
}

Value copy(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "copy", a, {});
  if (v.is_dict()) return in.run.dict(v.dict());
  return in.run.list(v.sequence().items);
}

template <SequenceKind kind>
Value view(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "the method", a, {});
  std::vector<Value> items;
  items.reserve(v.dict().size());
  for (const auto& [key, value] : v.dict().entries()) {
    if (kind == SequenceKind::keys)
      items.push_back(key);
    else if (kind == SequenceKind::values)
      items.push_back(value);
    else
      items.push_back(in.run.tuple({key, value}));
  }
  return in.run.list(std::move(items), kind);
}

Value get(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "get", a, {"key", "default"}, 1);
  if (!a.keyword.empty()) in.run.fail("get() takes no keyword arguments");
  in.check_key(*b[0]);
  if (const Value* found = v.dict().find(*b[0])) return *found;
  return b[1] ? *b[1] : Value::none();
}

Value is_whole_number(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "is_integer", a, {});
  return Value::boolean(std::isfinite(v.real()) && v.real() == std::trunc(v.real()));
}

Value cycle(Interpreter&, const Value& v, Arguments& a) {
  return v.as<Loop>()->cycle(a);
}
Value changed(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.keyword.empty()) in.run.fail("loop.changed() takes no keyword arguments");
  return v.as<Loop>()->changed(a);
}

Value cycler_next(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "next", a, {});
  const auto cycler = v.as<Cycler>();
  const auto& items = cycler->items.sequence().items;
  const Value now = items[cycler->at];
  cycler->at = (cycler->at + 1) % items.size();
  return now;
}
Value cycler_reset(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "reset", a, {});
  v.as<Cycler>()->at = 0;
  return Value::none();
}

bool is_alphanumeric(char32_t p) {
  return is_letter(p) || is_numeric(p);
}
bool is_ascii(char32_t p) {
  return p < 0x80;
}

const NativeTable& list_methods() {
  static const NativeTable table = {{"count", count_items}, {"index", index_of}, {"copy", copy}};
  return table;
}
const NativeTable& tuple_methods() {
  static const NativeTable table = {{"count", count_items}, {"index", index_of}};
  return table;
}
const NativeTable& dict_methods() {
  static const NativeTable table = {{"get", get},
                                    {"items", view<SequenceKind::items>},
                                    {"keys", view<SequenceKind::keys>},
                                    {"values", view<SequenceKind::values>},
                                    {"copy", copy}};
  return table;
}

}  // namespace

const NativeTable& text_query_methods() {
  static const NativeTable table = {
      {"startswith", affix<true>},
      {"endswith", affix<false>},
      {"find", find<false, false>},
      {"rfind", find<true, false>},
      {"index", find<false, true>},
      {"rindex", find<true, true>},
      {"count", count_text},
      {"isalpha", all_of<is_letter, false>},
      {"isalnum", all_of<is_alphanumeric, false>},
      {"isdigit", all_of<is_digit, false>},
      {"isdecimal", all_of<is_decimal, false>},
      {"isnumeric", all_of<is_numeric, false>},
      {"isspace", all_of<is_space, false>},
      {"isascii", all_of<is_ascii, true>},
      {"isprintable", all_of<is_printable, true>},
      {"isupper", all_cased<true>},
      {"islower", all_cased<false>},
      {"istitle", is_title},
  };
  return table;
}

Native find_method(const Value& object, std::string_view name) {
  const auto in = [&](const NativeTable& table) {
    const auto found = table.find(name);
    return found == table.end() ? nullptr : found->second;
  };
  if (object.is_text()) {
    const Native found = in(text_methods());
    return found ? found : in(text_query_methods());
  }
  if (object.is_dict()) return in(dict_methods());
  if (object.is_list()) return in(list_methods());
  if (object.is_tuple() || object.is(SequenceKind::range)) return in(tuple_methods());
  if (object.is_real()) return name == "is_integer" ? is_whole_number : nullptr;
  if (object.as<Loop>()) return name == "cycle" ? cycle : name == "changed" ? changed : nullptr;
  if (object.as<Cycler>()) return name == "next" ? cycler_next : name == "reset" ? cycler_reset : nullptr;
  return nullptr;
}

}  // namespace fovea::jinja
