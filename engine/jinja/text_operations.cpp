#include "engine/jinja/text_operations.h"

#include <algorithm>
#include <set>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {

std::string_view strip_characters(Interpreter& in, std::string_view text, std::string_view characters,
                                  bool left, bool right) {
  in.run.work(characters.size() * 8 + text.size());
  std::set<char32_t> set;
  for (std::size_t at = 0; at < characters.size();) set.insert(next_point(characters, at));
  std::size_t begin = 0;
  while (left && begin < text.size()) {
    std::size_t next = begin;
    if (!set.contains(next_point(text, next))) break;
    begin = next;
  }
  std::size_t end = text.size();
  while (right && end > begin) {
    const std::size_t start = previous_start(text, end);
    std::size_t copy = start;
    if (!set.contains(next_point(text, copy))) break;
    end = start;
  }
  return text.substr(begin, end - begin);
}

std::vector<std::string_view> split_space(std::string_view text, Int most) {
  std::vector<std::string_view> parts;
  text = strip_left(text);
  while (!text.empty()) {
    if (most >= 0 && static_cast<Int>(parts.size()) == most) {
      parts.push_back(text);
      break;
    }
    std::size_t end = 0;
    while (end < text.size()) {
      std::size_t next = end;
      if (is_space(next_point(text, next))) break;
      end = next;
    }
    parts.push_back(text.substr(0, end));
    text = strip_left(text.substr(end));
  }
  return parts;
}

std::vector<std::string_view> split_space_right(std::string_view text, Int most) {
  std::vector<std::string_view> parts;
  text = strip_right(text);
  while (!text.empty()) {
    if (most >= 0 && static_cast<Int>(parts.size()) == most) {
      parts.push_back(text);
      break;
    }
    std::size_t begin = text.size();
    while (begin > 0) {
      const std::size_t start = previous_start(text, begin);
      std::size_t copy = start;
      if (is_space(next_point(text, copy))) break;
      begin = start;
    }
    parts.push_back(text.substr(begin));
    text = strip_right(text.substr(0, begin));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, Int most) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while (most < 0 || static_cast<Int>(parts.size()) < most) {
    const std::size_t found = text.find(separator, at);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

std::vector<std::string_view> split_at_right(std::string_view text, std::string_view separator, Int most) {
  std::vector<std::string_view> parts;
  while (text.size() >= separator.size() && (most < 0 || static_cast<Int>(parts.size()) < most)) {
    const std::size_t found = text.rfind(separator);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(found + separator.size()));
    text = text.substr(0, found);
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
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

std::string replace_text(Interpreter& in, std::string_view text, std::string_view from, std::string_view to,
                         Int most) {
  std::string out;
  std::size_t at = 0;
  in.run.work(text.size());
  for (Int done = 0; most < 0 || done < most; ++done) {
    if (from.empty()) {
      out += to;
      if (at >= text.size()) return out;
      const std::size_t begin = at;
      next_point(text, at);
      out += text.substr(begin, at - begin);
    } else {
      const std::size_t found = text.find(from, at);
      if (found == std::string_view::npos) break;
      out += text.substr(at, found - at);
      out += to;
      at = found + from.size();
    }
    in.run.check_size(out.size());
  }
  out += text.substr(at);
  return out;
}

std::string justified(Interpreter& in, std::string_view text, Int width, std::string_view fill, char align) {
  const Int length = count_points(text);
  if (width <= length) return std::string(text);
  in.run.check_size(width, fill.size());
  const Int missing = width - length;
  in.run.work(static_cast<std::size_t>(missing));
  // Python puts the odd space of an even text to the right, of an odd width to the left.
  const Int left = align == '<' ? 0 : align == '>' ? missing : missing / 2 + (missing & width & 1);
  std::string out;
  for (Int i = 0; i < left; ++i) out += fill;
  out += text;
  for (Int i = left; i < missing; ++i) out += fill;
  return out;
}

Value text_list(Interpreter& in, const std::vector<std::string_view>& parts, bool markup) {
  std::vector<Value> items;
  in.run.check_size(parts.size(), sizeof(Value) + sizeof(Text));
  items.reserve(parts.size());
  in.run.step(static_cast<std::int64_t>(parts.size()));
  for (const std::string_view part : parts) items.push_back(in.run.text(std::string(part), markup));
  return in.run.list(std::move(items));
}

}  // namespace fovea::jinja
