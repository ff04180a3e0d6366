#include "engine/jinja/library.h"

#include <algorithm>

#include "engine/jinja/interpreter.h"

namespace fovea::jinja {
namespace {

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Native filter_named(const std::string& name, int line) {
  for (const NativeTable* table : {&string_filters(), &sequence_filters(), &value_filters()}) {
    if (const auto found = table->find(name); found != table->end()) return found->second;
  }
  const bool in_jinja2 = one_of(
      name, {"attr", "batch", "center", "filesizeformat", "forceescape", "groupby", "pprint", "random",
             "slice", "striptags", "truncate", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"});
  fail_at(line, in_jinja2 ? errors::jinja_left_out(phrases::jinja_filter(name))
                          : errors::jinja_unknown_filter(name));
}

Native test_named(const std::string& name, int line) {
  if (const auto found = tests().find(name); found != tests().end()) return found->second;
  const bool in_jinja2 = one_of(name, {"callable", "escaped", "filter", "lower", "test", "upper"});
  fail_at(line,
          in_jinja2 ? errors::jinja_left_out(phrases::jinja_test(name)) : errors::jinja_unknown_test(name));
}

void check_global(const std::string& name, int line) {
  if (one_of(name, {"cycler", "lipsum", "self"}))
    fail_at(line, errors::jinja_left_out(phrases::jinja_global(name)));
}

bool unsafe_attribute(const Value& object, std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return true;
  if (object.is_list())
    return one_of(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
  return object.is_dict() && one_of(name, {"clear", "pop", "popitem", "setdefault", "update"});
}

bool attribute_left_out(const Value& object, std::string_view name) {
  if (object.is_text()) {
    return one_of(
        name, {"casefold",    "center",  "encode",     "expandtabs", "format_map",   "index",     "isalnum",
               "isalpha",     "isascii", "isdecimal",  "isdigit",    "isidentifier", "islower",   "isnumeric",
               "isprintable", "isspace", "istitle",    "isupper",    "ljust",        "maketrans", "partition",
               "rindex",      "rjust",   "rpartition", "swapcase",   "translate",    "zfill"});
  }
  if (object.is_list()) return name == "copy";
  if (object.is_dict()) return name == "copy" || name == "fromkeys";
  if (object.is_number()) {
    return one_of(name, {"real", "imag", "numerator", "denominator", "conjugate", "bit_length", "bit_count",
                         "to_bytes", "from_bytes", "as_integer_ratio", "is_integer", "hex", "fromhex"});
  }
  if (object.is(SequenceKind::range)) return one_of(name, {"start", "stop", "step"});
  if (object.is_view()) return one_of(name, {"mapping", "isdisjoint"});
  if (object.as<Macro>())
    return one_of(name, {"arguments", "catch_kwargs", "catch_varargs", "caller", "explicit_caller"});
  return object.as<Generator>() &&
         one_of(name, {"send", "throw", "close", "gi_frame", "gi_code", "gi_running", "gi_yieldfrom"});
}

Bound::Bound(Interpreter& in, std::string_view function, const Arguments& a,
             std::initializer_list<std::string_view> names, std::size_t required)
    : in_(in), function_(function), names_(names), values_(names.size(), nullptr) {
  if (a.positional.size() > names_.size())
    in.run.fail(errors::jinja_many_arguments(function, names_.size(), a.positional.size()));
  for (std::size_t i = 0; i < a.positional.size(); ++i) values_[i] = &a.positional[i];
  for (const auto& [name, value] : a.keyword) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) in.run.fail(errors::jinja_unknown_argument(function, name));
    const auto i = static_cast<std::size_t>(found - names_.begin());
    if (values_[i]) in.run.fail(errors::jinja_argument_bound_twice(function, name));
    values_[i] = &value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!values_[i]) in.run.fail(errors::jinja_missing_argument(function, names_[i]));
  }
}

bool Bound::truth(std::size_t i, bool otherwise) const {
  return values_[i] ? jinja::truth(*values_[i]) : otherwise;
}

Int Bound::whole(std::size_t i, Int otherwise) const {
  if (!values_[i]) return otherwise;
  if (values_[i]->is_undefined()) in_.use_of_undefined(*values_[i]);
  if (!values_[i]->is_whole())
    in_.run.fail(errors::jinja_whole_argument(function_, names_[i], type_name(*values_[i])));
  return values_[i]->whole();
}

const std::string& Bound::text(std::size_t i, const std::string& otherwise) const {
  if (!values_[i]) return otherwise;
  if (!values_[i]->is_text())
    in_.run.fail(errors::jinja_string_argument(function_, names_[i], type_name(*values_[i])));
  return values_[i]->bytes();
}

}  // namespace fovea::jinja
