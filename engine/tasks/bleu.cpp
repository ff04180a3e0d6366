#include "engine/tasks/bleu.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/jinja/unicode.h"
#include "engine/tasks/python_text.h"

namespace fovea::tasks {
namespace {

constexpr std::size_t orders = 4;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Always a token of its own: ASCII punctuation but ' , - .
bool stands_alone(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_stop(char c) {
  return c == '.' || c == ',';
}

// Each of the three below goes over the text once, from left to right, as a substitution does: what one has
// taken, the next one does not look at.

std::string with_stops_behind_words_apart(std::string_view text) {
  std::string apart;
  for (std::size_t at = 0; at < text.size(); ++at) {
    apart += text[at];
    if (is_digit(text[at]) || at + 1 == text.size() || !is_stop(text[at + 1])) continue;
    apart.append(" ").append(1, text[++at]).append(" ");
  }
  return apart;
}

std::string with_stops_before_words_apart(std::string_view text) {
  std::string apart;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_stop(text[at]) || at + 1 == text.size() || is_digit(text[at + 1])) {
      apart += text[at];
      continue;
    }
    apart.append(" ").append(1, text[at]).append(" ").append(1, text[at + 1]);
    ++at;
  }
  return apart;
}

std::string with_dashes_behind_digits_apart(std::string_view text) {
  std::string apart;
  for (std::size_t at = 0; at < text.size(); ++at) {
    apart += text[at];
    if (!is_digit(text[at]) || at + 1 == text.size() || text[at + 1] != '-') continue;
    apart.append(" - ");
    ++at;
  }
  return apart;
}

std::map<std::vector<std::string>, double> counts_of(const std::vector<std::string>& tokens, std::size_t n) {
  std::map<std::vector<std::string>, double> counts;
  for (std::size_t at = 0; at + n <= tokens.size(); ++at) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    ++counts[{begin, begin + static_cast<std::ptrdiff_t>(n)}];
  }
  return counts;
}

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view text) {
  std::string line = replaced(jinja::strip_right(text), "<skipped>", "");
  for (const auto& [from, to] :
       {std::pair{"-\n", ""}, {"\n", " "}, {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    line = replaced(line, from, to);
  std::string apart = " ";
  for (const char c : line) {
    if (stands_alone(c)) {
      apart.append(" ").append(1, c).append(" ");
    } else {
      apart += c;
    }
  }
  apart = with_stops_behind_words_apart(apart + " ");
  apart = with_dashes_behind_digits_apart(with_stops_before_words_apart(apart));
  const auto words = words_of(apart);
  return {words.begin(), words.end()};
}

std::vector<double> bleu_counts(std::string_view reference, std::string_view translation) {
  const std::vector<std::string> wanted = bleu_tokens(reference), given = bleu_tokens(translation);
  std::vector<double> counts(2 * orders + 2);
  for (std::size_t n = 1; n <= orders; ++n) {
    const auto references = counts_of(wanted, n);
    for (const auto& [gram, count] : counts_of(given, n)) {
      counts[orders + n - 1] += count;
      if (const auto found = references.find(gram); found != references.end())
        counts[n - 1] += std::min(count, found->second);
    }
  }
  counts[2 * orders] = static_cast<double>(given.size());
  counts[2 * orders + 1] = static_cast<double>(wanted.size());
  return counts;
}

double bleu(std::span<const double> sums) {
  const std::span<const double> shared = sums.first(orders), all = sums.subspan(orders, orders);
  const double given = sums[2 * orders], wanted = sums[2 * orders + 1];
  if (std::ranges::all_of(shared, [](double count) { return count == 0; })) return 0;
  double logarithms = 0, halved = 1;
  for (std::size_t n = 0; n < orders; ++n) {
    if (all[n] == 0) return 0;  // no text is that long
    // An order that shares nothing counts as a half, a quarter, … of one n-gram.
    logarithms += std::log(shared[n] > 0 ? shared[n] / all[n] : 1 / ((halved *= 2) * all[n]));
  }
  const double brevity = given < wanted ? std::exp(1 - wanted / given) : 1;
  return 100 * brevity * std::exp(logarithms / orders);
}

}  // namespace fovea::tasks
