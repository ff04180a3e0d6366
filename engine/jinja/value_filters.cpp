// Filters on numbers and on any value.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/jinja/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"
#include "engine/jinja/literals.h"

namespace fovea::jinja {
namespace {

Value fallback(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "default", a, {"default_value", "boolean"});
  if (v.is_undefined() || (b.truth(1, false) && !truth(v))) return b[0] ? *b[0] : Value::text("");
  return v;
}

Value whole_of(Interpreter& in, double d) {
  if (std::abs(d) >= 0x1p126) in.run.fail(errors::jinja_large_number());
  return Value::integer(static_cast<Int>(d));
}

Value to_int(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "int", a, {"default"});
  if (v.is_undefined()) in.use_of_undefined(v);
  if (v.is_whole()) return Value::integer(v.whole());
  const Value otherwise = b[0] ? *b[0] : Value::integer(0);
  double real = 0;
  if (v.is_real()) {
    real = v.real();
    if (std::isinf(real)) in.run.fail(errors::jinja_infinity());
  } else if (v.is_text()) {
    Int whole = 0;
    const ReadError error = read_integer(v.bytes(), whole);
    if (error == ReadError::none) return Value::integer(whole);
    if (error == ReadError::too_large) in.run.fail(errors::jinja_large_number());
    if (!read_real(v.bytes(), real)) return otherwise;
  } else {
    return otherwise;
  }
  return std::isfinite(real) ? whole_of(in, real) : otherwise;
}

Value to_float(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "float", a, {"default"});
  if (v.is_undefined()) in.use_of_undefined(v);
  if (v.is_number()) return Value::real(v.number());
  double real = 0;
  if (v.is_text() && read_real(v.bytes(), real)) return Value::real(real);
  return b[0] ? *b[0] : Value::real(0);
}

Value absolute(Interpreter& in, const Value& v, Arguments& a) {
  Bound(in, "abs", a, {});
  if (v.is_undefined()) in.use_of_undefined(v);
  if (v.is_real()) return Value::real(std::abs(v.real()));
  if (!v.is_whole()) in.run.fail(errors::jinja_needs_number("abs", type_name(v)));
  return v.whole() < 0 ? in.negate(v) : Value::integer(v.whole());
}

// Half to even, as Python rounds.
Value round_whole(Interpreter& in, Int value, Int digits) {
  if (digits >= 0) return Value::integer(value);
  if (digits < -37) return Value::integer(0);
  Int unit = 1;
  for (Int i = 0; i > digits; --i) unit *= 10;
  Int rest = value % unit;
  if (rest < 0) rest += unit;
  const Int low = value - rest;
  const Int half = unit / 2;
  const bool up = rest > half || (rest == half && (low / unit) % 2 != 0);
  return up ? in.add(Value::integer(low), Value::integer(unit)) : Value::integer(low);
}

Value round_real(Interpreter& in, double value, Int digits) {
  if (!std::isfinite(value) || digits > 330) return Value::real(value);
  if (digits < -330) return Value::real(std::copysign(0.0, value));
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    const double result = std::nearbyint(value / unit) * unit;
    if (std::isinf(result)) in.run.fail(errors::jinja_large_rounded());
    return Value::real(result);
  }
  char buffer[800];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), value);
  return Value::real(std::strtod(buffer, nullptr));
}

Value round(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "round", a, {"precision", "method"});
  static const std::string common = "common";
  const std::string& method = b.text(1, common);
  if (method != "common" && method != "ceil" && method != "floor") in.run.fail(errors::jinja_round_method());
  if (v.is_undefined()) in.use_of_undefined(v);
  if (!v.is_number()) in.run.fail(errors::jinja_needs_number("round", type_name(v)));
  if (method == "common") {
    if (b[0] && b[0]->is_none())
      return v.is_whole() ? Value::integer(v.whole()) : whole_of(in, std::nearbyint(v.real()));
    const Int digits = b.whole(0, 0);
    return v.is_whole() ? round_whole(in, v.whole(), digits) : round_real(in, v.real(), digits);
  }
  const Value unit = in.binary(Operation::power, Value::integer(10), Value::integer(b.whole(0, 0)));
  const Value scaled = in.binary(Operation::multiply, v, unit);
  Value whole = scaled;
  if (scaled.is_real()) {
    if (!std::isfinite(scaled.real())) in.run.fail(errors::jinja_not_rounded());
    whole = whole_of(in, method == "ceil" ? std::ceil(scaled.real()) : std::floor(scaled.real()));
  }
  return in.binary(Operation::divide, whole, unit);
}

Value to_json_filter(Interpreter& in, const Value& v, Arguments& a) {
  const Bound b(in, "tojson", a, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = b.truth(0, false);
  style.sort_keys = b.truth(3, false);
  if (b.has(1)) {
    style.indented = true;
    style.item_separator = std::string(1, ',');
    if (b[1]->is_text()) {
      style.indent = b[1]->bytes();
    } else {
      const Int width = std::max<Int>(b.whole(1, 0), 0);
      in.run.check_size(width, 1);
      style.indent.assign(static_cast<std::size_t>(width), ' ');
    }
  }
  if (b.has(2)) {
    const std::vector<Value> parts = in.items(*b[2]);
    if (parts.size() != 2 || !parts[0].is_text() || !parts[1].is_text())
      in.run.fail(errors::jinja_json_separators());
    style.item_separator = parts[0].bytes();
    style.key_separator = parts[1].bytes();
  }
  return in.run.text(to_json(in, v, style));
}

}  // namespace

const NativeTable& value_filters() {
  static const NativeTable table = {
      {"default", fallback},      {"d", fallback},   {"int", to_int},
      {"float", to_float},        {"abs", absolute}, {"round", round},
      {"tojson", to_json_filter},
  };
  return table;
}

}  // namespace fovea::jinja
