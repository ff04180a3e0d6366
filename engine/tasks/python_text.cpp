#include "engine/tasks/python_text.h"

#include "engine/jinja/unicode.h"

namespace fovea::tasks {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

std::string_view strip(std::string_view text) {
  return jinja::strip_left(jinja::strip_right(text));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    const bool space = jinja::is_space(jinja::next_point(text, at));
    if (inside && space) words.push_back(text.substr(begin, here - begin));
    if (!inside && !space) begin = here;
    inside = !space;
  }
  if (inside) words.push_back(text.substr(begin));
  return words;
}

std::int64_t count_pieces(std::string_view text) {
  const auto words = words_of(text);
  if (words.empty()) return text.empty() ? 1 : 2;
  return std::ssize(words) + (jinja::strip_left(text).size() < text.size()) +
         (jinja::strip_right(text).size() < text.size());
}

std::string tightened(std::string_view text, char open, char close) {
  std::string result;
  while (true) {
    const std::size_t begin = text.find(open);
    const std::size_t end = begin == std::string_view::npos ? begin : text.find(close, begin + 1);
    if (end == std::string_view::npos) return result.append(text);
    result.append(text.substr(0, begin + 1)).append(strip(text.substr(begin + 1, end - begin - 1)));
    result += close;
    text.remove_prefix(end + 1);
  }
}

std::string without_marks(std::string_view text) {
  std::string rest = replaced(strip(text), " [title]", ". ");
  std::string kept;
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t open = rest.find('[', at);
    const std::size_t close = open == std::string::npos ? open : rest.find(']', open);
    if (close == std::string::npos) {
      kept.append(rest, at);
      break;
    }
    kept.append(rest, at, open - at);
    at = close + 1;
  }
  return replaced(kept, "  ", " ");
}

}  // namespace fovea::tasks
