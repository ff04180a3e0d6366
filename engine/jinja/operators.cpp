#include <algorithm>
#include <cmath>

#include "engine/jinja/format.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

const char* sign_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return "+";
    case Operation::subtract:
      return "-";
    case Operation::multiply:
      return "*";
    case Operation::divide:
      return "/";
    case Operation::floor_divide:
      return "//";
    case Operation::modulo:
      return "%";
    default:
      return "**";
  }
}

// Python's float floor division and its remainder, whose sign is the divisor's.
void divide_floor(double a, double b, double& quotient, double& remainder) {
  remainder = std::fmod(a, b);
  quotient = (a - remainder) / b;
  if (remainder != 0) {
    if ((b < 0) != (remainder < 0)) {
      remainder += b;
      quotient -= 1;
    }
  } else {
    remainder = std::copysign(0.0, b);
  }
  if (quotient != 0) {
    const double floor = std::floor(quotient);
    quotient = quotient - floor > 0.5 ? floor + 1 : floor;
  } else {
    quotient = std::copysign(0.0, a / b);
  }
}

}  // namespace

void Interpreter::unsupported_operands(const char* sign, const Value& a, const Value& b) const {
  if (a.is_undefined()) use_of_undefined(a);
  if (b.is_undefined()) use_of_undefined(b);
  run.fail(errors::jinja_operands(sign, type_name(a), type_name(b)));
}

Value Interpreter::binary(Operation operation, const Value& a, const Value& b) {
  if (operation == Operation::add) return add(a, b);
  if (operation == Operation::multiply) {
    const auto repeatable = [](const Value& v) { return v.is_text() || v.is_list() || v.is_tuple(); };
    if (repeatable(a) && b.is_whole()) return repeat(a, b.whole());
    if (repeatable(b) && a.is_whole()) return repeat(b, a.whole());
  }
  if (operation == Operation::modulo && a.is_text()) return percent_format(*this, a, b);
  if (!a.is_number() || !b.is_number()) unsupported_operands(sign_of(operation), a, b);
  return operation == Operation::power ? power(a, b) : arithmetic(operation, a, b);
}

Value Interpreter::add(const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) {
    const bool markup = a.text().markup || b.text().markup;
    run.check_size(a.bytes().size() + b.bytes().size());
    const Value& whole = a.text().markup ? a : b;
    return run.text(text_for(whole, a) + text_for(whole, b), markup);
  }
  if ((a.is_list() && b.is_list()) || (a.is_tuple() && b.is_tuple())) {
    std::vector<Value> items = a.sequence().items;
    items.insert(items.end(), b.sequence().items.begin(), b.sequence().items.end());
    return run.list(std::move(items), a.sequence().kind);
  }
  if (!a.is_number() || !b.is_number()) unsupported_operands("+", a, b);
  return arithmetic(Operation::add, a, b);
}

Value Interpreter::repeat(const Value& value, Int count) {
  count = std::max<Int>(count, 0);
  if (value.is_text()) {
    run.check_size(count, value.bytes().size());
    std::string out;
    if (!value.bytes().empty()) {
      out.reserve(static_cast<std::size_t>(count) * value.bytes().size());
      for (Int i = 0; i < count; ++i) out += value.bytes();
    }
    return run.text(std::move(out), value.text().markup);
  }
  const Sequence& s = value.sequence();
  run.check_size(count, s.items.size() * sizeof(Value));
  std::vector<Value> items;
  if (!s.items.empty()) {
    run.work(static_cast<std::size_t>(count) * s.items.size() * sizeof(Value));
    for (Int i = 0; i < count; ++i) items.insert(items.end(), s.items.begin(), s.items.end());
  }
  return run.list(std::move(items), s.kind);
}

Value Interpreter::arithmetic(Operation operation, const Value& a, const Value& b) {
  if (a.is_whole() && b.is_whole()) return whole_arithmetic(operation, a.whole(), b.whole());
  return real_arithmetic(operation, a.number(), b.number());
}

