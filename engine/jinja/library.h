// What templates can call: filters, tests, methods and global functions.
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

const NativeTable& text_filters();
const NativeTable& sequence_filters();
const NativeTable& value_filters();
const NativeTable& tests();
const NativeTable& functions();

Native find_filter(std::string_view name);  // null if there is none
Native find_test(std::string_view name);
void check_filter(const std::string& name, int line);  // throws Failure
void check_test(const std::string& name, int line);

// A method of the value's type; null if there is none.
Native find_method(const Value& object, std::string_view name);
enum class Attribute : std::uint8_t { none, unsafe, unsupported };
// What Python says of a name that find_method does not know.
Attribute other_attribute(const Value& object, std::string_view name);

const NativeTable& text_methods();
const NativeTable& text_query_methods();

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
