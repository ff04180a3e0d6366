// What templates can call: filters, tests, methods and global functions (template.h lists them).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/jinja/value.h"

namespace fovea::jinja {

class Interpreter;

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;

  bool empty() const { return positional.empty() && keyword.empty(); }
};

// A filter's or test's value, a method's object; nothing for a global function.
using Native = Value (*)(Interpreter&, const Value& self, Arguments&);
using NativeTable = std::unordered_map<std::string_view, Native>;

const NativeTable& string_filters();
const NativeTable& sequence_filters();
const NativeTable& value_filters();
const NativeTable& tests();
const NativeTable& string_methods();
const NativeTable& functions();

// These throw Failure for what does not exist here; it says whether jinja2 has it.
Native filter_named(const std::string& name, int line);
Native test_named(const std::string& name, int line);
void check_global(const std::string& name, int line);  // of a name that nothing has given a value

Native find_method(const Value& object, std::string_view name);  // null if there is none
// Of names that find_method does not know: whether the sandbox forbids them, whether Python has them.
bool unsafe_attribute(const Value& object, std::string_view name);
bool attribute_left_out(const Value& object, std::string_view name);

// A call's arguments by the names of the parameters, as Python binds them; null where one was not given.
class Bound {
 public:
  Bound(Interpreter&, std::string_view function, const Arguments&,
        std::initializer_list<std::string_view> names, std::size_t required = 0);
  const Value* operator[](std::size_t i) const { return values_[i]; }
  bool has(std::size_t i) const { return values_[i] && !values_[i]->is_none(); }  // given and not None
  // The argument, or its default.
  bool truth(std::size_t i, bool otherwise) const;
  Int whole(std::size_t i, Int otherwise) const;
  const std::string& text(std::size_t i, const std::string& otherwise) const;

 private:
  Interpreter& in_;
  std::string function_;
  std::vector<std::string_view> names_;
  std::vector<const Value*> values_;
};

}  // namespace fovea::jinja
