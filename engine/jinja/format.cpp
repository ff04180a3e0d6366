#include "engine/jinja/format.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/literals.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

constexpr Int max_width = 1 << 20;
constexpr int max_precision = 500;

struct Spec {
  std::string fill = " ";
  char align = '\0';  // < > = ^
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  char grouping = '\0';
  Int width = 0;
  std::optional<int> precision;
  char type = '\0';
};

std::string digits_of(Int value, int base, bool upper_case) {
  if (base == 10) return decimal(value);
  std::string out;
  const char* letters = upper_case ? "0123456789ABCDEF" : "0123456789abcdef";
  for (Int rest = value; rest != 0; rest /= base)
    out.insert(out.begin(), letters[static_cast<int>(rest % base)]);
  return out.empty() ? "0" : out;
}

std::string real_digits(double magnitude, char type, int precision, bool alternate) {
  if (std::isnan(magnitude) || std::isinf(magnitude)) {
    const bool big = type >= 'A' && type <= 'Z';
    return std::isnan(magnitude) ? (big ? "NAN" : "nan") : (big ? "INF" : "inf");
  }
  const std::string shape = std::string(alternate ? "%#.*" : "%.*") + type;
  const char* format = shape.c_str();
  const int size = std::snprintf(nullptr, 0, format, precision, magnitude);
  std::string out(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(out.data(), out.size(), format, precision, magnitude);
  out.pop_back();
  return out;
}

void group(std::string& digits, char separator, std::size_t every) {
  std::size_t end = 0;
  while (end < digits.size() &&
         ((digits[end] >= '0' && digits[end] <= '9') || (digits[end] >= 'a' && digits[end] <= 'f')))
    ++end;
  for (std::size_t at = end; at > every; at -= every) digits.insert(at - every, 1, separator);
}

std::string pad(Interpreter& in, const Spec& spec, const std::string& prefix, const std::string& body,
                char align) {
  const Int length = count_points(prefix) + count_points(body);
  if (spec.width <= length) return prefix + body;
  in.run.check_size(spec.width, spec.fill.size());
  const Int missing = spec.width - length;
  const auto fill = [&](Int count) {
    std::string out;
    for (Int i = 0; i < count; ++i) out += spec.fill;
    return out;
  };
  in.run.work(static_cast<std::size_t>(missing));
  if (align == '<') return prefix + body + fill(missing);
  if (align == '=') return prefix + fill(missing) + body;
  if (align == '^') return fill(missing / 2) + prefix + body + fill(missing - missing / 2);
  return fill(missing) + prefix + body;
}

std::string sign_prefix(const Spec& spec, bool negative) {
  if (negative) return "-";
  return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

std::string format_whole(Interpreter& in, const Spec& spec, Int value) {
  const bool negative = value < 0;
  const char type = spec.type == '\0' || spec.type == 'n' ? 'd' : spec.type;
  const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  std::string digits = decimal(value);
  if (base == 10) {
    if (negative) digits.erase(0, 1);
  } else {
    if (value == static_cast<Int>(1) << 127) in.run.fail("the number has more than 128 bits");
    digits = digits_of(negative ? -value : value, base, type == 'X');
  }
  if (spec.grouping) group(digits, spec.grouping, base == 10 ? 3 : 4);
  std::string prefix = sign_prefix(spec, negative);
  if (spec.alternate && base != 10) prefix += std::string("0") + type;
  return pad(in, spec, prefix, digits, spec.align ? spec.align : spec.zero ? '=' : '>');
}

std::string format_real(Interpreter& in, const Spec& spec, double value) {
  const bool percent = spec.type == '%';
  if (percent) value *= 100;
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::abs(value);
  std::string digits;
  if (spec.type == '\0' && !spec.precision) {
    digits = real_repr(magnitude);
  } else if (spec.type == '\0') {
    digits = real_digits(magnitude, 'g', *spec.precision == 0 ? 1 : *spec.precision, false);
    const bool exponent = digits.find_first_of("en") != std::string::npos;
    if (!exponent && digits.find('.') == std::string::npos) {
      // Python shows at least one digit behind the point, or an exponent where that would be too many digits.
      if (static_cast<int>(digits.size()) >= std::max(1, *spec.precision))
        digits = real_digits(magnitude, 'e', std::max(0, *spec.precision - 1), false);
      else
        digits += ".0";
    }
  } else {
    const char type = percent ? 'f' : spec.type == 'n' ? 'g' : spec.type;
    digits = real_digits(magnitude, type, spec.precision.value_or(6), spec.alternate);
  }
  if (spec.grouping) group(digits, spec.grouping, 3);
  if (percent) digits += '%';
  return pad(in, spec, sign_prefix(spec, negative), digits, spec.align ? spec.align : spec.zero ? '=' : '>');
}

std::string cut(const std::string& text, const std::optional<int>& precision) {
  return precision ? text.substr(0, byte_offset(text, *precision)) : text;
}

bool is_real_type(char c) {
  return c != '\0' && std::string_view("eEfFgG%n").find(c) != std::string_view::npos;
}
bool is_whole_type(char c) {
  return c != '\0' && std::string_view("bdoxXn").find(c) != std::string_view::npos;
}

// A replacement field's format, after the colon.
class SpecReader {
 public:
  SpecReader(Interpreter& in, std::string_view text) : in_(in), text_(text) {}

  Spec read() {
    Spec spec;
    fill_and_align(spec);
    if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text_[at_++];
    if (peek() == '#') spec.alternate = ++at_ > 0;
    if (peek() == '0' && !spec.align) {
      spec.zero = ++at_ > 0;
      spec.fill = "0";
    }
    spec.width = number(max_width);
    if (peek() == ',' || peek() == '_') spec.grouping = text_[at_++];
    if (peek() == '.') {
      ++at_;
      if (peek() < '0' || peek() > '9') in_.run.fail("the format lacks its precision");
      spec.precision = static_cast<int>(number(max_precision));
    }
    if (at_ < text_.size()) spec.type = text_[at_++];
    if (at_ != text_.size()) in_.run.fail("the format '" + std::string(text_) + "' is not understood");
    return spec;
  }

 private:
  static bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void fill_and_align(Spec& spec) {
    std::size_t next = at_;
    if (text_.empty()) return;
    next_point(text_, next);
    if (next < text_.size() && is_align(text_[next])) {
      spec.fill = text_.substr(0, next);
      spec.align = text_[next];
      at_ = next + 1;
    } else if (is_align(peek())) {
      spec.align = text_[at_++];
    }
  }

  Int number(Int most) {
    Int value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      value = value * 10 + (text_[at_] - '0');
      if (value > most) in_.run.fail("a format's width or precision is larger than " + decimal(most));
    }
    return value;
  }

  Interpreter& in_;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string format_value(Interpreter& in, const Value& value, std::string_view text) {
  if (text.empty()) return in.str(value);
  Spec spec = SpecReader(in, text).read();
  if (value.is_number() && !(value.is_boolean() && spec.type == '\0')) {
    const bool as_real = value.is_real() || (is_real_type(spec.type) && spec.type != 'n');
    if (as_real && (spec.type == '\0' || is_real_type(spec.type)))
      return format_real(in, spec, value.number());
    if (!as_real && !spec.precision && (spec.type == '\0' || is_whole_type(spec.type)))
      return format_whole(in, spec, value.whole());
  } else if (value.is_text() || value.is_boolean()) {
    const bool plain = !spec.grouping && !spec.alternate && spec.sign == '-' && spec.align != '=';
    if (plain && (spec.type == '\0' || spec.type == 's')) {
      return pad(in, spec, {}, cut(in.str(value), spec.precision), spec.align ? spec.align : '<');
    }
  }
  in.run.fail("the format '" + std::string(text) + "' does not fit a value of type " + type_name(value));
}

class BraceFormat {
 public:
  BraceFormat(Interpreter& in, const Arguments& arguments) : in_(in), arguments_(arguments) {}

  std::string run(std::string_view format, int depth) {
    if (depth > 2) in_.run.fail("the format's fields are nested too deeply");
    std::string out;
    for (std::size_t at = 0; at < format.size();) {
      const char c = format[at++];
      if (c != '{' && c != '}') {
        out += c;
      } else if (at < format.size() && format[at] == c) {
        out += c;
        ++at;
      } else if (c == '}') {
        in_.run.fail("the format has a single '}'");
      } else {
        out += field(format, at, depth);
      }
      in_.run.check_size(out.size());
    }
    return out;
  }

 private:
  std::string field(std::string_view format, std::size_t& at, int depth) {
    const std::size_t begin = at;
    int open = 1;
    for (; at < format.size() && open > 0; ++at) open += format[at] == '{' ? 1 : format[at] == '}' ? -1 : 0;
    if (open > 0) in_.run.fail("the format has a '{' without its '}'");
    std::string_view field = format.substr(begin, at - begin - 1);
    std::size_t end = 0;
    for (bool bracket = false; end < field.size() && (bracket || (field[end] != ':' && field[end] != '!'));
         ++end) {
      if (field[end] == '[') bracket = true;
      if (field[end] == ']') bracket = false;
    }
    Value value = lookup(field.substr(0, end));
    std::string_view rest = field.substr(end);
    if (rest.starts_with('!')) {
      if (rest.size() < 2 || (rest.size() > 2 && rest[2] != ':'))
        in_.run.fail("the format's conversion is not understood");
      if (rest[1] == 'r')
        value = in_.run.text(in_.repr(value));
      else if (rest[1] == 's')
        value = in_.run.text(in_.str(value));
      else
        in_.run.fail("the format's conversion is not understood");
      rest.remove_prefix(2);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    return format_value(in_, value, run(rest, depth + 1));
  }

  Value lookup(std::string_view path) {
    const std::size_t end = path.find_first_of(".[");
    Value value = first(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
    while (!path.empty()) {
      in_.run.step();
      if (path[0] == '.') {
        const std::size_t stop = std::min(path.find_first_of(".[", 1), path.size());
        if (stop == 1) in_.run.fail("the format has an empty attribute");
        value = in_.attribute(value, std::string(path.substr(1, stop - 1)));
        path.remove_prefix(stop);
        continue;
      }
      const std::size_t close = path.find(']');
      if (path[0] != '[' || close == std::string_view::npos || close == 1)
        in_.run.fail("the format's field is not understood");
      const std::string key(path.substr(1, close - 1));
      Int index = 0;
      const bool number = key.find_first_not_of("0123456789") == std::string::npos &&
                          read_integer(key, 10, index) == ReadError::none;
      value = in_.item(value, number ? Value::integer(index) : Value::text(key));
      path.remove_prefix(close + 1);
    }
    return value;
  }

  Value first(std::string_view name) {
    const bool number = name.find_first_not_of("0123456789") == std::string_view::npos;
    if (!number) {
      for (const auto& [key, value] : arguments_.keyword) {
        if (key == name) return value;
      }
      in_.run.fail("the format names '" + std::string(name) + "', which is not given");
    }
    Int index = 0;
    if (name.empty() == manual_ && used_) in_.run.fail("the format mixes numbered and unnumbered fields");
    manual_ = !name.empty();
    used_ = true;
    if (name.empty())
      index = next_++;
    else if (read_integer(name, 10, index) != ReadError::none)
      in_.run.fail("the format's field is not understood");
    if (index >= static_cast<Int>(arguments_.positional.size()))
      in_.run.fail("the format has more fields than values");
    return arguments_.positional[static_cast<std::size_t>(index)];
  }

  Interpreter& in_;
  const Arguments& arguments_;
  Int next_ = 0;
  bool used_ = false;
  bool manual_ = false;
};

// The old way: %s and its relatives.
class PercentFormat {
 public:
  PercentFormat(Interpreter& in, const Value& values) : in_(in), values_(values) {}

  std::string run(std::string_view format) {
    std::string out;
    for (std::size_t at = 0; at < format.size();) {
      if (format[at] != '%') {
        const std::size_t end = std::min(format.find('%', at), format.size());
        out += format.substr(at, end - at);
        at = end;
        continue;
      }
      ++at;
      if (at < format.size() && format[at] == '%') {
        out += '%';
        ++at;
        continue;
      }
      out += conversion(format, at);
      in_.run.check_size(out.size());
    }
    // Python checks this only for what cannot be subscripted with names.
    const bool mapping =
        values_.is_dict() || values_.is_list() || values_.is(SequenceKind::range) || values_.is_undefined();
    if (!named_ && !mapping && next_ < count()) in_.run.fail("not all values are used by the format");
    return out;
  }

 private:
  std::size_t count() const { return values_.is_tuple() ? values_.sequence().items.size() : 1; }

  Value take() {
    if (next_ >= count()) in_.run.fail("the format has more fields than values");
    const std::size_t i = next_++;
    return values_.is_tuple() ? values_.sequence().items[i] : values_;
  }

  Value named(std::string_view format, std::size_t& at) {
    const std::size_t close = format.find(')', at);
    if (close == std::string_view::npos) in_.run.fail("the format has a '(' without its ')'");
    if (!values_.is_dict()) in_.run.fail("a format with names needs a dict");
    const Value* found = values_.dict().find(format.substr(at + 1, close - at - 1));
    if (!found)
      in_.run.fail("the format names '" + std::string(format.substr(at + 1, close - at - 1)) +
                   "', which is not given");
    at = close + 1;
    named_ = true;
    return *found;
  }

  Int number(std::string_view format, std::size_t& at, Int most) {
    if (at < format.size() && format[at] == '*') {
      ++at;
      const Value value = take();
      if (!value.is_whole()) in_.run.fail("'*' in a format needs a whole number");
      if (value.whole() > most || value.whole() < -most)
        in_.run.fail("a format's width or precision is larger than " + decimal(most));
      return value.whole();
    }
    Int value = 0;
    for (; at < format.size() && format[at] >= '0' && format[at] <= '9'; ++at) {
      value = value * 10 + (format[at] - '0');
      if (value > most) in_.run.fail("a format's width or precision is larger than " + decimal(most));
    }
    return value;
  }

  std::string conversion(std::string_view format, std::size_t& at) {
    Spec spec;
    std::optional<Value> value;
    if (at < format.size() && format[at] == '(') value = named(format, at);
    bool left = false;
    for (; at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos; ++at) {
      if (format[at] == '-') left = true;
      if (format[at] == '+' || (format[at] == ' ' && spec.sign != '+')) spec.sign = format[at];
      if (format[at] == '#') spec.alternate = true;
      if (format[at] == '0') spec.zero = true;
    }
    spec.width = number(format, at, max_width);
    if (spec.width < 0) {
      left = true;
      spec.width = -spec.width;
    }
    if (at < format.size() && format[at] == '.')
      spec.precision = std::max(0, static_cast<int>(number(format, ++at, max_precision)));
    while (at < format.size() && (format[at] == 'l' || format[at] == 'h' || format[at] == 'L')) ++at;
    if (at >= format.size()) in_.run.fail("the format ends in the middle of a field");
    spec.type = format[at++];
    spec.align = left ? '<' : '>';
    return convert(spec, value ? *value : take(), left);
  }

  std::string convert(Spec spec, const Value& value, bool left) {
    const char type = spec.type;
    if (type == 's' || type == 'r') {
      return pad(in_, spec, {}, cut(type == 's' ? in_.str(value) : in_.repr(value), spec.precision),
                 spec.align);
    }
    if (type == 'c') return character(spec, value);
    const bool real_type = is_real_type(type) && type != '%' && type != 'n';
    if (!real_type && std::string_view("diuxXo").find(type) == std::string_view::npos) {
      in_.run.fail(std::string("the format '%") + type + "' is not understood");
    }
    if (value.is_undefined()) in_.use_of_undefined(value);
    if (!value.is_number())
      in_.run.fail(std::string("the format '%") + type + "' needs a number, not " + type_name(value));
    if (spec.zero && !left) {
      spec.fill = "0";
      spec.align = '=';
    }
    if (real_type) return format_real(in_, spec, value.number());
    return whole(spec, value);
  }

  std::string character(const Spec& spec, const Value& value) {
    std::string text;
    if (value.is_text() && value.text().length == 1)
      text = value.bytes();
    else if (value.is_whole() && value.whole() >= 0 && value.whole() < 0x110000 &&
             (value.whole() < 0xD800 || value.whole() > 0xDFFF))
      append_point(text, static_cast<char32_t>(value.whole()));
    else
      in_.run.fail("the format '%c' needs a character");
    return pad(in_, spec, {}, text, spec.align);
  }

  std::string whole(Spec spec, const Value& value) {
    const bool hexadecimal = spec.type != 'd' && spec.type != 'i' && spec.type != 'u';
    if (value.is_real() &&
        (hexadecimal || !std::isfinite(value.real()) || std::abs(value.real()) >= 0x1p126)) {
      in_.run.fail("the format needs a whole number");
    }
    const Int number = value.is_real() ? static_cast<Int>(value.real()) : value.whole();
    if (!hexadecimal) spec.type = 'd';
    if (spec.precision) {
      if (spec.alternate) in_.run.fail("the format is not understood");
      Spec inner;
      inner.type = spec.type;
      inner.fill = "0";
      inner.align = '=';
      inner.width = *spec.precision;
      const std::string digits = format_whole(in_, inner, number < 0 ? -number : number);
      return pad(in_, spec, sign_prefix(spec, number < 0), digits, spec.align);
    }
    return format_whole(in_, spec, number);
  }

  Interpreter& in_;
  const Value& values_;
  std::size_t next_ = 0;
  bool named_ = false;
};

}  // namespace

Value percent_format(Interpreter& in, const Value& format, const Value& values) {
  in.run.work(format.bytes().size());
  return in.run.text(PercentFormat(in, values).run(format.bytes()), format.text().markup);
}

Value brace_format(Interpreter& in, const Value& format, const Arguments& arguments) {
  in.run.work(format.bytes().size());
  return in.run.text(BraceFormat(in, arguments).run(format.bytes(), 0), format.text().markup);
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

}  // namespace fovea::jinja
