#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"

namespace fovea::jinja {
namespace {

using Predicate = bool (*)(const Value&);

template <Predicate predicate>
Value simple(Interpreter& in, const Value& v, Arguments& a) {
  if (!a.empty()) in.run.fail(errors::jinja_test_arguments());
  return Value::boolean(predicate(v));
}

bool is_defined(const Value& v) {
  return !v.is_undefined();
}
bool is_undefined(const Value& v) {
  return v.is_undefined();
}
bool is_none(const Value& v) {
  return v.is_none();
}
bool is_boolean(const Value& v) {
  return v.is_boolean();
}
bool is_true(const Value& v) {
  return v.is_boolean() && v.boolean();
}
bool is_false(const Value& v) {
  return v.is_boolean() && !v.boolean();
}
bool is_integer(const Value& v) {
  return v.is_integer();
}
bool is_float(const Value& v) {
  return v.is_real();
}
bool is_number(const Value& v) {
  return v.is_number();
}
bool is_string(const Value& v) {
  return v.is_text();
}
bool is_mapping(const Value& v) {
  return v.is_dict();
}
bool is_iterable(const Value& v) {
  if (v.is_object()) return v.as<Generator>() || v.as<Loop>();
  return v.is_undefined() || v.is_text() || v.is_sequence() || v.is_dict();
}

bool is_sequence(const Value& v) {
  return v.is_undefined() || v.is_text() || v.is_dict() || (v.is_sequence() && !v.is_view());
}

Value remainder_is(Interpreter& in, const Value& v, const Value& divisor, Int wanted) {
  if (v.is_text()) in.run.fail(errors::jinja_test_number());
  const Value rest = in.binary(Operation::modulo, v, divisor);
  return Value::boolean(equal(rest, Value::integer(wanted)));
}

Value odd(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "odd", a, {});
  return remainder_is(in, v, Value::integer(2), 1);
}
Value even(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "even", a, {});
  return remainder_is(in, v, Value::integer(2), 0);
}
Value divisible_by(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "divisibleby", a, {"num"}, 1);
  return remainder_is(in, v, *b[0], 0);
}

Value same_as(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "sameas", a, {"other"}, 1);
  if (v.is_text() && b[0]->is_text() && equal(v, *b[0]) && !v.same(*b[0])) {
    in.run.fail(errors::jinja_equal_strings());
  }
  if (v.is_undefined() && b[0]->is_undefined()) return Value::boolean(false);
  return Value::boolean(v.same(*b[0]));
}

Value contained(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "in", a, {"seq"}, 1);
  return Value::boolean(in.contains(*b[0], v));
}

// The first of the names in jinja2.
constexpr std::string_view name_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return "eq";
    case Comparison::not_equal:
      return "ne";
    case Comparison::less:
      return "lt";
    case Comparison::greater:
      return "gt";
    case Comparison::less_equal:
      return "le";
    default:
      return "ge";
  }
}

template <Comparison comparison>
Value compare(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, name_of(comparison), a, {"other"}, 1);
  const Value& other = *b[0];
  const bool numbers = v.is_number() && other.is_number();
  switch (comparison) {
    case Comparison::equal:
      return Value::boolean(in.same(v, other));
    case Comparison::not_equal:
      return Value::boolean(!in.same(v, other));
    case Comparison::less:
      return Value::boolean(in.less(v, other, "<"));
    case Comparison::greater:
      return Value::boolean(in.less(other, v, ">"));
    case Comparison::less_equal:
      return Value::boolean(numbers ? in.less(v, other) || equal(v, other) : !in.less(other, v, "<="));
    default:
      return Value::boolean(numbers ? in.less(other, v) || equal(v, other) : !in.less(v, other, ">="));
  }
}

}  // namespace

const NativeTable& tests() {
  static const NativeTable table = {
      {"defined", simple<is_defined>},
      {"undefined", simple<is_undefined>},
      {"none", simple<is_none>},
      {"boolean", simple<is_boolean>},
      {"true", simple<is_true>},
      {"false", simple<is_false>},
      {"integer", simple<is_integer>},
      {"float", simple<is_float>},
      {"number", simple<is_number>},
      {"string", simple<is_string>},
      {"mapping", simple<is_mapping>},
      {"iterable", simple<is_iterable>},
      {"sequence", simple<is_sequence>},
      {"odd", odd},
      {"even", even},
      {"divisibleby", divisible_by},
      {"sameas", same_as},
      {"in", contained},
      {"==", compare<Comparison::equal>},
      {"eq", compare<Comparison::equal>},
      {"equalto", compare<Comparison::equal>},
      {"!=", compare<Comparison::not_equal>},
      {"ne", compare<Comparison::not_equal>},
      {"<", compare<Comparison::less>},
      {"lt", compare<Comparison::less>},
      {"lessthan", compare<Comparison::less>},
      {"<=", compare<Comparison::less_equal>},
      {"le", compare<Comparison::less_equal>},
      {">", compare<Comparison::greater>},
      {"gt", compare<Comparison::greater>},
      {"greaterthan", compare<Comparison::greater>},
      {">=", compare<Comparison::greater_equal>},
      {"ge", compare<Comparison::greater_equal>},
  };
  return table;
}

}  // namespace fovea::jinja
