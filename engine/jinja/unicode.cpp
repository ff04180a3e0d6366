#include "engine/jinja/unicode.h"

#include <algorithm>
#include <iterator>
#include <utf8proc.h>

namespace fovea::jinja {
namespace {

struct SpecialCase {
  char32_t point;
  const char* upper;
  const char* title;
};

constexpr SpecialCase special_cases[] = {
#include "engine/jinja/case_table.inc"
};

const SpecialCase* special_case(char32_t point) {
  if (point < special_cases[0].point) return nullptr;
  const auto* found = std::lower_bound(std::begin(special_cases), std::end(special_cases), point,
                                       [](const SpecialCase& c, char32_t p) { return c.point < p; });
  return found != std::end(special_cases) && found->point == point ? found : nullptr;
}

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

void append_upper(std::string& out, char32_t point) {
  if (const SpecialCase* special = special_case(point))
    out += special->upper;
  else
    append_point(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(point))));
}

void append_title(std::string& out, char32_t point) {
  if (const SpecialCase* special = special_case(point))
    out += special->title;
  else
    append_point(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(point))));
}

bool is_line_break(char32_t p) {
  return (p >= 10 && p <= 13) || (p >= 28 && p <= 30) || p == 0x85 || p == 0x2028 || p == 0x2029;
}

bool is_cased(char32_t p) {
  const auto c = category(p);
  return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT || p == 0xAA ||
         p == 0xBA || (p >= 0x2B0 && p <= 0x2B8);
}

bool case_ignorable(char32_t point) {
  switch (category(point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return point == '\'' || point == '.' || point == ':' || point == 0xB7 || point == 0x2019;
  }
}

// A capital sigma at the end of a word has its own small letter.
bool final_sigma(std::string_view text, std::size_t begin, std::size_t end) {
  bool before = false;
  for (std::size_t at = begin; at > 0;) {
    at = previous_start(text, at);
    std::size_t copy = at;
    const char32_t point = next_point(text, copy);
    if (case_ignorable(point)) continue;
    before = is_cased(point);
    break;
  }
  if (!before) return false;
  while (end < text.size()) {
    const char32_t point = next_point(text, end);
    if (!case_ignorable(point)) return !is_cased(point);
  }
  return true;
}

void append_lower(std::string& out, std::string_view text, std::size_t begin, std::size_t end,
                  char32_t point) {
  if (point == 0x130)
    out += "i\u0307";
  else if (point == 0x3A3)
    append_point(out, final_sigma(text, begin, end) ? 0x3C2 : 0x3C3);
  else
    append_point(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
}

}  // namespace

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t point = 0;
    const auto read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    if (read <= 0) return false;
    at += static_cast<std::size_t>(read);
  }
  return true;
}

std::int64_t count_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); });
}

char32_t next_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    ++at;
    return first;
  }
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t point = first & (0xFFU >> (bytes + 1));
  const std::size_t end = std::min(text.size(), at + bytes);
  for (++at; at < end; ++at) point = (point << 6) | (static_cast<unsigned char>(text[at]) & 0x3FU);
  return point;
}

std::size_t previous_start(std::string_view text, std::size_t at) {
  do {
    --at;
  } while (at > 0 && is_continuation(text[at]));
  return at;
}

std::size_t byte_offset(std::string_view text, std::int64_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) {
    ++at;
    while (at < text.size() && is_continuation(text[at])) ++at;
  }
  return at;
}

void append_point(std::string& out, char32_t point) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

bool is_space(char32_t p) {
  return (p >= 9 && p <= 13) || (p >= 28 && p <= 32) || p == 0x85 || p == 0xA0 || p == 0x1680 ||
         (p >= 0x2000 && p <= 0x200A) || p == 0x2028 || p == 0x2029 || p == 0x202F || p == 0x205F ||
         p == 0x3000;
}

bool is_printable(char32_t p) {
  if (p == ' ') return true;
  switch (category(p)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

std::string_view strip_left(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    if (!is_space(next_point(text, next))) break;
    at = next;
  }
  return text.substr(at);
}

std::string_view strip_right(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::size_t start = previous_start(text, end);
    std::size_t copy = start;
    if (!is_space(next_point(text, copy))) break;
    end = start;
  }
  return text.substr(0, end);
}

std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t point = next_point(text, at);
    if (!is_line_break(point)) continue;
    if (point == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append_upper(out, next_point(text, at));
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_point(text, at);
    append_lower(out, text, begin, at, point);
  }
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_point(text, at);
    if (begin == 0)
      append_title(out, point);
    else
      append_lower(out, text, begin, at, point);
  }
  return out;
}

std::string title(std::string_view text) {
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_point(text, at);
    if (inside)
      append_lower(out, text, begin, at, point);
    else
      append_title(out, point);
    inside = is_cased(point);
  }
  return out;
}

}  // namespace fovea::jinja
