// Methods of lists, dicts and loops.
#include <algorithm>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"

namespace fovea::jinja {
namespace {

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
  in.run.fail(errors::jinja_not_in_list());
}

template <SequenceKind kind>
Value view(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.empty()) in.run.fail(errors::jinja_method_arguments());
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
  if (!a.keyword.empty()) in.run.fail(errors::jinja_keyword_arguments("get"));
  in.check_key(*b[0]);
  if (const Value* found = v.dict().find(*b[0])) return *found;
  return b[1] ? *b[1] : Value::none();
}

Value cycle(Interpreter&, const Value& v, Arguments& a) {
  return v.as<Loop>()->cycle(a);
}
Value changed(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.keyword.empty()) in.run.fail(errors::jinja_keyword_arguments("loop.changed"));
  return v.as<Loop>()->changed(a);
}

const NativeTable& sequence_methods() {
  static const NativeTable table = {{"count", count_items}, {"index", index_of}};
  return table;
}
const NativeTable& dict_methods() {
  static const NativeTable table = {{"get", get},
                                    {"items", view<SequenceKind::items>},
                                    {"keys", view<SequenceKind::keys>},
                                    {"values", view<SequenceKind::values>}};
  return table;
}

}  // namespace

Native find_method(const Value& object, std::string_view name) {
  const auto in = [&](const NativeTable& table) {
    const auto found = table.find(name);
    return found == table.end() ? nullptr : found->second;
  };
  if (object.is_text()) return in(string_methods());
  if (object.is_dict()) return in(dict_methods());
  if (object.is_sequence() && !object.is_view()) return in(sequence_methods());
  if (object.as<Loop>()) return name == "cycle" ? cycle : name == "changed" ? changed : nullptr;
  return nullptr;
}

}  // namespace fovea::jinja
