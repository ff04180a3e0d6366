#include "engine/jinja/format.h"

#include <algorithm>
#include <cmath>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/literals.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

Int whole_for_format(Interpreter& in, const Value& value) {
  if (value.is_undefined()) in.use_of_undefined(value);
  if (!value.is_number()) in.run.fail(errors::jinja_format_number(type_name(value)));
  if (value.is_whole()) return value.whole();
  if (!std::isfinite(value.real()) || std::abs(value.real()) >= 0x1p126)
    in.run.fail(errors::jinja_format_large());
  return static_cast<Int>(value.real());
}

// A field's name may be made by the template, of any length.
std::string shown(std::string_view name) {
  return std::string(name.substr(0, byte_offset(name, 60)));
}

[[noreturn]] void unknown_field(Interpreter& in, std::string_view format, std::size_t at) {
  std::size_t end = std::min(format.find_first_not_of("-+ #.*0123456789", at + 1), format.size());
  if (end == format.size()) in.run.fail(errors::jinja_format_cut());
  next_point(format, end);
  in.run.fail(errors::jinja_left_out(phrases::jinja_field(shown(format.substr(at, end - at)))));
}

// What str.format puts into its fields: by position, counted or given, or by name.
class Fields {
 public:
  Fields(Interpreter& in, const Arguments& arguments) : in_(in), arguments_(arguments) {}

  const Value& value(std::string_view name) {
    if (name.find_first_of(":!.[{") != std::string_view::npos)
      in_.run.fail(errors::jinja_left_out(phrases::jinja_field("{" + shown(name) + "}")));
    if (name.find_first_not_of("0123456789") != std::string_view::npos) return named(name);
    const bool counted = name.empty();
    if (counted ? given_ : counted_) in_.run.fail(errors::jinja_format_mixed());
    (counted ? counted_ : given_) = true;
    Int index = 0;
    if (counted)
      index = next_++;
    else if (read_integer(name, index) != ReadError::none)
      index = static_cast<Int>(arguments_.positional.size());
    if (index >= static_cast<Int>(arguments_.positional.size())) in_.run.fail(errors::jinja_format_fields());
    return arguments_.positional[static_cast<std::size_t>(index)];
  }

 private:
  const Value& named(std::string_view name) const {
    for (const auto& [key, value] : arguments_.keyword) {
      if (key == name) return value;
    }
    in_.run.fail(errors::jinja_format_name(shown(name)));
  }

  Interpreter& in_;
  const Arguments& arguments_;
  Int next_ = 0;
  bool counted_ = false;
  bool given_ = false;
};

}  // namespace

Value percent_format(Interpreter& in, const Value& format, const Value& values) {
  const std::string_view text = format.bytes();
  const bool tuple = values.is_tuple();
  const std::size_t count = tuple ? values.sequence().items.size() : 1;
  std::size_t next = 0;
  std::string out;
  in.run.work(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t field = std::min(text.find('%', at), text.size());
    out += text.substr(at, field - at);
    at = field + 2;
    if (field == text.size()) break;
    const char type = field + 1 < text.size() ? text[field + 1] : '\0';
    if (type == '%') {
      out += '%';
      continue;
    }
    if (type != 's' && type != 'd') unknown_field(in, text, field);
    if (next >= count) in.run.fail(errors::jinja_format_fields());
    const Value& value = tuple ? values.sequence().items[next] : values;
    ++next;
    out += type == 's' ? in.text_for(format, value) : decimal(whole_for_format(in, value));
    in.run.check_size(out.size());
  }
  // Python checks this only for what cannot be subscripted with names.
  const bool mapping =
      values.is_dict() || values.is_list() || values.is(SequenceKind::range) || values.is_undefined();
  if (!mapping && next < count) in.run.fail(errors::jinja_format_values());
  return in.run.text(std::move(out), format.text().markup);
}

Value brace_format(Interpreter& in, const Value& format, Arguments& arguments) {
  const std::string_view text = format.bytes();
  Fields fields(in, arguments);
  std::string out;
  in.run.work(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '{' && c != '}') {
      out += c;
    } else if (at < text.size() && text[at] == c) {
      out += c;
      ++at;
    } else {
      const std::size_t close = c == '{' ? text.find('}', at) : std::string_view::npos;
      if (close == std::string_view::npos) in.run.fail(errors::jinja_format_brace(std::string(1, c)));
      out += in.text_for(format, fields.value(text.substr(at, close - at)));
      at = close + 1;
    }
    in.run.check_size(out.size());
  }
  return in.run.text(std::move(out), format.text().markup);
}

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Interpreter::text_for(const Value& into, const Value& part) {
  const bool as_it_is = !into.text().markup || (part.is_text() && part.text().markup);
  return as_it_is ? str(part) : escape(str(part));
}

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
    run.fail(errors::jinja_no_text(type_name(value)));
  }
}

}  // namespace fovea::jinja
