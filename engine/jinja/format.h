// Values in text: as Python writes them, in formats, and as JSON. Markup (what `safe` and `escape` give)
// escapes what is put into it.
#pragma once

#include <string>
#include <string_view>

#include "engine/jinja/library.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

// format % values, with %s, %d and %% alone.
Value percent_format(Interpreter&, const Value& format, const Value& values);
// format.format(...), with {}, {0}, {name}, {{ and }} alone.
Value brace_format(Interpreter&, const Value& format, Arguments&);

std::string escape(std::string_view);  // for HTML

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
// json.dumps
std::string to_json(Interpreter&, const Value&, const JsonStyle&);

}  // namespace fovea::jinja
