// Values with state or behaviour.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/jinja/library.h"
#include "engine/jinja/syntax.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<int, Value>> variables;

  Value* find_here(int symbol) {
    for (auto& [name, value] : variables) {
      if (name == symbol) return &value;
    }
    return nullptr;
  }
  void set(int symbol, Value value) {
    if (Value* found = find_here(symbol))
      *found = std::move(value);
    else
      variables.emplace_back(symbol, std::move(value));
  }
};

// A global function or a method with its object.
struct Function final : Object {
  Function(std::string n, Native f, Value s) : name(std::move(n)), native(f), self(std::move(s)) {}
  std::string type_name() const override { return "function"; }
  int height() const override { return self.height() + 1; }

  std::string name;
  Native native;
  Value self;
};

struct Macro final : Object {
  std::string type_name() const override { return "Macro"; }

  const Statement* definition = nullptr;
  std::string name;        // "caller" of a call block
  Scope* scope = nullptr;  // the interpreter keeps it alive
};

struct Namespace final : Object {
  std::string type_name() const override { return "Namespace"; }
  Dict attributes;
};

// What `map`, `select` and others give: it can be gone through once.
struct Generator final : Object {
  Generator(std::vector<Value> i, std::string t, int h)
      : items(std::move(i)), type(std::move(t)), levels(h) {}
  std::string type_name() const override { return type; }
  int height() const override { return levels; }

  std::vector<Value> items;
  std::string type;
  int levels;
  std::size_t next = 0;
};

struct Joiner final : Object {
  std::string type_name() const override { return "Joiner"; }
  int height() const override { return separator.height() + 1; }
  Value separator;
  bool used = false;
};

// The `loop` of a for statement; it takes items, filtered, as they are asked for.
class Loop final : public Object {
 public:
  Loop(Interpreter& in, const Statement& statement, std::shared_ptr<Scope> scope, const Value& iterable,
       int depth);
  std::string type_name() const override { return "LoopContext"; }

  bool advance();  // to the next item; false at the end
  const Value& current() const { return *current_; }
  Int index0() const { return index0_; }
  Int length();
  std::optional<Value> attribute(const std::string& name);
  Value cycle(const Arguments&);
  Value changed(Arguments&);
  Value recurse(Arguments&);
  // Lets go of what it holds; an iterated generator keeps what was not taken.
  void finish();

 private:
  std::optional<Value> take();  // the next item that the loop's test lets through
  std::optional<Value> take_raw();
  const Value* peek();
  bool passes(const Value& item);

  Interpreter& in_;
  const Statement& statement_;
  std::shared_ptr<Scope> scope_;
  Value iterable_;
  std::vector<Value> items_;
  std::size_t next_ = 0;
  std::shared_ptr<Generator> generator_;
  std::deque<Value> waiting_;  // taken early, to know the length
  bool drained_ = false;
  std::optional<Int> length_;
  std::optional<Value> after_, current_, before_, last_changed_;
  Int index0_ = -1;
  int depth_;
};

}  // namespace fovea::jinja