Value Interpreter::whole_arithmetic(Operation operation, Int a, Int b) {
  Int result = 0;
  bool overflow = false;
  if (operation == Operation::add)
    overflow = __builtin_add_overflow(a, b, &result);
  else if (operation == Operation::subtract)
    overflow = __builtin_sub_overflow(a, b, &result);
  else if (operation == Operation::multiply)
    overflow = __builtin_mul_overflow(a, b, &result);
  else {
    if (b == 0) run.fail(errors::jinja_division_by_zero());
    if (operation == Operation::divide) return Value::real(static_cast<double>(a) / static_cast<double>(b));
    if (b == -1) {
      overflow = operation == Operation::floor_divide && __builtin_sub_overflow(Int{0}, a, &result);
    } else {
      const Int remainder = a % b;
      const bool other_sign = remainder != 0 && (remainder < 0) != (b < 0);
      result =
          operation == Operation::modulo ? remainder + (other_sign ? b : 0) : a / b - (other_sign ? 1 : 0);
    }
  }
  if (overflow) run.fail(errors::jinja_large_result());
  return Value::integer(result);
}

Value Interpreter::real_arithmetic(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return Value::real(a + b);
    case Operation::subtract:
      return Value::real(a - b);
    case Operation::multiply:
      return Value::real(a * b);
    default:
      break;
  }
  if (b == 0) run.fail(errors::jinja_division_by_zero());
  if (operation == Operation::divide) return Value::real(a / b);
  double quotient = 0;
  double remainder = 0;
  divide_floor(a, b, quotient, remainder);
  return Value::real(operation == Operation::modulo ? remainder : quotient);
}

Value Interpreter::power(const Value& base, const Value& exponent) {
  if (base.is_whole() && exponent.is_whole() && exponent.whole() >= 0) {
    Int result = 1;
    Int factor = base.whole();
    for (Int rest = exponent.whole(); rest > 0; rest >>= 1) {
      bool overflow = (rest & 1) != 0 && __builtin_mul_overflow(result, factor, &result);
      if (rest > 1) overflow = __builtin_mul_overflow(factor, factor, &factor) || overflow;
      if (overflow) run.fail(errors::jinja_large_result());
    }
    return Value::integer(result);
  }
  const double a = base.number();
  const double b = exponent.number();
  if (a == 0 && b < 0) run.fail(errors::jinja_zero_power());
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::trunc(b)) {
    run.fail(errors::jinja_root());
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) run.fail(errors::jinja_large_power());
  return Value::real(result);
}

Value Interpreter::negate(const Value& value) {
  if (value.is_undefined()) use_of_undefined(value);
  if (value.is_real()) return Value::real(-value.real());
  if (!value.is_whole()) run.fail(errors::jinja_operand("-", type_name(value)));
  return whole_arithmetic(Operation::subtract, 0, value.whole());
}

bool Interpreter::less(const Value& a, const Value& b, const char* sign) {
  run.step();
  if (a.is_whole() && b.is_whole()) return a.whole() < b.whole();
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (a.is_text() && b.is_text()) return a.bytes() < b.bytes();
  if ((a.is_list() && b.is_list()) || (a.is_tuple() && b.is_tuple())) {
    const Run::Level level(run);
    const auto& x = a.sequence().items;
    const auto& y = b.sequence().items;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      run.step();
      if (!same(x[i], y[i])) return less(x[i], y[i], sign);
    }
    return x.size() < y.size();
  }
  unsupported_operands(sign, a, b);
}

bool Interpreter::same(const Value& a, const Value& b) {
  run.step(std::min(a.weight(), b.weight()));
  // Views are compared as sets.
  if (a.is_view() && b.is_view())
    run.step(a.weight() * static_cast<std::int64_t>(b.sequence().items.size() / 8 + 1));
  return equal(a, b);
}

void Interpreter::check_key(const Value& key) {
  run.step(key.weight());
  if (!hashable(key)) run.fail(errors::jinja_key_type(type_name(key)));
}

bool Interpreter::contains(const Value& container, const Value& value) {
  if (container.is_text()) {
    if (!value.is_text()) run.fail(errors::jinja_in_string(type_name(value)));
    run.work(container.bytes().size());
    return container.bytes().find(value.bytes()) != std::string::npos;
  }
  if (container.is_dict()) {
    check_key(value);
    return container.dict().find(value) != nullptr;
  }
  const auto is_value = [&](const Value& other) {
    run.step();
    return same(other, value);
  };
  if (const auto generator = container.as<Generator>()) {
    while (generator->next < generator->items.size()) {
      if (is_value(generator->items[generator->next++])) return true;
    }
    return false;
  }
  if (container.is_sequence())
    return std::any_of(container.sequence().items.begin(), container.sequence().items.end(), is_value);
  if (container.is_undefined()) return false;
  run.fail(errors::jinja_operand("in", type_name(container)));
}

