#include "engine/jinja/library.h"

#include <algorithm>
#include <array>

#include "engine/jinja/failure.h"
#include "engine/jinja/interpreter.h"

namespace fovea::jinja {
namespace {

Native find_in(const NativeTable& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Jinja's own filters that no chat template has a use for, and why they are left out.
std::string_view reason_left_out(std::string_view name) {
  if (name == "random") return "' is not supported: the same conversation would give other prompts";
  if (name == "urlize") return "' is not supported";
  return "' is not known";
}

}  // namespace

Native find_filter(std::string_view name) {
  for (const NativeTable* table : {&text_filters(), &sequence_filters(), &value_filters()}) {
    if (const Native found = find_in(*table, name)) return found;
  }
  return nullptr;
}

Native find_test(std::string_view name) {
  return find_in(tests(), name);
}

void check_filter(const std::string& name, int line) {
  if (find_filter(name)) return;
  fail_at(line, "the filter '" + name + std::string(reason_left_out(name)), ErrorKind::unsupported);
}

void check_test(const std::string& name, int line) {
  if (!find_test(name)) fail_at(line, "the test '" + name + "' is not known", ErrorKind::unsupported);
}

Attribute other_attribute(const Value& object, std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return Attribute::unsafe;
  if (object.is_text() &&
      one_of(name, {"encode", "translate", "maketrans", "casefold", "isidentifier", "format_map"})) {
    return Attribute::unsupported;
  }
  if (object.is_list() &&
      one_of(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"})) {
    return Attribute::unsafe;
  }
  if (object.is_dict()) {
    if (one_of(name, {"clear", "pop", "popitem", "setdefault", "update"})) return Attribute::unsafe;
    if (name == "fromkeys") return Attribute::unsupported;
  }
  if (object.is_number() &&
      one_of(name, {"real", "imag", "numerator", "denominator", "conjugate", "bit_length", "bit_count",
                    "to_bytes", "from_bytes", "as_integer_ratio", "hex", "fromhex"})) {
    return Attribute::unsupported;
  }
  if (object.is(SequenceKind::range) && one_of(name, {"start", "stop", "step"}))
    return Attribute::unsupported;
  if (object.is_view() && one_of(name, {"mapping", "isdisjoint"})) return Attribute::unsupported;
  if (object.as<Macro>() &&
      one_of(name, {"arguments", "catch_kwargs", "catch_varargs", "caller", "explicit_caller"})) {
    return Attribute::unsupported;
  }
  if (object.as<Generator>() &&
      one_of(name, {"send", "throw", "close", "gi_frame", "gi_code", "gi_running", "gi_yieldfrom"})) {
    return Attribute::unsupported;
  }
  return Attribute::none;
}

Bound::Bound(Interpreter& in, std::string_view function, const Arguments& a,
             std::initializer_list<std::string_view> names, std::size_t required)
    : in_(in), function_(function), names_(names), values_(names.size(), nullptr) {
  if (a.positional.size() > names_.size()) {
    in.run.fail(function_ + "() takes at most " + std::to_string(names_.size()) + " arguments, " +
                std::to_string(a.positional.size()) + " are given");
  }
  for (std::size_t i = 0; i < a.positional.size(); ++i) values_[i] = &a.positional[i];
  for (const auto& [name, value] : a.keyword) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) in.run.fail(function_ + "() has no argument '" + name + "'");
    const auto i = static_cast<std::size_t>(found - names_.begin());
    if (values_[i]) in.run.fail(function_ + "() is given the argument '" + name + "' twice");
    values_[i] = &value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!values_[i]) in.run.fail(function_ + "() lacks its argument '" + std::string(names_[i]) + "'");
  }
}

bool Bound::truth(std::size_t i, bool otherwise) const {
  return values_[i] ? jinja::truth(*values_[i]) : otherwise;
}

Int Bound::whole(std::size_t i, Int otherwise) const {
  if (!values_[i]) return otherwise;
  if (values_[i]->is_undefined()) in_.use_of_undefined(*values_[i]);
  if (!values_[i]->is_whole()) {
    in_.run.fail(function_ + "() takes a whole number for '" + std::string(names_[i]) + "', not " +
                 type_name(*values_[i]));
  }
  return values_[i]->whole();
}

const std::string& Bound::text(std::size_t i, const std::string& otherwise) const {
  if (!values_[i]) return otherwise;
  if (!values_[i]->is_text()) {
    in_.run.fail(function_ + "() takes a string for '" + std::string(names_[i]) + "', not " +
                 type_name(*values_[i]));
  }
  return values_[i]->bytes();
}

}  // namespace fovea::jinja
