#include "engine/jinja/interpreter.h"
#include "engine/jinja/literals.h"

namespace fovea::jinja {

std::string Interpreter::str(const Value& value) {
  std::string out;
  print(out, value, false);
  return out;
}

std::string Interpreter::repr(const Value& value) {
  std::string out;
  print(out, value, true);
  return out;
}

void Interpreter::print(std::string& out, const Value& value, bool as_repr) {
  const std::size_t before = out.size();
  if (value.is_undefined())
    out += as_repr ? "Undefined" : "";
  else if (value.is_none())
    out += "None";
  else if (value.is_boolean())
    out += value.boolean() ? "True" : "False";
  else if (value.is_integer())
    out += decimal(value.whole());
  else if (value.is_real())
    out += real_repr(value.real());
  else if (value.is_sequence())
    print_sequence(out, value.sequence());
  else if (value.is_dict())
    print_dict(out, value.dict());
  else if (value.is_object())
    print_object(out, value);
  else if (!as_repr)
    out += value.bytes();
  else if (value.text().markup)
    out += "Markup(" + text_repr(value.bytes()) + ")";
  else
    out += text_repr(value.bytes());
  if (value.is_text()) run.work(out.size() - before);
  run.step();
  run.check_size(out.size());
}

void Interpreter::print_sequence(std::string& out, const Sequence& s) {
  const Run::Level level(run);
  if (s.kind == SequenceKind::range) {
    out += "range(" + decimal(s.start) + ", " + decimal(s.stop);
    if (s.step != 1) out += ", " + decimal(s.step);
    out += ")";
    return;
  }
  const bool tuple = s.kind == SequenceKind::tuple;
  if (s.kind == SequenceKind::keys) out += "dict_keys(";
  if (s.kind == SequenceKind::values) out += "dict_values(";
  if (s.kind == SequenceKind::items) out += "dict_items(";
  out += tuple ? '(' : '[';
  for (std::size_t i = 0; i < s.items.size(); ++i) {
    if (i > 0) out += ", ";
    print(out, s.items[i], true);
  }
  if (tuple && s.items.size() == 1) out += ',';
  out += tuple ? ')' : ']';
  if (s.kind >= SequenceKind::keys) out += ')';
}

void Interpreter::print_dict(std::string& out, const Dict& dict) {
  const Run::Level level(run);
  out += '{';
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) out += ", ";
    first = false;
    print(out, key, true);
    out += ": ";
    print(out, value, true);
  }
  out += '}';
}

void Interpreter::print_object(std::string& out, const Value& value) {
  const Run::Level level(run);
  if (const auto space = value.as<Namespace>()) {
    out += "<Namespace ";
    print_dict(out, space->attributes);
    out += '>';
  } else if (const auto macro = value.as<Macro>()) {
    out += macro->definition->type == StatementType::macro ? "<Macro " + text_repr(macro->name) + ">"
                                                           : "<Macro anonymous>";
  } else if (const auto loop = value.as<Loop>()) {
    out += "<LoopContext " + decimal(loop->index0() + 1) + "/" + decimal(loop->length()) + ">";
  } else {
    // Python would write an address here.
    run.fail("a " + type_name(value) + " has no text (make a list of it, or call it)");
  }
}

}  // namespace fovea::jinja
