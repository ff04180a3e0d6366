// A template's syntax tree, and how all parts of the interpreter give up. The tree is immutable once parsed,
// so any number of threads may render it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/jinja/errors.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

// Caught where templates are compiled and run, and given its template's place.
struct Failure {
  int line = 0;
  Error error;
};

[[noreturn]] inline void fail_at(int line, Error error) {
  throw Failure{line, std::move(error)};
}

struct Expression;
struct Statement;
using ExpressionPointer = std::unique_ptr<Expression>;
using Body = std::vector<std::unique_ptr<Statement>>;

enum class Operation : std::uint8_t {
  constant,
  name,
  list,
  tuple,
  dict,  // parts: the items (of a dict: key, value, key, value …)
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,  // parts: left, right
  negate,
  plus,
  logical_not,  // parts: operand
  logical_and,
  logical_or,           // parts: left, right
  concatenate,          // parts: two or more
  compare,              // parts: the operands; comparisons: what stands between them
  condition,            // parts: test, then[, else]
  attribute,            // parts: object; text: name
  item,                 // parts: object, index
  slice,                // parts: start, stop, step; each may be null
  call,                 // parts: callee; arguments
  filter,               // parts: value (null in a filter block); text: name; arguments
  test,                 // parts: value; text: name; arguments
  namespace_attribute,  // only as a target: text: attribute; symbol: the namespace
};

enum class Comparison : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

struct CallArguments {
  std::vector<ExpressionPointer> positional;
  std::vector<std::pair<std::string, ExpressionPointer>> keyword;
  ExpressionPointer star;         // *list
  ExpressionPointer double_star;  // **dict
};

struct Expression {
  Operation operation = Operation::constant;
  int line = 0;
  int height = 1;   // levels of the tree, itself included
  int symbol = -1;  // of a name: its number in Tree::names
  std::string text;
  Value constant;
  std::vector<ExpressionPointer> parts;
  std::vector<Comparison> comparisons;
  std::unique_ptr<CallArguments> arguments;
};

enum class StatementType : std::uint8_t {
  data,          // text
  output,        // expression
  condition,     // branches, otherwise
  loop,          // target, expression, test, body, otherwise
  assignment,    // target, expression
  block_set,     // target, expression (a filter chain or null), body
  macro,         // symbol, signature, body
  call_block,    // signature, expression (a call), body
  filter_block,  // expression (a filter chain), body
  with,          // targets and values, body
  generation,    // body
  loop_break,
  loop_continue,
};

struct Parameter {
  int symbol = -1;
  std::string name;
  ExpressionPointer fallback;  // null where there is none
};

struct Signature {
  std::vector<Parameter> parameters;
  bool uses_caller = false;      // the body names `caller`
  bool explicit_caller = false;  // a parameter has that name
};

struct Branch {
  ExpressionPointer test;
  Body body;
};

struct Statement {
  StatementType type = StatementType::data;
  int line = 0;
  int symbol = -1;
  bool recursive = false;
  std::string text;
  ExpressionPointer target;
  ExpressionPointer expression;
  ExpressionPointer test;
  std::vector<Branch> branches;
  std::vector<std::pair<ExpressionPointer, ExpressionPointer>> bindings;
  Signature signature;
  Body body;
  Body otherwise;
  // Names that this statement's own scope hides until it assigns them.
  std::vector<int> hidden;
  std::vector<int> hidden_otherwise;
};

struct Tree {
  std::vector<std::string> names;
  Body body;
  std::vector<int> hidden;
};

// Symbols that the evaluator itself needs; the parser gives them these numbers.
enum WellKnown : int { symbol_loop, symbol_caller };

// Throws Failure. Nesting is bounded, so neither parsing nor rendering nor deleting can exhaust the stack.
Tree parse(std::string_view source);

// What jinja2 decides about names when it compiles a template. Fills in every `hidden` list: the names that a
// scope assigns before it reads them. Throws Failure for unknown filters and tests outside of conditional
// code.
void resolve_scopes(Tree&);
// Whether the statements read the name before they assign it, nested scopes included: as they run, or as
// jinja2 looks for it, to which an assignment's target comes before its value.
bool reads(const Body&, int symbol);
bool mentions(const Body&, int symbol);

}  // namespace fovea::jinja
