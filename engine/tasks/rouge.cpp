#include "engine/tasks/rouge.h"

#include <algorithm>
#include <map>

#include "engine/jinja/unicode.h"
#include "engine/tasks/porter_stemmer.h"

namespace fovea::tasks {
namespace {

double f_measure(std::size_t shared, std::size_t reference, std::size_t text) {
  if (shared == 0) return 0;
  const double recall = static_cast<double>(shared) / static_cast<double>(reference);
  const double precision = static_cast<double>(shared) / static_cast<double>(text);
  return 2 * precision * recall / (precision + recall);
}

std::map<std::vector<std::string>, std::size_t> n_grams(const std::vector<std::string>& tokens,
                                                        std::size_t n) {
  std::map<std::vector<std::string>, std::size_t> counts;
  for (auto at = tokens.begin(); tokens.end() - at >= static_cast<std::ptrdiff_t>(n); ++at)
    ++counts[{at, at + static_cast<std::ptrdiff_t>(n)}];
  return counts;
}

}  // namespace

std::vector<std::string> rouge_tokens(std::string_view text, bool stemmed) {
  std::vector<std::string> tokens;
  std::string token;
  const auto end_token = [&] {
    if (!token.empty()) tokens.push_back(stemmed && token.size() > 3 ? stem(token) : token);
    token.clear();
  };
  for (const char c : jinja::lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      token += c;
    } else {
      end_token();
    }
  }
  end_token();
  return tokens;
}

double rouge_n(const std::vector<std::string>& reference, const std::vector<std::string>& text,
               std::size_t n) {
  if (reference.size() < n || text.size() < n) return 0;
  std::size_t shared = 0;
  const auto found = n_grams(text, n);
  for (const auto& [gram, count] : n_grams(reference, n)) {
    if (const auto at = found.find(gram); at != found.end()) shared += std::min(count, at->second);
  }
  return f_measure(shared, reference.size() - n + 1, text.size() - n + 1);
}

double rouge_l(const std::vector<std::string>& reference, const std::vector<std::string>& text) {
  // The longest common subsequence of the reference so far and each beginning of the text.
  std::vector<std::size_t> longest(text.size() + 1);
  for (const std::string& token : reference) {
    std::size_t before = 0;  // longest[j] of the reference's tokens before this one
    for (std::size_t j = 0; j < text.size(); ++j) {
      const std::size_t with_token = before + 1;
      before = longest[j + 1];
      longest[j + 1] = text[j] == token ? with_token : std::max(longest[j + 1], longest[j]);
    }
  }
  return f_measure(longest.back(), reference.size(), text.size());
}

}  // namespace fovea::tasks
