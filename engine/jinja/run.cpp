#include "engine/jinja/run.h"

#include <algorithm>

namespace fovea::jinja {

void Run::fail(std::string what, ErrorKind kind) const {
  throw Failure{kind, line, std::move(what), {}};
}

void Run::steps_exhausted() const {
  throw Failure{ErrorKind::invalid, line,
                "the template took more than " + std::to_string(limits_.steps) + " steps",
                "It may loop without end; choose another template"};
}

void Run::too_large() const {
  throw Failure{ErrorKind::invalid, line,
                "the template made more than " + std::to_string(limits_.output_bytes) + " bytes of output",
                "Shorten the conversation or choose another template"};
}

void Run::too_deep() const {
  throw Failure{
      ErrorKind::invalid, line,
      "the template is nested more than " + std::to_string(limits_.depth) + " levels deep while it runs",
      "A macro or a loop may call itself without end; choose another template"};
}

void Run::check_height(int height) const {
  if (height > max_value_height) {
    fail("a value is nested more than " + std::to_string(max_value_height) + " levels deep");
  }
}

Value Run::text(std::string bytes, bool markup) {
  check_size(bytes.size());
  work(bytes.size());
  return Value::text(std::move(bytes), markup);
}

Value Run::list(std::vector<Value> items, SequenceKind kind) {
  check_size(items.size(), sizeof(Value));
  work(items.size() * sizeof(Value));
  auto sequence = std::make_shared<Sequence>();
  sequence->kind = kind;
  sequence->items = std::move(items);
  measure(*sequence);
  check_height(sequence->height);
  return Value::sequence(std::move(sequence));
}

Value Run::dict(Dict d) {
  check_height(d.height());
  work(d.size() * 2 * sizeof(Value));
  return Value::dict(std::make_shared<const Dict>(std::move(d)));
}

}  // namespace fovea::jinja
