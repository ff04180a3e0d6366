#include "app/history/query.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>

#include "app/history/word_tokenizer.h"

namespace fovea::app::history {
namespace {

constexpr std::size_t kMaxWords = 32;
constexpr std::size_t kMaxMatches = 256;    // looked at in one text
constexpr std::size_t kMaxBytes = 1 << 20;  // of one text
constexpr std::size_t kSnippetBytes = 160;
constexpr std::size_t kBefore = 32;  // bytes shown before the first match

struct Match {
  std::size_t phrase, start, end;
};

class Words final : public WordSink {
 public:
  explicit Words(std::size_t limit) : limit_(limit) {}
  bool word(std::string_view folded, std::size_t, std::size_t) override {
    words.emplace_back(folded);
    return words.size() < limit_;
  }
  std::vector<std::string> words;

 private:
  std::size_t limit_;
};

class Finder final : public WordSink {
 public:
  explicit Finder(const Query& query) : query_(query) {
    for (const auto& phrase : query.phrases) longest_ = std::max(longest_, phrase.size());
  }

  bool word(std::string_view folded, std::size_t start, std::size_t end) override {
    last_.push_back({std::string(folded), start, end});
    if (last_.size() > longest_) last_.pop_front();
    for (std::size_t p = 0; p < query_.phrases.size(); ++p) {
      if (ends_with(p)) matches.push_back({p, last_[last_.size() - query_.phrases[p].size()].start, end});
    }
    return matches.size() < kMaxMatches;
  }

  std::vector<Match> matches;

 private:
  struct Word {
    std::string folded;
    std::size_t start, end;
  };

  bool ends_with(std::size_t p) const {
    const auto& phrase = query_.phrases[p];
    if (last_.size() < phrase.size()) return false;
    const std::size_t first = last_.size() - phrase.size();
    for (std::size_t i = 0; i < phrase.size(); ++i) {
      const std::string& word = last_[first + i].folded;
      const bool beginning = query_.open_end && p + 1 == query_.phrases.size() && i + 1 == phrase.size();
      if (beginning ? !word.starts_with(phrase[i]) : word != phrase[i]) return false;
    }
    return true;
  }

  const Query& query_;
  std::size_t longest_ = 0;
  std::deque<Word> last_;
};

std::vector<Match> matches_in(std::string_view text, const Query& query) {
  Finder finder(query);
  walk_words(text.substr(0, kMaxBytes), finder);
  std::ranges::sort(finder.matches, {}, &Match::start);
  return std::move(finder.matches);
}

std::size_t at_character(std::string_view text, std::size_t at) {
  // No character has more than three such bytes; what is not UTF-8 may have any number.
  for (int i = 0; i < 3 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; ++i)
    ++at;
  return std::min(at, text.size());
}

// The match from which on the most phrases occur within a snippet.
std::size_t best_start(const std::vector<Match>& matches) {
  std::size_t best = 0, most = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    std::uint64_t seen = 0;  // at most 32 phrases
    for (std::size_t k = i; k < matches.size() && matches[k].end <= matches[i].start + kSnippetBytes; ++k) {
      seen |= std::uint64_t{1} << matches[k].phrase;
    }
    const auto count = static_cast<std::size_t>(std::popcount(seen));
    if (count > most) {
      most = count;
      best = matches[i].start;
    }
  }
  return best;
}

// Ranges inside [from, to), moved by `shift`; overlapping ones are joined.
std::vector<TextRange> ranges_of(const std::vector<Match>& matches, std::size_t from, std::size_t to,
                                 std::size_t shift) {
  std::vector<TextRange> ranges;
  std::size_t covered = 0;
  for (const Match& match : matches) {
    if (match.start < from || match.end > to || match.end <= covered) continue;
    const std::size_t start = std::max(match.start, covered);
    ranges.push_back(
        {static_cast<std::int32_t>(start - from + shift), static_cast<std::int32_t>(match.end - start)});
    covered = match.end;
  }
  return ranges;
}

}  // namespace

std::string Query::match_expression() const {
  std::string text;
  for (const auto& phrase : phrases) {
    text += text.empty() ? "\"" : " \"";
    for (const std::string& word : phrase) text += word + ' ';
    text.back() = '"';
  }
  if (open_end && !text.empty()) text += '*';
  return text;
}

Query parse_query(std::string_view typed) {
  Query query;
  std::size_t words = 0;
  constexpr std::string_view white = " \t\r\n\v\f";
  query.open_end = typed.empty() || white.find(typed.back()) == std::string_view::npos;
  while (words < kMaxWords) {
    const auto start = typed.find_first_not_of(white);
    if (start == std::string_view::npos) break;
    const auto end = std::min(typed.find_first_of(white, start), typed.size());
    Words found(kMaxWords - words);
    walk_words(typed.substr(start, end - start), found);
    words += found.words.size();
    if (!found.words.empty()) query.phrases.push_back(std::move(found.words));
    typed.remove_prefix(end);
  }
  return query;
}

Snippet make_snippet(std::string_view text, const Query& query) {
  const auto matches = matches_in(text, query);
  const std::size_t anchor = matches.empty() ? 0 : best_start(matches);
  std::size_t from = 0;
  if (anchor > kBefore) {
    from = at_character(text, anchor - kBefore);
    const auto space = text.find_first_of(" \n", from);
    if (space < anchor) from = space + 1;
  }
  const std::size_t to = at_character(text, std::min(anchor + kSnippetBytes, text.size()));
  Snippet snippet;
  if (from > 0) snippet.text = "…";
  snippet.matches = ranges_of(matches, from, to, snippet.text.size());
  for (const char c : text.substr(from, to - from)) {
    snippet.text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  if (to < text.size()) snippet.text += "…";
  return snippet;
}

std::vector<TextRange> find_matches(std::string_view text, const Query& query) {
  return ranges_of(matches_in(text, query), 0, text.size(), 0);
}

}  // namespace fovea::app::history
