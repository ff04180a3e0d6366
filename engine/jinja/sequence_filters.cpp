// Filters on lists and dicts.
#include <algorithm>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

// "a.b.0" or a number: what map, sort and others look up in each item.
class Getter {
 public:
  Getter(Interpreter& in, const Value* path, bool fold_case = false, const Value* otherwise = nullptr)
      : in_(in), fold_case_(fold_case), otherwise_(otherwise && !otherwise->is_none() ? otherwise : nullptr) {
    if (!path || path->is_none()) return;
    if (!path->is_text()) {
      parts_.push_back(*path);
      return;
    }
    std::string_view rest = path->bytes();
    in.run.step(static_cast<std::int64_t>(rest.size()));
    while (true) {
      const std::size_t dot = rest.find('.');
      const std::string part(rest.substr(0, dot));
      const bool digits =
          !part.empty() && part.size() < 19 && part.find_first_not_of("0123456789") == std::string::npos;
      parts_.push_back(digits ? Value::integer(std::stoll(part)) : Value::text(part));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
  }

  Value operator()(Value item) const {
    for (const Value& part : parts_) {
      in_.run.step();
      item = in_.item(item, part);
      if (otherwise_ && item.is_undefined()) item = *otherwise_;
    }
    return fold_case_ && item.is_text() ? in_.run.text(lower(item.bytes())) : item;
  }

 private:
  Interpreter& in_;
  std::vector<Value> parts_;
  bool fold_case_;
  const Value* otherwise_;
};

Value length(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "length", a, {});
  if (v.is_undefined()) return Value::integer(0);
  if (v.is_text()) return Value::integer(v.text().length);
  if (v.is_sequence()) return Value::integer(static_cast<Int>(v.sequence().items.size()));
  if (v.is_dict()) return Value::integer(static_cast<Int>(v.dict().size()));
  if (const auto loop = v.as<Loop>()) return Value::integer(loop->length());
  in.run.fail(errors::jinja_no_length(type_name(v)));
}

Value first(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "first", a, {});
  if (v.is_text() && !v.bytes().empty()) return Value::text(v.bytes().substr(0, byte_offset(v.bytes(), 1)));
  if (v.is_sequence() && !v.sequence().items.empty()) return v.sequence().items.front();
  if (const auto generator = v.as<Generator>()) {
    if (generator->next < generator->items.size()) return generator->items[generator->next++];
    return Value::undefined(errors::jinja_no_first_item());
  }
  const std::vector<Value> items = in.items(v);
  return items.empty() ? Value::undefined(errors::jinja_no_first_item()) : items.front();
}

Value last(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "last", a, {});
  if (v.is_object()) in.run.fail(errors::jinja_no_last_of_type(type_name(v)));
  if (v.is_text() && !v.bytes().empty())
    return Value::text(v.bytes().substr(previous_start(v.bytes(), v.bytes().size())), v.text().markup);
  if (v.is_sequence() && !v.sequence().items.empty()) return v.sequence().items.back();
  const std::vector<Value> items = in.items(v);
  return items.empty() ? Value::undefined(errors::jinja_no_last_item()) : items.back();
}

Value list(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "list", a, {});
  return in.run.list(in.items(v));
}

Value join(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "join", a, {"d", "attribute"});
  const std::string separator = b[0] ? in.str(*b[0]) : std::string();
  const Getter getter(in, b[1]);
  std::string out;
  bool first_item = true;
  for (const Value& item : in.items(v)) {
    if (!first_item) out += separator;
    first_item = false;
    out += in.str(b.has(1) ? getter(item) : item);
    in.run.check_size(out.size());
  }
  return in.run.text(std::move(out));
}

Value map(Interpreter& in, const Value& v, Arguments& a) {
  std::vector<Value> out;
  if (!truth(v)) return in.generator({});
  std::vector<Value> items = in.items(v);
  if (a.positional.empty()) {
    const Bound b(in, "map", a, {"attribute", "default"});
    if (!b[0]) in.run.fail(errors::jinja_map());
    const Getter getter(in, b[0], false, b[1]);
    for (Value& item : items) out.push_back(getter(std::move(item)));
    return in.generator(std::move(out));
  }
  if (!a.positional.front().is_text()) in.run.fail(errors::jinja_map_filter());
  const std::string name = a.positional.front().bytes();
  for (const Value& item : items) {
    Arguments rest{{a.positional.begin() + 1, a.positional.end()}, a.keyword};
    in.run.step(static_cast<std::int64_t>(rest.positional.size() + rest.keyword.size()));
    out.push_back(in.filter(name, item, rest));
  }
  return in.generator(std::move(out));
}

template <bool keep, bool by_attribute>
Value select(Interpreter& in, const Value& v, Arguments& a) {
  std::vector<Value> out;
  if (!truth(v)) return in.generator({});
  const std::size_t skip = by_attribute ? 1 : 0;
  if (a.positional.size() < skip) in.run.fail(errors::jinja_select_attribute());
  const Getter getter(in, by_attribute ? &a.positional.front() : nullptr);
  const bool has_test = a.positional.size() > skip;
  if (has_test && !a.positional[skip].is_text()) in.run.fail(errors::jinja_select_test());
  for (const Value& item : in.items(v)) {
    const Value value = getter(item);
    bool passes = false;
    if (has_test) {
      Arguments rest{{a.positional.begin() + static_cast<std::ptrdiff_t>(skip) + 1, a.positional.end()},
                     a.keyword};
      in.run.step(static_cast<std::int64_t>(rest.positional.size() + rest.keyword.size()));
      passes = in.test(a.positional[skip].bytes(), value, rest);
    } else {
      passes = truth(value);
    }
    if (passes == keep) out.push_back(item);
  }
  return in.generator(std::move(out));
}

