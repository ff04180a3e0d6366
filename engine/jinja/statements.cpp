#include <algorithm>

#include "engine/jinja/interpreter.h"

namespace fovea::jinja {

Interpreter::Interpreter(const Tree& tree, const Template::Variables& variables, const Limits& limits,
                         const Clock& time)
    : run(limits), clock(time), tree_(tree), context_(tree.names.size()) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < tree.names.size(); ++i) numbers.emplace(tree.names[i], i);
  for (const auto& [name, native] : functions()) {
    if (const auto found = numbers.find(name); found != numbers.end()) {
      context_[found->second] = Value::object(std::make_shared<Function>(std::string(name), native, Value()));
    }
  }
  for (const auto& [name, value] : variables) {
    if (const auto found = numbers.find(name); found != numbers.end()) context_[found->second] = value;
  }
}

// Namespaces, loops and scopes can hold each other in circles, so they are emptied before they go.
Interpreter::~Interpreter() {
  for (const auto& object : kept_objects_) {
    if (auto* space = dynamic_cast<Namespace*>(object.get())) space->attributes = Dict();
    if (auto* loop = dynamic_cast<Loop*>(object.get())) loop->finish();
  }
  for (const auto& scope : kept_scopes_) {
    for (Scope* s = scope.get(); s; s = s->parent.get()) s->variables.clear();
  }
}

void Interpreter::keep(std::shared_ptr<Scope> scope) {
  kept_scopes_.push_back(std::move(scope));
}
void Interpreter::keep(std::shared_ptr<Object> object) {
  kept_objects_.push_back(std::move(object));
}

std::string Interpreter::render() {
  const auto root = inner(nullptr, tree_.hidden);
  return capture([&] { execute(tree_.body, root); });
}

std::shared_ptr<Scope> Interpreter::inner(const std::shared_ptr<Scope>& parent,
                                          const std::vector<int>& hidden) const {
  auto scope = std::make_shared<Scope>();
  scope->parent = parent;
  for (const int symbol : hidden) scope->variables.emplace_back(symbol, Value());
  return scope;
}

template <class Function>
std::string Interpreter::capture(Function function) {
  struct Redirect {
    Redirect(std::string*& out, std::string& to) : out_(out), before_(out) { out_ = &to; }
    ~Redirect() { out_ = before_; }
    Redirect(const Redirect&) = delete;
    Redirect& operator=(const Redirect&) = delete;
    std::string*& out_;
    std::string* before_;
  };
  std::string text;
  const Redirect redirect(out_, text);
  function();
  return text;
}

void Interpreter::write(std::string_view text) {
  run.check_size(out_->size() + text.size());
  run.work(text.size());
  *out_ += text;
}

void Interpreter::write(const Value& value) {
  if (value.is_text())
    write(std::string_view(value.bytes()));
  else
    write(std::string_view(str(value)));
}

