#include "engine/chat/thoughts.h"

#include <algorithm>
#include <utility>

namespace fovea::chat {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr auto none = std::string_view::npos;

// A line that begins with the tag which ends thoughts.
std::size_t find_closing_line(std::string_view text) {
  for (std::size_t at = text.find(thoughts_close); at != none; at = text.find(thoughts_close, at + 1)) {
    const std::size_t before = text.find_last_not_of(" \t", at == 0 ? none : at - 1);
    if (at == 0 || before == none || text[before] == '\n') return at;
  }
  return none;
}

std::string_view without_line_breaks(std::string_view text, bool at_end) {
  const std::size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  text.remove_prefix(begin);
  if (at_end) text = text.substr(0, text.find_last_not_of('\n') + 1);
  return text;
}

// How many bytes at the end of the text could be the beginning of the tag.
std::size_t unfinished(std::string_view text, std::string_view tag) {
  for (std::size_t length = std::min(tag.size() - 1, text.size()); length > 0; --length) {
    if (text.ends_with(tag.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::vector<AnswerPart> answer_parts(std::string_view text, bool later) {
  std::vector<AnswerPart> parts;
  const auto take_thoughts = [&] {  // text begins behind the opening tag
    const std::size_t close = text.find(thoughts_close);
    parts.push_back({text.substr(0, close), true, close != none});
    text = close == none ? std::string_view() : text.substr(close + thoughts_close.size());
  };
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  if (text.substr(first).starts_with(thoughts_open)) {
    text.remove_prefix(first + thoughts_open.size());
    take_thoughts();
  } else if (const std::size_t close = find_closing_line(text);
             close != none && text.find(thoughts_open) == none) {
    take_thoughts();
  }
  const std::string again = "\n\n" + std::string(thoughts_open);
  while (later) {
    const std::size_t at = text.find(again);
    if (at == none) break;
    const std::size_t end = at + 2;  // the blank line is the text's
    if (!parts.empty() || at > 0) parts.push_back({text.substr(0, end)});
    text.remove_prefix(at + again.size());
    take_thoughts();
  }
  if (!text.empty()) parts.push_back({text});
  return parts;
}

SplitAnswer split_answer(const std::vector<AnswerPart>& parts) {
  SplitAnswer split;
  const auto add = [](std::string& all, std::string_view more) {
    if (!all.empty() && !more.empty()) all += "\n\n";
    all += more;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].thoughts) {
      add(split.thoughts, without_line_breaks(parts[i].text, true));
    } else {
      add(split.text, i == 0 ? parts[i].text : without_line_breaks(parts[i].text, i + 1 < parts.size()));
    }
  }
  return split;
}

ThoughtTracker::Pieces ThoughtTracker::push(std::string_view more) {
  if (place_ == AnswerPlace::text) return {{}, std::string(more)};
  held_ += more;
  Pieces pieces;
  if (place_ == AnswerPlace::beginning) {
    const std::size_t first = std::min(held_.find_first_not_of(blanks), held_.size());
    const std::string_view begun = std::string_view(held_).substr(first);
    if (begun.size() < thoughts_open.size() && thoughts_open.starts_with(begun)) return pieces;
    if (!begun.starts_with(thoughts_open)) {
      place_ = AnswerPlace::text;
      return {{}, std::exchange(held_, {})};
    }
    place_ = AnswerPlace::thoughts;
    pieces.thoughts = held_.substr(0, first + thoughts_open.size());
    held_.erase(0, pieces.thoughts.size());
  }
  const std::size_t close = held_.find(thoughts_close);
  const std::size_t ready =
      close == none ? held_.size() - unfinished(held_, thoughts_close) : close + thoughts_close.size();
  pieces.thoughts += held_.substr(0, ready);
  held_.erase(0, ready);
  if (close == none) return pieces;
  place_ = AnswerPlace::text;
  pieces.text = std::exchange(held_, {});
  return pieces;
}

ThoughtTracker::Pieces ThoughtTracker::finish() {
  if (place_ == AnswerPlace::thoughts) return {std::exchange(held_, {}), {}};
  return {{}, std::exchange(held_, {})};
}

}  // namespace fovea::chat
