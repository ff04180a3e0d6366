#include "engine/jinja/literals.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

bool digit_in(char c, int base) {
  int value = 99;
  if (c >= '0' && c <= '9')
    value = c - '0';
  else if (c >= 'a' && c <= 'z')
    value = c - 'a' + 10;
  else if (c >= 'A' && c <= 'Z')
    value = c - 'A' + 10;
  return value < base;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return (c >= 'a' ? c - 'a' : c - 'A') + 10;
}

// Where digits of `base` with single underscores between them end.
std::size_t digits_end(std::string_view text, std::size_t at, int base) {
  while (at < text.size()) {
    if (digit_in(text[at], base))
      ++at;
    else if (text[at] == '_' && at + 1 < text.size() && digit_in(text[at + 1], base))
      at += 2;
    else
      break;
  }
  return at;
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_') out += c;
  }
  return out;
}

// Where a decimal literal with a fraction or an exponent ends; 0 if it is not one.
std::size_t real_end(std::string_view text) {
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::size_t at = digits_end(text, 0, 10);
  bool real = false;
  if (at < text.size() && text[at] == '.' && digit(at + 1)) {
    at = digits_end(text, at + 1, 10);
    real = true;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 1 : 0;
    if (digit(at + 1 + sign)) return digits_end(text, at + 1 + sign, 10);
  }
  return real ? at : 0;
}

double to_double(const std::string& digits) {
  return std::strtod(digits.c_str(), nullptr);
}

int hex_value(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 16 + digit_value(c);
  return value;
}

void append_hex(std::string& out, char32_t point) {
  char buffer[16];
  const char* format = point > 0xFFFF ? "\\U%08x" : point > 0xFF ? "\\u%04x" : "\\x%02x";
  std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(point));
  out += buffer;
}

// \xhh, \uhhhh, \Uhhhhhhhh; `at` is behind the letter.
std::string hex_escape(std::string_view text, std::size_t& at, std::size_t digits, std::string& out) {
  std::size_t end = at;
  while (end < text.size() && end < at + digits && digit_in(text[end], 16)) ++end;
  if (end != at + digits) return "the string has an escape with too few hexadecimal digits";
  if (digits == 8 && text[at] != '0') return "the string has an escape beyond Unicode";
  const int point = hex_value(text.substr(at, digits));
  if (point > 0x10FFFF) return "the string has an escape beyond Unicode";
  if (point >= 0xD800 && point < 0xE000) return "the string has an escape for half a surrogate pair";
  append_point(out, static_cast<char32_t>(point));
  at = end;
  return {};
}

void octal_escape(std::string_view text, std::size_t& at, std::string& out) {
  char32_t point = 0;
  for (const std::size_t end = at + 3; at < end && at < text.size() && digit_in(text[at], 8); ++at) {
    point = point * 8 + static_cast<char32_t>(text[at] - '0');
  }
  append_point(out, point);
}

}  // namespace

NumberLiteral read_number(std::string_view text, bool after_dot) {
  NumberLiteral literal;
  if (const std::size_t end = after_dot ? 0 : real_end(text)) {
    literal.size = end;
    literal.value = Value::real(to_double(without_underscores(text.substr(0, end))));
    return literal;
  }
  int base = 10;
  std::size_t begin = 0;
  if (text[0] == '0' && text.size() > 1) {
    const char letter = static_cast<char>(text[1] | 0x20);
    const int wanted = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 10;
    const std::size_t first = text.size() > 2 && text[2] == '_' ? 3 : 2;
    if (wanted != 10 && first < text.size() && digit_in(text[first], wanted)) {
      base = wanted;
      begin = first;
    }
  }
  literal.size = base == 10 && text[0] == '0' ? digits_end(text, 0, 1) : digits_end(text, begin, base);
  Int value = 0;
  if (read_integer(text.substr(begin, literal.size - begin), base, value) != ReadError::none) {
    literal.error = "the number has more than 128 bits";
  }
  literal.value = Value::integer(value);
  return literal;
}

