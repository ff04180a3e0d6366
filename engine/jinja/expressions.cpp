#include <algorithm>

#include "engine/jinja/interpreter.h"

namespace fovea::jinja {

Value Interpreter::evaluate(const Expression& e, const std::shared_ptr<Scope>& scope) {
  if (e.operation == Operation::constant) return e.constant;
  const Run::Level level(run);
  run.step();
  run.line = e.line;
  if (e.operation == Operation::name) return name(e, scope.get());
  return evaluate_operation(e, scope);
}

Value Interpreter::evaluate_operation(const Expression& e, const std::shared_ptr<Scope>& scope) {
  const auto part = [&](std::size_t i) { return evaluate(*e.parts[i], scope); };
  switch (e.operation) {
    case Operation::list:
    case Operation::tuple:
      return list(e, scope);
    case Operation::dict:
      return dict(e, scope);
    case Operation::logical_not:
      return Value::boolean(!truth(part(0)));
    case Operation::logical_and: {
      Value left = part(0);
      return truth(left) ? part(1) : left;
    }
    case Operation::logical_or: {
      Value left = part(0);
      return truth(left) ? left : part(1);
    }
    case Operation::concatenate:
      return concatenate(e, scope);
    case Operation::compare:
      return compare(e, scope);
    case Operation::condition:
      if (truth(part(0))) return part(1);
      if (e.parts.size() > 2) return part(2);
      return Value::undefined(errors::jinja_no_else());
    case Operation::attribute:
      return attribute(part(0), e.text);
    case Operation::item:
      return subscript(e, scope);
    case Operation::slice:
      run.fail(errors::jinja_slice_outside());
    case Operation::call:
      return call_expression(e, scope, nullptr);
    case Operation::filter:
      return filter_expression(e, scope, nullptr);
    case Operation::test: {
      const Value value = part(0);
      Arguments a = arguments(*e.arguments, scope);
      run.line = e.line;
      return Value::boolean(test(e.text, value, a));
    }
    case Operation::negate:
    case Operation::plus: {
      const Value value = part(0);
      run.line = e.line;
      if (e.operation == Operation::negate) return negate(value);
      if (value.is_undefined()) use_of_undefined(value);
      if (!value.is_number()) run.fail(errors::jinja_operand("+", type_name(value)));
      return value.is_boolean() ? Value::integer(value.whole()) : value;
    }
    default: {
      const Value left = part(0);
      const Value right = part(1);
      run.line = e.line;
      return binary(e.operation, left, right);
    }
  }
}

Value Interpreter::name(const Expression& e, Scope* scope) {
  for (; scope; scope = scope->parent.get()) {
    if (const Value* found = scope->find_here(e.symbol)) return *found;
  }
  const auto& global = context_[static_cast<std::size_t>(e.symbol)];
  if (global) return *global;
  const std::string& text = tree_.names[static_cast<std::size_t>(e.symbol)];
  check_global(text, run.line);
  return Value::undefined(errors::jinja_undefined_name(text));
}

Value Interpreter::list(const Expression& e, const std::shared_ptr<Scope>& scope) {
  std::vector<Value> items;
  items.reserve(e.parts.size());
  for (const ExpressionPointer& part : e.parts) items.push_back(evaluate(*part, scope));
  return run.list(std::move(items),
                  e.operation == Operation::list ? SequenceKind::list : SequenceKind::tuple);
}

Value Interpreter::dict(const Expression& e, const std::shared_ptr<Scope>& scope) {
  Dict dict;
  for (std::size_t i = 0; i < e.parts.size(); i += 2) {
    Value key = evaluate(*e.parts[i], scope);
    Value value = evaluate(*e.parts[i + 1], scope);
    check_key(key);
    dict.set(std::move(key), std::move(value));
  }
  return run.dict(std::move(dict));
}

Value Interpreter::concatenate(const Expression& e, const std::shared_ptr<Scope>& scope) {
  std::string text;
  for (const ExpressionPointer& part : e.parts) {
    const Value value = evaluate(*part, scope);
    if (value.is_text())
      text += value.bytes();
    else
      text += str(value);
    run.check_size(text.size());
  }
  return run.text(std::move(text));
}

Value Interpreter::compare(const Expression& e, const std::shared_ptr<Scope>& scope) {
  Value left = evaluate(*e.parts[0], scope);
  for (std::size_t i = 0; i < e.comparisons.size(); ++i) {
    Value right = evaluate(*e.parts[i + 1], scope);
    run.line = e.line;
    if (!compare_once(e.comparisons[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

bool Interpreter::compare_once(Comparison comparison, const Value& a, const Value& b) {
  if (a.is_text()) run.work(a.bytes().size());
  switch (comparison) {
    case Comparison::equal:
      return same(a, b);
    case Comparison::not_equal:
      return !same(a, b);
    case Comparison::less:
      return less(a, b, "<");
    case Comparison::greater:
      return less(b, a, ">");
    case Comparison::less_equal:
      return a.is_number() && b.is_number() ? less(a, b, "<=") || equal(a, b) : !less(b, a, "<=");
    case Comparison::greater_equal:
      return a.is_number() && b.is_number() ? less(b, a, ">=") || equal(a, b) : !less(a, b, ">=");
    case Comparison::in:
      return contains(b, a);
    case Comparison::not_in:
      return !contains(b, a);
  }
  return false;
}

Value Interpreter::subscript(const Expression& e, const std::shared_ptr<Scope>& scope) {
  const Value object = evaluate(*e.parts[0], scope);
  const Expression& index = *e.parts[1];
  if (index.operation != Operation::slice) {
    const Value value = evaluate(index, scope);
    run.line = e.line;
    return item(object, value);
  }
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i)
    bounds[i] = index.parts[i] ? evaluate(*index.parts[i], scope) : Value::none();
  run.line = e.line;
  return slice(object, bounds[0], bounds[1], bounds[2]);
}

Arguments Interpreter::arguments(const CallArguments& call, const std::shared_ptr<Scope>& scope) {
  Arguments a;
  a.positional.reserve(call.positional.size());
  for (const ExpressionPointer& e : call.positional) a.positional.push_back(evaluate(*e, scope));
  if (call.star) {
    const Value list = evaluate(*call.star, scope);
    for (Value& value : items(list)) a.positional.push_back(std::move(value));
  }
  for (const auto& [name, e] : call.keyword) a.keyword.emplace_back(name, evaluate(*e, scope));
  if (call.double_star) {
    const Value rest = evaluate(*call.double_star, scope);
    if (!rest.is_dict()) run.fail(errors::jinja_star_type(type_name(rest)));
    for (const auto& [key, value] : rest.dict().entries()) {
      if (!key.is_text()) run.fail(errors::jinja_star_keys());
      for (const auto& other : a.keyword) {
        if (other.first == key.bytes()) run.fail(errors::jinja_star_twice(key.bytes()));
      }
      run.step(static_cast<std::int64_t>(a.keyword.size() / 8));
      a.keyword.emplace_back(key.bytes(), value);
    }
  }
  return a;
}

Value Interpreter::call_expression(const Expression& e, const std::shared_ptr<Scope>& scope,
                                   const Value* caller) {
  const Expression& callee = *e.parts[0];
  const bool method = callee.operation == Operation::attribute;
  const Value object = evaluate(method ? *callee.parts[0] : callee, scope);
  Native native = method ? find_method(object, callee.text) : nullptr;
  const Value function = method && !native ? attribute(object, callee.text) : native ? Value() : object;
  Arguments a = arguments(*e.arguments, scope);
  if (caller) a.keyword.emplace_back("caller", *caller);
  run.line = e.line;
  return native ? native(*this, object, a) : call(function, a);
}

Value Interpreter::call(const Value& callee, Arguments& a) {
  if (callee.is_undefined()) use_of_undefined(callee);
  if (const auto function = callee.as<Function>()) return function->native(*this, function->self, a);
  if (const auto macro = callee.as<Macro>()) return call_macro(*macro, a);
  if (const auto loop = callee.as<Loop>()) return loop->recurse(a);
  if (const auto joiner = callee.as<Joiner>()) {
    if (!a.empty()) run.fail(errors::jinja_joiner_arguments());
    if (joiner->used) return joiner->separator;
    joiner->used = true;
    return Value::text("");
  }
  run.fail(errors::jinja_not_callable(type_name(callee)));
}

Value Interpreter::filter_expression(const Expression& e, const std::shared_ptr<Scope>& scope,
                                     const Value* block) {
  Value value;
  if (!e.parts[0])
    value = *block;
  else if (block && e.parts[0]->operation == Operation::filter)
    value = filter_expression(*e.parts[0], scope, block);
  else
    value = evaluate(*e.parts[0], scope);
  Arguments a = arguments(*e.arguments, scope);
  run.line = e.line;
  return filter(e.text, value, a);
}

Value Interpreter::filter(const std::string& name, const Value& value, Arguments& a) {
  run.step();
  return filter_named(name, run.line)(*this, value, a);
}

bool Interpreter::test(const std::string& name, const Value& value, Arguments& a) {
  run.step();
  return truth(test_named(name, run.line)(*this, value, a));
}

void Interpreter::use_of_undefined(const Value& value) const {
  run.fail(value.when_used());
}

Value Interpreter::undefined(const Value& object, const Value& index) const {
  if (!index.is_text()) {
    return Value::undefined(object.is_none() ? errors::jinja_element_of_none()
                                             : errors::jinja_no_element(type_name(object)));
  }
  std::string name = index.bytes().substr(0, 200);
  return Value::undefined(object.is_none() ? errors::jinja_attribute_of_none(std::move(name))
                                           : errors::jinja_no_attribute(type_name(object), std::move(name)));
}

// Python finds these before the elements of a dict; nothing where there is no such attribute.
std::optional<Value> Interpreter::object_attribute(const Value& object, const std::string& name) {
  if (const auto space = object.as<Namespace>()) {
    const Value* found = space->attributes.find(name);
    return found ? std::optional(*found) : std::nullopt;
  }
  if (const auto loop = object.as<Loop>()) {
    if (auto found = loop->attribute(name)) return found;
  }
  if (const auto macro = object.as<Macro>(); macro && name == "name") return Value::text(macro->name);
  if (const Native native = find_method(object, name))
    return Value::object(std::make_shared<Function>(name, native, object));
  if (attribute_left_out(object, name))
    run.fail(errors::jinja_left_out(phrases::jinja_attribute(name, type_name(object))));
  return std::nullopt;
}

Value Interpreter::attribute(const Value& object, const std::string& name) {
  if (object.is_undefined()) use_of_undefined(object);
  if (auto found = object_attribute(object, name)) return *found;
  if (unsafe_attribute(object, name))
    return Value::undefined(errors::jinja_unsafe_attribute(name, type_name(object)));
  if (object.is_dict()) {
    if (const Value* found = object.dict().find(name)) return *found;
  }
  return undefined(object, Value::text(name));
}

Value Interpreter::item(const Value& object, const Value& index) {
  if (object.is_undefined()) use_of_undefined(object);
  if (object.is_dict()) {
    run.step(index.weight());
    if (hashable(index)) {
      if (const Value* found = object.dict().find(index)) return *found;
    }
  } else if (index.is_whole() && (object.is_text() || (object.is_sequence() && !object.is_view()))) {
    const Int size = object.is_text() ? static_cast<Int>(object.text().length)
                                      : static_cast<Int>(object.sequence().items.size());
    const Int at = index.whole() < 0 ? index.whole() + size : index.whole();
    if (at < 0 || at >= size) return undefined(object, index);
    if (object.is_sequence()) return object.sequence().items[static_cast<std::size_t>(at)];
    return slice(object, Value::integer(at), Value::integer(at + 1), Value::none());
  }
  if (!index.is_text()) return undefined(object, index);
  if (auto found = object_attribute(object, index.bytes())) return *found;
  return undefined(object, index);
}

}  // namespace fovea::jinja
