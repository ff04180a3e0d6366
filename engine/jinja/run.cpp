#include "engine/jinja/run.h"

#include <algorithm>

namespace fovea::jinja {

void Run::fail(Error error) const {
  fail_at(line, std::move(error));
}

void Run::steps_exhausted() const {
  fail(errors::jinja_steps(limits_.steps));
}

void Run::too_large() const {
  fail(errors::jinja_output(Bytes{limits_.output_bytes}));
}

void Run::too_deep() const {
  fail(errors::jinja_depth(limits_.depth));
}

void Run::check_height(int height) const {
  if (height > max_value_height) fail(errors::jinja_value_depth(max_value_height));
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
