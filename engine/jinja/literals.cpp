#include "engine/jinja/literals.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "engine/core/result.h"
#include "engine/jinja/errors.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Where digits with single underscores between them end.
std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_digit(text[at]))
      ++at;
    else if (text[at] == '_' && at + 1 < text.size() && is_digit(text[at + 1]))
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

double to_double(const std::string& digits) {
  return std::strtod(digits.c_str(), nullptr);
}

void append_hex(std::string& out, char32_t point) {
  char buffer[16];
  const char* format = point > 0xFFFF ? "\\U%08x" : point > 0xFF ? "\\u%04x" : "\\x%02x";
  std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(point));
  out += buffer;
}

// \xhh, \uhhhh, \Uhhhhhhhh; `at` is behind the letter.
Result<void> hex_escape(std::string_view text, std::size_t& at, std::size_t digits, std::string& out) {
  std::size_t end = at;
  while (end < text.size() && end < at + digits && is_hex_digit(text[end])) ++end;
  if (end != at + digits) return fail(errors::jinja_short_escape());
  std::uint32_t point = 0;
  std::from_chars(text.data() + at, text.data() + end, point, 16);
  if (point > 0x10FFFF) return fail(errors::jinja_escape_beyond());
  if (point >= 0xD800 && point < 0xE000) return fail(errors::jinja_half_pair());
  append_point(out, static_cast<char32_t>(point));
  at = end;
  return {};
}

}  // namespace

Result<NumberLiteral> read_number(std::string_view text, bool after_dot) {
  const auto digit = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  const auto letter = [&](std::size_t i) {
    return i < text.size() ? static_cast<char>(text[i] | 0x20) : '\0';
  };
  const auto after_digits = [&](std::size_t i) {
    while (digit(i)) ++i;
    return i;
  };
  NumberLiteral literal;
  std::size_t end = after_digits(0);
  bool real = false;
  if (!after_dot && end < text.size() && text[end] == '.' && digit(end + 1)) {
    end = after_digits(end + 1);
    real = true;
  }
  if (!after_dot && letter(end) == 'e') {
    const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 1 : 0;
    if (digit(end + 1 + sign)) {
      end = after_digits(end + 1 + sign);
      real = true;
    }
  }
  const char next = letter(end);
  const bool other_base = end == 1 && text[0] == '0' && (next == 'x' || next == 'o' || next == 'b');
  if (other_base || (end < text.size() && text[end] == '_' && digit(end + 1))) {
    while (++end < text.size() && (is_hex_digit(text[end]) || text[end] == '_')) {
    }
    return fail(errors::jinja_left_out(phrases::jinja_literal(text.substr(0, end))));
  }
  if (real) {
    literal.size = end;
    literal.value = Value::real(to_double(std::string(text.substr(0, end))));
    return literal;
  }
  // A zero before other digits is a number of its own.
  literal.size = text[0] == '0' ? std::min(text.find_first_not_of('0'), text.size()) : end;
  Int value = 0;
  if (read_integer(text.substr(0, literal.size), value) != ReadError::none)
    return fail(errors::jinja_large_literal());
  literal.value = Value::integer(value);
  return literal;
}

Result<std::string> unescape(std::string_view text) {
  static constexpr std::string_view letters = "\\'\"abfnrtv\n";
  static constexpr std::string_view means = "\\'\"\a\b\f\n\r\t\v";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (++at >= text.size()) return fail(errors::jinja_backslash());
    const char c = text[at];
    if (const std::size_t found = letters.find(c); found != std::string_view::npos) {
      if (found < means.size()) out += means[found];
      ++at;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at;
      FOVEA_CHECK(hex_escape(text, at, c == 'x' ? 2 : c == 'u' ? 4 : 8, out));
    } else if ((c >= '0' && c <= '7') || c == 'N') {
      return fail(errors::jinja_left_out(phrases::jinja_escape(std::string(1, c))));
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      append_hex(out, next_point(text, at));  // as Python's detour through ASCII leaves it
    } else {
      out += '\\';
      out += c;
      ++at;
    }
  }
  return out;
}

ReadError read_integer(std::string_view text, Int& out) {
  text = strip_left(strip_right(text));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] == '_' || digits_end(text, 0) != text.size()) return ReadError::malformed;
  Int value = 0;
  for (const char c : text) {
    if (c == '_') continue;
    const Int digit = negative ? '0' - c : c - '0';
    if (__builtin_mul_overflow(value, Int{10}, &value) || __builtin_add_overflow(value, digit, &value)) {
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
  std::size_t at = digits_end(body, 0);
  const bool before = at > 0 && body[0] != '_';
  if (!before && at > 0) return false;
  bool after = false;
  if (at < body.size() && body[at] == '.') {
    const std::size_t from = ++at;
    if (at < body.size() && body[at] == '_') return false;
    at = digits_end(body, at);
    after = at > from;
  }
  if (!before && !after) return false;
  if (at < body.size() && (body[at] == 'e' || body[at] == 'E')) {
    ++at;
    if (at < body.size() && (body[at] == '+' || body[at] == '-')) ++at;
    const std::size_t from = at;
    if (at < body.size() && body[at] == '_') return false;
    at = digits_end(body, at);
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
