// Evaluates a template's tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/jinja/objects.h"
#include "engine/jinja/run.h"
#include "engine/jinja/syntax.h"

namespace fovea::jinja {

class Interpreter {
 public:
  Interpreter(const Tree&, const Template::Variables&, const Limits&, const Clock&);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  std::string render();

  Run run;
  const Clock clock;

  // Expressions.
  Value evaluate(const Expression&, const std::shared_ptr<Scope>&);
  Value call(const Value& callee, Arguments&);
  Value filter(const std::string& name, const Value&, Arguments&);
  bool test(const std::string& name, const Value&, Arguments&);
  Value attribute(const Value& object, const std::string& name);  // object.name, a dict's element too
  Value item(const Value& object, const Value& index);            // object[index]
  std::vector<Value> items(const Value&);  // what iterating gives; fails if it cannot be
  bool same(const Value&, const Value&);   // Python's ==
  void check_key(const Value&);            // fails if it cannot be a dict's key
  bool contains(const Value& container, const Value&);
  bool less(const Value&, const Value&, const char* sign = "<");
  Value add(const Value&, const Value&);
  Value binary(Operation, const Value&, const Value&);
  Value negate(const Value&);
  Value slice(const Value& object, const Value& start, const Value& stop, const Value& step);

  // As Python's str() and repr() write a value.
  std::string str(const Value&);
  std::string repr(const Value&);
  // What stands for `part` where it is put into the text `into`: escaped if that is markup.
  std::string text_for(const Value& into, const Value& part);
  Value undefined(const Value& object, const Value& index) const;  // for a missing element
  Value generator(std::vector<Value> items, std::string type = "generator");
  [[noreturn]] void use_of_undefined(const Value&) const;

  // For loops and macros.
  std::string loop_text(const Statement&, const std::shared_ptr<Scope>&, const Value& iterable, int depth);
  void assign(const Expression& target, const Value&, Scope&, const std::shared_ptr<Scope>& namespaces);
  void keep(std::shared_ptr<Scope>);
  void keep(std::shared_ptr<Object>);

 private:
  enum class Flow : std::uint8_t { normal, loop_break, loop_continue };
  friend class Loop;

  // statements.cpp
  Flow execute(const Body&, const std::shared_ptr<Scope>&);
  Flow execute(const Statement&, const std::shared_ptr<Scope>&);
  Flow condition(const Statement&, const std::shared_ptr<Scope>&);
  Flow loop(const Statement&, const std::shared_ptr<Scope>&, const Value& iterable, int depth);
  void block_set(const Statement&, const std::shared_ptr<Scope>&);
  void filter_block(const Statement&, const std::shared_ptr<Scope>&);
  Flow with(const Statement&, const std::shared_ptr<Scope>&);
  void define_macro(const Statement&, const std::shared_ptr<Scope>&);
  void call_block(const Statement&, const std::shared_ptr<Scope>&);
  Value make_macro(const Statement&, const std::shared_ptr<Scope>&, std::string name);
  Value call_macro(const Macro&, Arguments&);
  void bind_macro(const Macro&, Arguments&, Scope&);
  std::shared_ptr<Scope> inner(const std::shared_ptr<Scope>& parent, const std::vector<int>& hidden) const;
  template <class Function>
  std::string capture(Function);
  void write(std::string_view);
  void write(const Value&);

  // expressions.cpp
  Value evaluate_operation(const Expression&, const std::shared_ptr<Scope>&);
  Value name(const Expression&, Scope*);
  Value compare(const Expression&, const std::shared_ptr<Scope>&);
  Value list(const Expression&, const std::shared_ptr<Scope>&);
  Value dict(const Expression&, const std::shared_ptr<Scope>&);
  Value concatenate(const Expression&, const std::shared_ptr<Scope>&);
  Value subscript(const Expression&, const std::shared_ptr<Scope>&);
  Value call_expression(const Expression&, const std::shared_ptr<Scope>&, const Value* caller);
  Value filter_expression(const Expression&, const std::shared_ptr<Scope>&, const Value* block);
  Arguments arguments(const CallArguments&, const std::shared_ptr<Scope>&);
  std::optional<Value> object_attribute(const Value& object, const std::string& name);
  bool compare_once(Comparison, const Value&, const Value&);

  // operators.cpp
  Value arithmetic(Operation, const Value&, const Value&);
  Value whole_arithmetic(Operation, Int, Int);
  Value real_arithmetic(Operation, double, double);
  Value power(const Value&, const Value&);
  Value repeat(const Value&, Int);
  [[noreturn]] void unsupported_operands(const char* sign, const Value&, const Value&) const;

  // format.cpp
  void print(std::string&, const Value&, bool as_repr);
  void print_sequence(std::string&, const Sequence&);
  void print_dict(std::string&, const Dict&);
  void print_object(std::string&, const Value&);

  const Tree& tree_;
  std::vector<std::optional<Value>> context_;  // by symbol: the variables, then the global functions
  std::string* out_ = nullptr;
  std::vector<std::shared_ptr<Scope>> kept_scopes_;
  std::vector<std::shared_ptr<Object>> kept_objects_;
};

}  // namespace fovea::jinja
