#include "engine/text/pretokenize.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "engine/core/result.h"
#include "engine/text/bert.h"
#include "engine/text/character_class.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

struct Part {
  std::size_t begin, end;
  bool matched;
};

using Search = std::optional<Regex::Search>;  // of an expression

void find(const Expression& expression, Search& search, std::string_view text, std::vector<Match>& matches) {
  if (!search) search.emplace(expression.regex);
  search->find_all(text, matches);
}

void find(const Literal& literal, Search&, std::string_view text, std::vector<Match>& matches) {
  if (literal.text.empty()) return;
  for (std::size_t at = text.find(literal.text); at != text.npos;
       at = text.find(literal.text, at + literal.text.size())) {
    matches.push_back({at, at + literal.text.size()});
  }
}

void find(const CharacterTest& test, Search&, std::string_view text, std::vector<Match>& matches) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  for (const char* at = begin; at < end;) {
    const char* const start = at;
    if (!test.matches(next_code_point(at))) continue;
    const Match match{static_cast<std::size_t>(start - begin), static_cast<std::size_t>(at - begin)};
    if (test.runs && !matches.empty() && matches.back().end == match.begin) {
      matches.back().end = match.end;
    } else {
      matches.push_back(match);
    }
  }
}

void find(const Scan& scan, Search&, std::string_view text, std::vector<Match>& matches) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  for (const char* at = begin; at < end;) {
    const char* const next = next_word(scan.pattern, at, end);
    matches.push_back({static_cast<std::size_t>(at - begin), static_cast<std::size_t>(next - begin)});
    at = next;
  }
}

// Matches and what lies between them, in order.
void to_parts(const std::vector<Match>& matches, std::size_t size, bool invert, std::vector<Part>& parts) {
  std::size_t at = 0;
  for (const Match& match : matches) {
    if (match.begin > at) parts.push_back({at, match.begin, invert});
    parts.push_back({match.begin, match.end, !invert});
    at = match.end;
  }
  if (at < size) parts.push_back({at, size, invert});
}

void merge(SplitBehavior behavior, std::vector<Part>& parts) {
  std::vector<Part> merged;
  merged.reserve(parts.size());
  switch (behavior) {
    case SplitBehavior::isolated:
      return;
    case SplitBehavior::removed:
      std::erase_if(parts, [](const Part& part) { return part.matched; });
      return;
    case SplitBehavior::contiguous:
      for (const Part& part : parts) {
        if (!merged.empty() && merged.back().matched == part.matched) {
          merged.back().end = part.end;
        } else {
          merged.push_back(part);
        }
      }
      break;
    case SplitBehavior::merged_with_previous: {
      bool previous = false;
      for (const Part& part : parts) {
        if (part.matched && !previous && !merged.empty()) {
          merged.back().end = part.end;
        } else {
          merged.push_back(part);
        }
        previous = part.matched;
      }
      break;
    }
    case SplitBehavior::merged_with_next: {
      bool next = false;
      for (const Part& part : parts | std::views::reverse) {
        if (part.matched && !next && !merged.empty()) {
          merged.back().begin = part.begin;
        } else {
          merged.push_back(part);
        }
        next = part.matched;
      }
      std::ranges::reverse(merged);
      break;
    }
  }
  parts = std::move(merged);
}

void run(const SplitStep& step, Words& words) {
  std::vector<Word> out;
  std::vector<Match> matches;
  std::vector<Part> parts;
  Search search;
  const bool plain = step.behavior == SplitBehavior::isolated && std::holds_alternative<Scan>(step.pattern);
  for (const Word& word : words.list) {
    matches.clear();
    std::visit([&](const auto& pattern) { find(pattern, search, word.text, matches); }, step.pattern);
    if (plain) {  // a scanner leaves no gaps
      for (const Match& match : matches)
        out.push_back(
            {word.text.substr(match.begin, match.end - match.begin), word.at_start && match.begin == 0});
      continue;
    }
    parts.clear();
    to_parts(matches, word.text.size(), step.invert, parts);
    merge(step.behavior, parts);
    for (const Part& part : parts)
      if (part.end > part.begin)
        out.push_back(
            {word.text.substr(part.begin, part.end - part.begin), word.at_start && part.begin == 0});
  }
  words.list = std::move(out);
}

void run(const MetaspaceStep& step, Words& words) {
  std::vector<Word> out;
  for (const Word& word : words.list) {
    std::string text;
    text.reserve(word.text.size() + word.text.size() / 2);
    for (const char c : word.text) {
      if (c == ' ') {
        text += step.replacement;
      } else {
        text += c;
      }
    }
    const bool prepend = step.prepend == MetaspaceStep::Prepend::always ||
                         (step.prepend == MetaspaceStep::Prepend::first && word.at_start);
    if (prepend && (step.before_blanks || !text.starts_with(step.replacement)))
      text.insert(0, step.replacement);
    const std::string_view whole = words.changed.emplace_back(std::move(text));
    if (!step.split) {
      out.push_back({whole, word.at_start});
      continue;
    }
    std::size_t begin = 0;
    while (begin < whole.size()) {
      const std::size_t skip =
          whole.substr(begin).starts_with(step.replacement) ? step.replacement.size() : 0;
      const std::size_t next = std::min(whole.find(step.replacement, begin + skip), whole.size());
      out.push_back({whole.substr(begin, next - begin), word.at_start && begin == 0});
      begin = next;
    }
  }
  words.list = std::move(out);
}

void run(const PrefixSpaceStep&, Words& words) {
  for (Word& word : words.list) {
    if (!word.text.starts_with(' ')) word.text = words.changed.emplace_back(" " + std::string(word.text));
  }
}

void run(const FixedLengthStep& step, Words& words) {
  std::vector<Word> out;
  for (const Word& word : words.list) {
    const char* const begin = word.text.data();
    const char* const end = begin + word.text.size();
    for (const char* at = begin; at < end;) {
      const char* const start = at;
      for (std::size_t i = 0; i < step.characters && at < end; ++i) next_code_point(at);
      out.push_back({std::string_view(start, at), word.at_start && start == begin});
    }
  }
  words.list = std::move(out);
}

}  // namespace

void apply(const PretokenizeStep& step, Words& words) {
  std::visit([&](const auto& chosen) { run(chosen, words); }, step);
}

void add_bert_words(std::vector<PretokenizeStep>& steps) {
  steps.emplace_back(
      SplitStep{.pattern = CharacterTest{is_space, false}, .behavior = SplitBehavior::removed});
  steps.emplace_back(
      SplitStep{.pattern = CharacterTest{is_bert_punctuation, false}, .behavior = SplitBehavior::isolated});
}

Result<SplitStep> split_by(std::string_view expression, const Phrase& where) {
  if (const auto pattern = known_pattern(expression)) return SplitStep{.pattern = Scan{*pattern}};
  FOVEA_TRY(Regex regex, Regex::compile(expression, where));
  return SplitStep{.pattern = Expression{std::move(regex)}};
}

}  // namespace fovea::text
