#include "engine/tasks/values.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <optional>

#include "engine/jinja/unicode.h"
#include "engine/tasks/bleu.h"
#include "engine/tasks/python_text.h"
#include "engine/tasks/rouge.h"

namespace fovea::tasks {
namespace {

constexpr std::string_view no_number = "[invalid]";

std::int64_t largest(const std::vector<double>& values) {
  return std::ranges::max_element(values) - values.begin();
}

std::vector<double> truth(bool is_right) {
  return {is_right ? 1.0 : 0.0};
}

bool is_one_of(char c, std::string_view letters) {
  return letters.contains(c);
}

constexpr std::string_view digits = "0123456789";

// The harness' exact_match for GSM8K, which leaves out commas, dollar signs, what leads to "#### ", and a
// final dot.
std::string comparable(std::string_view text) {
  std::string kept = replaced(replaced(text, ",", ""), "$", "");
  if (const std::size_t mark = kept.rfind("#### "); mark != std::string::npos) kept.erase(0, mark + 5);
  if (kept.ends_with('.')) kept.pop_back();
  return jinja::lower(kept);
}

std::string without_punctuation(std::string_view text) {
  std::string kept = jinja::lower(text);
  std::erase_if(kept, [](char c) { return is_one_of(c, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"); });
  return kept;
}

// What stands in the last \boxed{…}; of "\boxed 7" what follows up to a dollar sign. Nothing: there is none.
std::optional<std::string> boxed(std::string_view text) {
  if (const std::size_t open = text.rfind("\\boxed "); open != std::string_view::npos) {
    const std::string_view rest = text.substr(open + 7);
    return std::string(rest.substr(0, rest.find('$')));
  }
  const std::size_t begin = text.rfind("\\boxed{");
  if (begin == std::string_view::npos || begin != text.rfind("\\boxed")) return std::nullopt;
  int depth = 0;
  for (std::size_t at = begin + 6; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) return std::string(text.substr(begin + 7, at - begin - 7));
  }
  return std::nullopt;
}

// Of the harness' rules for formulas those that can lead to a whole number.
std::string plain_number(std::string_view formula) {
  std::string text(formula);
  for (const auto& [from, to] : {std::pair{"\n", ""},
                                 {"\\!", ""},
                                 {"\\\\", "\\"},
                                 {"\\left", ""},
                                 {"\\right", ""},
                                 {"^{\\circ}", ""},
                                 {"^\\circ", ""},
                                 {"\\$", ""}})
    text = replaced(text, from, to);
  if (const std::size_t unit = text.find("\\text{ ");
      unit != std::string::npos && unit == text.rfind("\\text{ "))
    text.erase(unit);
  text = replaced(text, "\\%", "");
  // "k = 7" with a name of at most two letters
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals <= 2 && equals == text.rfind('=')) text.erase(0, equals + 1);
  return replaced(text, " ", "");
}

Values rouge_values(const std::vector<std::string>& references, const std::string& answer) {
  Values best{{"rouge1", {0}}, {"rouge2", {0}}, {"rougeL", {0}}};
  const auto given = rouge_tokens(answer, true);
  const auto raise = [](std::vector<double>& value, double to) { value[0] = std::max(value[0], to); };
  for (const std::string& reference : references) {
    const auto wanted = rouge_tokens(reference, true);
    raise(best["rouge1"], rouge_n(wanted, given, 1));
    raise(best["rouge2"], rouge_n(wanted, given, 2));
    raise(best["rougeL"], rouge_l(wanted, given));
  }
  return best;
}

}  // namespace

Values value_choices(const Json& fields, const Observed& observed) {
  Values values = value_minimal_pair(fields, observed);
  std::vector<double> by_length;  // in characters
  for (std::size_t i = 0; i < observed.choices.size(); ++i)
    by_length.push_back(observed.log_likelihoods[i] /
                        static_cast<double>(jinja::count_points(observed.choices[i])));
  values["acc_norm"] = truth(largest(by_length) == observed.gold);
  return values;
}

Values value_minimal_pair(const Json&, const Observed& observed) {
  return {{"acc", truth(largest(observed.log_likelihoods) == observed.gold)}};
}

Values value_text(const Json& fields, const Observed& observed) {
  const double likelihood = observed.log_likelihoods.front();
  const double bytes = fields["bytes"].get<double>();
  return {{"word_perplexity", {likelihood, fields["words"].get<double>()}},
          {"byte_perplexity", {likelihood, bytes}},
          {"bits_per_byte", {likelihood, bytes}}};
}

std::string strict_number(std::string_view answer) {
  for (std::size_t at = answer.find("#### "); at != std::string_view::npos;
       at = answer.find("#### ", at + 1)) {
    const std::size_t begin = at + 5,
                      unsigned_begin = begin + (answer.substr(begin).starts_with('-') ? 1 : 0);
    const std::size_t end = std::min(answer.find_first_not_of("0123456789.,", unsigned_begin), answer.size());
    if (end > unsigned_begin) return std::string(answer.substr(begin, end - begin));
  }
  return std::string(no_number);
}

std::string flexible_number(std::string_view answer) {
  // (-?[$0-9.,]{2,})|(-?[0-9]+)
  std::string last(no_number);
  for (std::size_t at = 0; at < answer.size();) {
    const std::size_t begin = at + (answer[at] == '-' ? 1 : 0);
    const std::size_t end = std::min(answer.find_first_not_of("$0123456789.,", begin), answer.size());
    const bool one_digit = end == begin + 1 && is_one_of(answer[begin], digits);
    if (end < begin + 2 && !one_digit) {
      ++at;
      continue;
    }
    last = answer.substr(at, end - at);
    at = end;
  }
  return last;
}

Values value_gsm8k(const Json& fields, const Observed& observed) {
  const std::string wanted = comparable(fields["answer"].get_ref<const std::string&>());
  const auto right = [&](const std::string& number) { return truth(comparable(number) == wanted); };
  return {{"exact_match,strict-match", right(strict_number(observed.answer))},
          {"exact_match,flexible-extract", right(flexible_number(observed.answer))}};
}

Values value_mgsm(const Json& fields, const Observed& observed) {
  const std::string wanted = without_punctuation(fields["answer_number"].get_ref<const std::string&>());
  const auto right = [&](std::string_view number) { return truth(without_punctuation(number) == wanted); };
  return {{"exact_match,remove_whitespace", right(strip(observed.answer))},
          {"exact_match,flexible-extract", right(flexible_number(observed.answer))}};
}

bool is_aime_answer(std::string_view answer, std::string_view target) {
  std::string found(answer);
  const std::size_t first = answer.find('$'), last = answer.rfind('$');
  if (first != last) found = answer.substr(first + 1, last - first - 1);
  if (const auto inside = boxed(answer)) found = *inside;
  return plain_number(found) == plain_number(target);
}

Values value_aime(const Json& fields, const Observed& observed) {
  return {{"exact_match",
           truth(is_aime_answer(observed.answer, fields["answer"].get_ref<const std::string&>()))}};
}

Values value_highlights(const Json& fields, const Observed& observed) {
  return rouge_values({fields["highlights"].get<std::string>()}, observed.answer);
}

Values value_summaries(const Json& fields, const Observed& observed) {
  return rouge_values(fields["summaries"].get<std::vector<std::string>>(), observed.answer);
}

Values value_english(const Json& fields, const Observed& observed) {
  return {{"bleu", bleu_counts(fields["en"].get_ref<const std::string&>(), observed.answer)}};
}

Values value_nothing(const Json&, const Observed&) {
  return {};
}

std::size_t values_of(std::string_view metric) {
  if (metric == "bleu") return bleu_sums;
  return metric.ends_with("_perplexity") || metric == "bits_per_byte" ? 2 : 1;
}

double score_of(std::string_view metric, std::span<const double> sums, std::int64_t documents) {
  if (metric == "bleu") return bleu(sums);
  if (metric == "bits_per_byte") return -sums[0] / sums[1] / std::numbers::ln2;
  if (metric.ends_with("_perplexity")) return std::exp(-sums[0] / sums[1]);
  return sums[0] / static_cast<double>(documents);
}

}  // namespace fovea::tasks