std::string unescape(std::string_view text, std::string& out) {
  static constexpr std::string_view letters = "\\'\"abfnrtv\n";
  static constexpr std::string_view means = "\\'\"\a\b\f\n\r\t\v";
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (++at >= text.size()) return "the string ends with a backslash";
    const char c = text[at];
    if (const std::size_t found = letters.find(c); found != std::string_view::npos) {
      if (found < means.size()) out += means[found];
      ++at;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at;
      std::string error = hex_escape(text, at, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
      if (!error.empty()) return error;
    } else if (c >= '0' && c <= '7') {
      octal_escape(text, at, out);
    } else if (c == 'N') {
      return "the string has a \\N{...} escape, which is not supported";
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      append_hex(out, next_point(text, at));  // as Python's detour through ASCII leaves it
    } else {
      out += '\\';
      out += c;
      ++at;
    }
  }
  return {};
}

ReadError read_integer(std::string_view text, int base, Int& out) {
  text = strip_left(strip_right(text));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (base != 10 && text.size() > 2 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    if ((base == 2 && letter == 'b') || (base == 8 && letter == 'o') || (base == 16 && letter == 'x')) {
      text.remove_prefix(text[2] == '_' ? 3 : 2);
    }
  }
  if (text.empty() || text[0] == '_' || digits_end(text, 0, base) != text.size()) return ReadError::malformed;
  Int value = 0;
  for (const char c : text) {
    if (c == '_') continue;
    const Int digit = negative ? -digit_value(c) : digit_value(c);
    if (__builtin_mul_overflow(value, static_cast<Int>(base), &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return ReadError::too_large;
    }
  }
  out = value;
  return ReadError::none;
}

bool read_real(std::string_view text, double& out) {
  text = strip_left(strip_right(text));
  std::string plain(text);
  const std::size_t sign = !plain.empty() && (plain[0] == '-' || plain[0] == '+') ? 1 : 0;
  std::string_view body = text.substr(sign);
  const std::string word = lower(body);
  if (word == "inf" || word == "infinity" || word == "nan") {
    out = word == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (plain[0] == '-') out = -out;
    return true;
  }
  std::size_t at = digits_end(body, 0, 10);
  const bool before = at > 0 && body[0] != '_';
  if (!before && at > 0) return false;
  bool after = false;
  if (at < body.size() && body[at] == '.') {
    const std::size_t from = ++at;
    if (at < body.size() && body[at] == '_') return false;
    at = digits_end(body, at, 10);
    after = at > from;
  }
  if (!before && !after) return false;
  if (at < body.size() && (body[at] == 'e' || body[at] == 'E')) {
    ++at;
    if (at < body.size() && (body[at] == '+' || body[at] == '-')) ++at;
    const std::size_t from = at;
    if (at < body.size() && body[at] == '_') return false;
    at = digits_end(body, at, 10);
    if (at == from) return false;
  }
  if (at != body.size()) return false;
  out = to_double(without_underscores(plain));
  return true;
}

std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view shown(buffer, static_cast<std::size_t>(end - buffer));
  std::string sign;
  if (shown[0] == '-') {
    sign = "-";
    shown.remove_prefix(1);
  }
  const std::size_t e = shown.find('e');
  const int exponent = std::atoi(std::string(shown.substr(e + 1)).c_str());
  std::string digits(shown.substr(0, 1));
  if (e > 2) digits += shown.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string text = sign + digits.substr(0, 1);
    if (count > 1) text += "." + digits.substr(1);
    std::snprintf(buffer, sizeof buffer, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return text + buffer;
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  const auto point = static_cast<std::size_t>(exponent + 1);
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

std::string text_repr(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = single ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_point(text, at);
    if (point == static_cast<char32_t>(quote) || point == '\\')
      out += '\\', out += static_cast<char>(point);
    else if (point == '\n')
      out += "\\n";
    else if (point == '\r')
      out += "\\r";
    else if (point == '\t')
      out += "\\t";
    else if (!is_printable(point))
      append_hex(out, point);
    else
      out += text.substr(begin, at - begin);
  }
  return out + quote;
}

}  // namespace fovea::jinja