// Sorts by keys, stable in both directions as Python's sorted() is.
std::vector<Value> sorted(Interpreter& in, std::vector<Value> items, const std::vector<Value>& keys,
                          bool reverse) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return reverse ? in.less(keys[y], keys[x]) : in.less(keys[x], keys[y]);
  });
  std::vector<Value> out;
  out.reserve(items.size());
  for (const std::size_t i : order) out.push_back(std::move(items[i]));
  return out;
}

Value sort(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "sort", a, {"reverse", "case_sensitive", "attribute"});
  std::vector<Getter> getters;
  const bool fold = !b.truth(1, false);
  if (b.has(2) && b[2]->is_text()) {
    std::string_view rest = b[2]->bytes();
    for (std::size_t comma = 0; comma != std::string_view::npos;) {
      comma = rest.find(',');
      const Value path = Value::text(std::string(rest.substr(0, comma)));
      getters.emplace_back(in, &path, fold);
      if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
    }
  } else {
    getters.emplace_back(in, b[2], fold);
  }
  std::vector<Value> items = in.items(v);
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> key;
    for (const Getter& getter : getters) key.push_back(getter(item));
    keys.push_back(in.run.list(std::move(key)));
  }
  return in.run.list(sorted(in, std::move(items), keys, b.truth(0, false)));
}

Value dict_sort(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "dictsort", a, {"case_sensitive", "by", "reverse"});
  static const std::string key = "key";
  const std::string& by = b.text(1, key);
  if (by != "key" && by != "value") in.run.fail(errors::jinja_dictsort_by());
  if (v.is_undefined()) in.use_of_undefined(v);
  if (!v.is_dict()) in.run.fail(errors::jinja_needs_dict("dictsort", type_name(v)));
  std::vector<Value> items;
  std::vector<Value> keys;
  const Getter fold(in, nullptr, !b.truth(0, false));
  for (const auto& [name, value] : v.dict().entries()) {
    items.push_back(in.run.tuple({name, value}));
    keys.push_back(fold(by == "key" ? name : value));
  }
  return in.run.list(sorted(in, std::move(items), keys, b.truth(2, false)));
}

Value unique(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "unique", a, {"case_sensitive", "attribute"});
  const Getter getter(in, b[1], !b.truth(0, false));
  Dict seen;
  std::vector<Value> out;
  for (const Value& item : in.items(v)) {
    Value key = getter(item);
    in.run.step(key.weight());
    if (!hashable(key)) in.run.fail(errors::jinja_unique(type_name(key)));
    if (seen.find(key)) continue;
    seen.set(std::move(key), Value::none());
    out.push_back(item);
  }
  return in.generator(std::move(out));
}

template <bool smallest>
Value extreme(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, smallest ? "min" : "max", a, {"case_sensitive", "attribute"});
  const Getter getter(in, b[1], !b.truth(0, false));
  const std::vector<Value> items = in.items(v);
  if (items.empty()) return Value::undefined(errors::jinja_no_extreme_item());
  std::size_t best = 0;
  Value best_key = getter(items[0]);
  for (std::size_t i = 1; i < items.size(); ++i) {
    Value key = getter(items[i]);
    if (smallest ? !in.less(key, best_key) : !in.less(best_key, key, ">")) continue;
    best = i;
    best_key = std::move(key);
  }
  return items[best];
}

Value sum(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "sum", a, {"attribute", "start"});
  const Getter getter(in, b[0]);
  Value total = b[1] ? *b[1] : Value::integer(0);
  if (total.is_text()) in.run.fail(errors::jinja_sum_strings());
  for (const Value& item : in.items(v)) total = in.add(total, getter(item));
  return total;
}

Value reverse(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "reverse", a, {});
  if (v.is_text()) return in.slice(v, Value::none(), Value::none(), Value::integer(-1));
  std::vector<Value> items = in.items(v);
  std::reverse(items.begin(), items.end());
  if (v.is_object()) return in.run.list(std::move(items));
  return in.generator(std::move(items), v.is_list() ? "list_reverseiterator" : "reversed");
}

Value items_of(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "items", a, {});
  std::vector<Value> out;
  if (v.is_undefined()) return in.generator({});
  if (!v.is_dict()) in.run.fail(errors::jinja_needs_dict("items", type_name(v)));
  for (const auto& [key, value] : v.dict().entries()) out.push_back(in.run.tuple({key, value}));
  return in.generator(std::move(out));
}

}  // namespace

const NativeTable& sequence_filters() {
  static const NativeTable table = {
      {"length", length},
      {"count", length},
      {"first", first},
      {"last", last},
      {"list", list},
      {"join", join},
      {"map", map},
      {"select", select<true, false>},
      {"reject", select<false, false>},
      {"selectattr", select<true, true>},
      {"rejectattr", select<false, true>},
      {"sort", sort},
      {"dictsort", dict_sort},
      {"unique", unique},
      {"min", extreme<true>},
      {"max", extreme<false>},
      {"sum", sum},
      {"reverse", reverse},
      {"items", items_of},
  };
  return table;
}

}  // namespace fovea::jinja