std::vector<Value> Interpreter::items(const Value& value) {
  std::vector<Value> items;
  if (value.is_undefined()) return items;
  if (value.is_sequence()) {
    items = value.sequence().items;
  } else if (value.is_dict()) {
    for (const auto& entry : value.dict().entries()) items.push_back(entry.first);
  } else if (value.is_text()) {
    const std::string& text = value.bytes();
    run.check_size(value.text().length, sizeof(Value));
    run.work(text.size() * sizeof(Value));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      next_point(text, at);
      items.push_back(Value::text(text.substr(begin, at - begin)));
    }
    return items;
  } else if (const auto generator = value.as<Generator>()) {
    items.assign(generator->items.begin() + static_cast<std::ptrdiff_t>(generator->next),
                 generator->items.end());
    generator->next = generator->items.size();
  } else {
    run.fail(errors::jinja_not_iterable(type_name(value)));
  }
  run.work(items.size() * sizeof(Value));
  return items;
}

Value Interpreter::generator(std::vector<Value> items, std::string type) {
  int height = 1;
  for (const Value& item : items) height = std::max(height, item.height() + 1);
  run.check_height(height);
  run.work(items.size() * sizeof(Value));
  return Value::object(std::make_shared<Generator>(std::move(items), std::move(type), height));
}

Value Interpreter::slice(const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is_undefined()) use_of_undefined(object);
  if (!object.is_text() && (!object.is_sequence() || object.is_view()))
    run.fail(errors::jinja_not_sliceable(type_name(object)));
  for (const Value* v : {&start, &stop, &step}) {
    if (!v->is_none() && !v->is_whole()) run.fail(errors::jinja_slice_parts());
  }
  const Int size = object.is_text() ? static_cast<Int>(object.text().length)
                                    : static_cast<Int>(object.sequence().items.size());
  constexpr Int far = Int{1} << 62;
  const Int by = step.is_none() ? 1 : std::clamp(step.whole(), -far, far);
  if (by == 0) run.fail(errors::jinja_slice_step());
  const Int low = by > 0 ? 0 : -1;
  const Int high = by > 0 ? size : size - 1;
  const auto bound = [&](const Value& v, Int otherwise) {
    if (v.is_none()) return otherwise;
    const Int at = v.whole() < 0 ? v.whole() + size : v.whole();
    return std::clamp(at, low, high);
  };
  const Int from = bound(start, by > 0 ? low : high);
  const Int to = bound(stop, by > 0 ? high : low);
  const auto more = [&](Int i) { return by > 0 ? i < to : i > to; };
  if (object.is_sequence()) {
    const Sequence& s = object.sequence();
    std::vector<Value> items;
    for (Int i = from; more(i); i += by) items.push_back(s.items[static_cast<std::size_t>(i)]);
    if (s.kind != SequenceKind::range) return run.list(std::move(items), s.kind);
    auto range = std::make_shared<Sequence>();
    range->kind = SequenceKind::range;
    range->items = std::move(items);
    range->start = s.start + from * s.step;
    range->stop = s.start + to * s.step;
    range->step = s.step * by;
    measure(*range);
    return Value::sequence(std::move(range));
  }
  const std::string& text = object.bytes();
  run.work(object.text().ascii() ? 0 : text.size());
  if (by == 1) {
    if (from >= to) return run.text({}, object.text().markup);
    const bool ascii = object.text().ascii();
    const std::size_t begin =
        ascii ? static_cast<std::size_t>(from) : byte_offset(text, static_cast<std::int64_t>(from));
    const std::size_t count =
        ascii ? static_cast<std::size_t>(to - from)
              : byte_offset(std::string_view(text).substr(begin), static_cast<std::int64_t>(to - from));
    return run.text(text.substr(begin, count), object.text().markup);
  }
  std::vector<std::string_view> points;
  run.work(text.size() * sizeof(std::string_view));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    next_point(text, at);
    points.push_back(std::string_view(text).substr(begin, at - begin));
  }
  std::string out;
  for (Int i = from; more(i); i += by) out += points[static_cast<std::size_t>(i)];
  return run.text(std::move(out), object.text().markup);
}

}  // namespace fovea::jinja