Interpreter::Flow Interpreter::execute(const Body& body, const std::shared_ptr<Scope>& scope) {
  const Run::Level level(run);
  for (const auto& statement : body) {
    run.step();
    run.line = statement->line;
    const Flow flow = execute(*statement, scope);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const Statement& s, const std::shared_ptr<Scope>& scope) {
  switch (s.type) {
    case StatementType::data:
      write(std::string_view(s.text));
      break;
    case StatementType::output:
      write(evaluate(*s.expression, scope));
      break;
    case StatementType::condition:
      return condition(s, scope);
    case StatementType::loop:
      if (s.recursive)
        write(std::string_view(loop_text(s, scope, evaluate(*s.expression, scope), 0)));
      else
        return loop(s, scope, evaluate(*s.expression, scope), 0);
      break;
    case StatementType::assignment:
      assign(*s.target, evaluate(*s.expression, scope), *scope, scope);
      break;
    case StatementType::block_set:
      block_set(s, scope);
      break;
    case StatementType::macro:
      define_macro(s, scope);
      break;
    case StatementType::call_block:
      call_block(s, scope);
      break;
    case StatementType::filter_block:
      filter_block(s, scope);
      break;
    case StatementType::with:
      return with(s, scope);
    case StatementType::generation:
      execute(s.body, inner(scope, s.hidden));
      break;
    case StatementType::loop_break:
      return Flow::loop_break;
    case StatementType::loop_continue:
      return Flow::loop_continue;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::condition(const Statement& s, const std::shared_ptr<Scope>& scope) {
  for (const Branch& branch : s.branches) {
    if (truth(evaluate(*branch.test, scope))) return execute(branch.body, scope);
  }
  return execute(s.otherwise, scope);
}

std::string Interpreter::loop_text(const Statement& s, const std::shared_ptr<Scope>& scope,
                                   const Value& iterable, int depth) {
  const Run::Level level(run, 4);
  return capture([&] { loop(s, scope, iterable, depth); });
}

Interpreter::Flow Interpreter::loop(const Statement& s, const std::shared_ptr<Scope>& scope,
                                    const Value& iterable, int depth) {
  const auto state = std::make_shared<Loop>(*this, s, scope, iterable, depth);
  struct Finish {
    explicit Finish(Interpreter& i, const std::shared_ptr<Loop>& l) : in(i), loop(l) {}
    ~Finish() {
      // Whoever else still holds the loop may be held by it.
      if (loop.use_count() > 1)
        in.kept_objects_.push_back(loop);
      else
        loop->finish();
    }
    Finish(const Finish&) = delete;
    Finish& operator=(const Finish&) = delete;
    Interpreter& in;
    const std::shared_ptr<Loop>& loop;
  };
  bool completed = false;
  {
    std::shared_ptr<Scope> body;
    const Finish finish(*this, state);
    while (state->advance()) {
      run.step();
      if (!body || body.use_count() > 1) body = inner(scope, {});
      body->variables.clear();
      for (const int symbol : s.hidden) body->variables.emplace_back(symbol, Value());
      assign(*s.target, state->current(), *body, scope);
      body->set(symbol_loop, Value::object(state));
      const Flow flow = execute(s.body, body);
      if (flow == Flow::loop_break) break;
      // As in jinja2, a loop counts as gone through once a body has come to its end.
      if (flow == Flow::normal) completed = true;
    }
  }
  if (!completed && !s.otherwise.empty()) return execute(s.otherwise, inner(scope, s.hidden_otherwise));
  return Flow::normal;
}

void Interpreter::assign(const Expression& target, const Value& value, Scope& scope,
                         const std::shared_ptr<Scope>& namespaces) {
  if (target.operation == Operation::name) return scope.set(target.symbol, value);
  if (target.operation == Operation::namespace_attribute) {
    Expression reader;
    reader.line = target.line;
    reader.symbol = target.symbol;
    const auto space = name(reader, namespaces.get()).as<Namespace>();
    if (!space) run.fail(errors::jinja_not_namespace(tree_.names[static_cast<std::size_t>(target.symbol)]));
    if (target.text.starts_with('_')) run.fail(errors::jinja_private_attribute(target.text));
    run.step();
    space->attributes.set(Value::text(target.text), value);
    return;
  }
  if (value.is_undefined()) use_of_undefined(value);
  const std::vector<Value> parts = items(value);
  if (parts.size() != target.parts.size()) run.fail(errors::jinja_unpack(parts.size(), target.parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) assign(*target.parts[i], parts[i], scope, namespaces);
}

void Interpreter::block_set(const Statement& s, const std::shared_ptr<Scope>& scope) {
  const auto block = inner(scope, s.hidden);
  Value value = run.text(capture([&] { execute(s.body, block); }));
  if (s.expression) value = filter_expression(*s.expression, block, &value);
  assign(*s.target, value, *scope, scope);
}

void Interpreter::filter_block(const Statement& s, const std::shared_ptr<Scope>& scope) {
  const auto block = inner(scope, s.hidden);
  const Value value = run.text(capture([&] { execute(s.body, block); }));
  const Value result = filter_expression(*s.expression, block, &value);
  if (!result.is_text()) run.fail(errors::jinja_filter_block(type_name(result)));
  write(result);
}

Interpreter::Flow Interpreter::with(const Statement& s, const std::shared_ptr<Scope>& scope) {
  const auto block = inner(scope, s.hidden);
  for (const auto& [target, expression] : s.bindings)
    assign(*target, evaluate(*expression, scope), *block, block);
  return execute(s.body, block);
}

Value Interpreter::make_macro(const Statement& s, const std::shared_ptr<Scope>& scope, std::string name) {
  keep(scope);
  run.step(8);  // it stays in memory until the end
  auto macro = std::make_shared<Macro>();
  macro->definition = &s;
  macro->name = std::move(name);
  macro->scope = scope.get();
  return Value::object(std::move(macro));
}

void Interpreter::define_macro(const Statement& s, const std::shared_ptr<Scope>& scope) {
  scope->set(s.symbol, make_macro(s, scope, s.text));
}

void Interpreter::call_block(const Statement& s, const std::shared_ptr<Scope>& scope) {
  const Value caller = make_macro(s, scope, "caller");
  const Value result = call_expression(*s.expression, scope, &caller);
  if (!result.is_text()) run.fail(errors::jinja_call_block_result(type_name(result)));
  write(result);
}

Value Interpreter::call_macro(const Macro& macro, Arguments& a) {
  const Run::Level level(run, 4);
  run.step(4);
  const auto scope =
      inner(std::shared_ptr<Scope>(std::shared_ptr<Scope>(), macro.scope), macro.definition->hidden);
  bind_macro(macro, a, *scope);
  for (const Parameter& p : macro.definition->signature.parameters) {
    Value* value = scope->find_here(p.symbol);
    if (value) continue;
    Value fallback =
        p.fallback ? evaluate(*p.fallback, scope) : Value::undefined(errors::jinja_missing_parameter(p.name));
    scope->set(p.symbol, std::move(fallback));
  }
  return run.text(capture([&] { execute(macro.definition->body, scope); }));
}

void Interpreter::bind_macro(const Macro& macro, Arguments& a, Scope& scope) {
  const Signature& s = macro.definition->signature;
  const auto take_keyword = [&](const std::string& name, Value& value) {
    const auto found =
        std::find_if(a.keyword.begin(), a.keyword.end(), [&](const auto& k) { return k.first == name; });
    if (found == a.keyword.end()) return false;
    value = std::move(found->second);
    a.keyword.erase(found);
    return true;
  };
  const std::size_t given = std::min(a.positional.size(), s.parameters.size());
  for (std::size_t i = 0; i < given; ++i) scope.set(s.parameters[i].symbol, a.positional[i]);
  bool found_caller = given == s.parameters.size() && s.explicit_caller;
  for (std::size_t i = given; i < s.parameters.size(); ++i) {
    Value value;
    if (take_keyword(s.parameters[i].name, value)) scope.set(s.parameters[i].symbol, std::move(value));
    if (s.parameters[i].symbol == symbol_caller) found_caller = true;
  }
  if (s.uses_caller && !found_caller) {
    Value caller;
    if (!take_keyword("caller", caller) || caller.is_none())
      caller = Value::undefined(errors::jinja_no_caller());
    scope.set(symbol_caller, std::move(caller));
  }
  if (!a.keyword.empty()) run.fail(errors::jinja_macro_keyword(macro.name, a.keyword.front().first));
  if (a.positional.size() > s.parameters.size())
    run.fail(errors::jinja_macro_arguments(macro.name, s.parameters.size()));
}

}  // namespace fovea::jinja
