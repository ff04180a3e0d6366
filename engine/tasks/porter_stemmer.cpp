#include "engine/tasks/porter_stemmer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace fovea::tasks {
namespace {

bool is_consonant(std::string_view word, std::size_t at) {
  bool consonant = true;
  for (std::size_t i = 0; i <= at; ++i) {
    const char c = word[i];
    // A y is one at the beginning and behind a vowel.
    consonant = c == 'y' ? i == 0 || !consonant : !std::string_view("aeiou").contains(c);
  }
  return consonant;
}

// How often a consonant follows a vowel: the m of the paper's [C](VC){m}[V].
int measure(std::string_view stem) {
  int count = 0;
  for (std::size_t i = 1; i < stem.size(); ++i)
    count += is_consonant(stem, i) && !is_consonant(stem, i - 1) ? 1 : 0;
  return count;
}

bool contains_vowel(std::string_view stem) {
  for (std::size_t i = 0; i < stem.size(); ++i)
    if (!is_consonant(stem, i)) return true;
  return false;
}

bool ends_double_consonant(std::string_view word) {
  const std::size_t size = word.size();
  return size >= 2 && word[size - 1] == word[size - 2] && is_consonant(word, size - 1);
}

// The paper's *o: consonant, vowel, consonant, the last none of w, x and y; NLTK's also a vowel and a
// consonant alone.
bool ends_short(std::string_view word) {
  const std::size_t size = word.size();
  if (size < 2 || is_consonant(word, size - 2) || !is_consonant(word, size - 1)) return false;
  if (size == 2) return true;
  return is_consonant(word, size - 3) && !std::string_view("wxy").contains(word[size - 1]);
}

struct Rule {
  std::string_view suffix, replacement;
};

// The first rule whose suffix the word has, if what stands before it measures more than `least`.
std::string apply(std::string word, std::span<const Rule> rules, int least) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const std::string_view rest = std::string_view(word).substr(0, word.size() - rule.suffix.size());
    if (measure(rest) <= least) return word;
    // An s or t must stand before "ion".
    if (rule.suffix == "ion" && !rest.ends_with('s') && !rest.ends_with('t')) return word;
    return std::string(rest).append(rule.replacement);
  }
  return word;
}

std::string without(const std::string& word, std::size_t letters, std::string_view instead = {}) {
  return word.substr(0, word.size() - letters).append(instead);
}

std::string plural(const std::string& word) {  // step 1a
  if (word.ends_with("ies")) return without(word, word.size() == 4 ? 1 : 2);
  if (word.ends_with("sses")) return without(word, 2);
  return word.ends_with("s") && !word.ends_with("ss") ? without(word, 1) : word;
}

std::string past(const std::string& word) {  // step 1b
  if (word.ends_with("ied")) return without(word, word.size() == 4 ? 1 : 2);
  if (word.ends_with("eed"))
    return measure(std::string_view(word).substr(0, word.size() - 3)) > 0 ? without(word, 1) : word;
  const std::size_t letters = word.ends_with("ed") ? 2 : word.ends_with("ing") ? 3 : 0;
  if (letters == 0) return word;
  std::string rest = without(word, letters);
  if (!contains_vowel(rest)) return word;
  if (rest.ends_with("at") || rest.ends_with("bl") || rest.ends_with("iz")) return rest + "e";
  if (ends_double_consonant(rest))
    return std::string_view("lsz").contains(rest.back()) ? rest : without(rest, 1);
  return measure(rest) == 1 && ends_short(rest) ? rest + "e" : rest;
}

std::string final_y(const std::string& word) {  // step 1c
  const bool changes = word.size() > 2 && word.ends_with('y') && is_consonant(word, word.size() - 2);
  return changes ? without(word, 1, "i") : word;
}

std::string derived(std::string word) {  // step 2
  static constexpr Rule rules[] = {
      {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
      {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
      {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
      {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
      {"fulli", "ful"}};
  if (word.ends_with("alli") && measure(std::string_view(word).substr(0, word.size() - 4)) > 0)
    return derived(without(word, 2));
  if (word.ends_with("logi"))  // the l counts to what stands before
    return measure(std::string_view(word).substr(0, word.size() - 3)) > 0 ? without(word, 1) : word;
  return apply(std::move(word), rules, 0);
}

std::string adjectives(std::string word) {  // step 3
  static constexpr Rule rules[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                   {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
  return apply(std::move(word), rules, 0);
}

std::string endings(std::string word) {  // step 4
  static constexpr Rule rules[] = {{"al", ""},   {"ance", ""}, {"ence", ""}, {"er", ""},    {"ic", ""},
                                   {"able", ""}, {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
                                   {"ent", ""},  {"ion", ""},  {"ou", ""},   {"ism", ""},   {"ate", ""},
                                   {"iti", ""},  {"ous", ""},  {"ive", ""},  {"ize", ""}};
  return apply(std::move(word), rules, 1);
}

std::string tidied(std::string word) {  // step 5
  if (word.ends_with('e')) {
    const std::string rest = without(word, 1);
    const int m = measure(rest);
    if (m > 1 || (m == 1 && !ends_short(rest))) word = rest;
  }
  return word.ends_with("ll") && measure(without(word, 1)) > 1 ? without(word, 1) : word;
}

constexpr std::pair<std::string_view, std::string_view> irregular[] = {
    {"skies", "sky"},      {"sky", "sky"},         {"dying", "die"},        {"lying", "lie"},
    {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
    {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
    {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};

}  // namespace

std::string stem(std::string_view word) {
  const auto* const known =
      std::ranges::find(irregular, word, &std::pair<std::string_view, std::string_view>::first);
  if (known != std::end(irregular)) return std::string(known->second);
  if (word.size() <= 2) return std::string(word);
  return tidied(endings(adjectives(derived(final_y(past(plural(std::string(word))))))));
}

}  // namespace fovea::tasks
